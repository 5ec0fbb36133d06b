verify <- function(object, ...) UseMethod("verify")

verify.owl <- function(object, x, y, sample_weight = NULL, offset = NULL, ...) {
  if (is_opened(x)) {
    if (missing(y)) y <- response_of_data(x)
    sample_weight <- first_of(sample_weight, x$sample_weight)
    offset <- first_of(offset, x$offset)
  }
  data <- data_of(object, x, y)
  given <- list(observation_weights = check_weights_of_rows(sample_weight, nrow(data$x)), offset = check_rows("offset", offset, nrow(data$x)))
  if (length(object$stated$setting$labels) > 0) given$labels <- object$stated$setting$labels
  found <- call_library(.Call(tyto_verify, data$x, data$y, given, as_model(object)))
  data.frame(
    alpha = object$alpha, objective = found$objective / object$size, gap = found$gap / object$size,
    relative_gap = proved_gap(found$objective, found$gap, 0), holds = found$holds == 1, reason = found$reason
  )
}

verify.cv_owl <- function(object, ...) verify(object$fit, ...)

# x and y as the fit took them: y in its classes, x with its columns.
data_of <- function(object, x, y) {
  if (!is.null(object$layout) && is.data.frame(x)) {
    if (missing(y)) want("y", "the response, a vector", "none")
    x <- new_design(object, x)
  }
  x <- as_design(x)
  if (ncol(x) != object$dim[1]) want("x", sprintf("%d columns", object$dim[1]), ncol(x))
  y <- if (length(object$stated$setting$labels) > 0) encode_as(object$stated$setting$labels, y) else encoded_response(y, object$family)$y
  check_shape(x, length(y))
  list(x = x, y = y)
}

# Classes as 0 and 1 where they are known already.
encode_as <- function(labels, y) {
  if (anyNA(y)) stop(sprintf("y: want no missing values, got NA in row %d", which(is.na(y))[1]), call. = FALSE)
  found <- match(as.character(y), labels)
  if (anyNA(found)) want("y", paste("one of", paste(sprintf('"%s"', labels), collapse = ", ")), as.character(y)[is.na(found)][1])
  as.double(found) - 1
}

certificate <- function(object, ...) UseMethod("certificate")

certificate.owl <- function(object, s = NULL, ...) {
  if (is.null(s)) object$certificate else object$certificate[fitted_step(object, s), , drop = FALSE]
}

certificate.cv_owl <- function(object, s = "alpha.best", ...) certificate(object$fit, chosen_alpha(object, s))

# What the certificates say, in a sentence.
certificate_sentence <- function(object) {
  table <- object$certificate
  worst <- max(table$relative_gap)
  done <- table$status == "converged"
  tolerance <- object$stated$setting$options$tolerance
  if (all(done)) {
    sprintf("Certified: the objective is above the optimum by at most %.2g of itself%s (asked for: %.2g).", worst,
            if (nrow(table) > 1) " at every alpha" else "", tolerance)
  } else {
    sprintf("Not converged at %d of %d alphas: the relative gap is up to %.2g (asked for: %.2g).", sum(!done), nrow(table), worst, tolerance)
  }
}

write_model <- function(object, file, s = NULL) {
  if (inherits(object, "cv_owl")) {
    s <- chosen_alpha(object, if (is.null(s)) "alpha.best" else s)
    object <- object$fit
  }
  if (!inherits(object, "owl")) want("object", "what owl() or cv_owl() found", class(object))
  steps <- if (is.null(s)) seq_along(object$alpha) else fitted_step(object, s)
  one <- length(steps) == 1
  call_library(.Call(tyto_write, as_model(object, steps), path.expand(check_word("file", file)), one))
  invisible(object)
}

read_model <- function(file) {
  answer <- call_library(.Call(tyto_read, path.expand(check_word("file", file))))
  setting <- answer$setting
  # The names of the columns that are in no model are not known.
  names <- NULL
  if (any(nzchar(answer$names))) {
    names <- paste0("V", seq_len(setting$p))
    names[answer$coefficients$i + 1] <- answer$names
  }
  size <- setting$n
  options <- setting$options
  shape <- if (length(setting$weight_values) > 0) setting$weight_values else options$weights
  fit <- c(coefficient_fields(answer, setting$p, names), list(
    alpha = answer$alpha / size, dev.ratio = rep(NA_real_, length(answer$alpha)), nulldev = NA_real_,
    certificate = certificate_table(answer, size), criteria = NULL, weights = shape, family = options$loss,
    classnames = class_names(setting), nobs = setting$n, size = size, dim = c(setting$p, length(answer$alpha)), scale = NULL,
    alpha_max = NA_real_, sigma = if (!anyNA(answer$sigma)) answer$sigma, stopped_by = "none", wanted = length(answer$alpha),
    chosen = if (any(answer$best == 1)) c(alpha.best = which(answer$best == 1), alpha.1se = which(answer$one_se == 1)),
    call = sys.call(), arguments = NULL,
    stated = answer[c("setting", "alpha", "status", "primal", "dual", "gap", "rounding", "best", "one_se", "gamma",
                      "penalized_intercept", "relaxed_intercept", "sigma")]
  ))
  structure(fit, class = "owl")
}
