print.owl <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", paste(deparse(x$call, nlines = 3), collapse = "\n"), "\n\n", sep = "")
  table <- data.frame(Df = x$df, Clusters = x$clusters, "%Dev" = round(100 * x$dev.ratio, 2), Alpha = signif(x$alpha, digits),
                      Gap = signif(x$certificate$relative_gap, 2), check.names = FALSE)
  if (nrow(table) > 20) {
    print(utils::head(table, 10))
    cat(sprintf("... %d more ...\n", nrow(table) - 15))
    print(utils::tail(table, 5))
  } else {
    print(table)
  }
  cat("\n", certificate_sentence(x), "\n", sep = "")
  invisible(x)
}

summary.owl <- function(object, s = NULL, ...) {
  alpha <- one_alpha(object, s)
  step <- nearest_step(object, alpha)
  structure(list(call = object$call, family = object$family, nobs = object$nobs, p = object$dim[1], alpha = object$alpha[step],
                 a0 = unname(object$a0[step]), df = object$df[step], dev.ratio = object$dev.ratio[step],
                 clusters = clusters(object, object$alpha[step]), certificate = object$certificate[step, , drop = FALSE],
                 sentence = certificate_sentence(object)), class = "summary.owl")
}

print.summary.owl <- function(x, digits = max(3, getOption("digits") - 3), most = 20, ...) {
  cat("\nCall: ", paste(deparse(x$call, nlines = 3), collapse = "\n"), "\n\n", sep = "")
  cat(sprintf("%s, %d rows, %d columns; alpha %s: %d coefficients in %d clusters, %s of the deviance explained, intercept %s\n\n",
              x$family, x$nobs, x$p, format(x$alpha, digits = digits), x$df, length(unique(x$clusters$cluster)),
              if (is.na(x$dev.ratio)) "unknown part" else sprintf("%.1f %%", 100 * x$dev.ratio), format(x$a0, digits = digits)))
  found <- x$clusters
  for (number in utils::head(unique(found$cluster), most)) {
    rows <- found[found$cluster == number, ]
    cat(sprintf("cluster %d (%d): %s\n", number, nrow(rows), paste(utils::head(rows$term, 12), collapse = ", ")),
        if (nrow(rows) > 12) sprintf("   and %d more\n", nrow(rows) - 12), sep = "")
  }
  cat("\n", x$sentence, "\n", sep = "")
  invisible(x)
}

# The alphas that `s` names: numbers, or the words of a cross-validation. NULL: all.
chosen_alpha <- function(object, s) {
  if (is.null(s) || is.numeric(s)) return(s)
  word <- c(alpha.best = "alpha.best", lambda.min = "alpha.best", alpha.1se = "alpha.1se", lambda.1se = "alpha.1se")[s]
  if (!is.character(s) || anyNA(word)) want("s", 'numbers, "alpha.best" or "alpha.1se"', s)
  if (inherits(object, "cv_owl")) return(unname(unlist(object[word])))
  if (is.null(object$chosen)) want("s", "numbers, as nothing was chosen by cross-validation", s)
  object$alpha[object$chosen[word]]
}

check_s <- function(s) if (is.null(s)) NULL else check_numbers("s", s, "[0, inf)")

# The place of an alpha that was fitted.
fitted_step <- function(object, s) {
  alpha <- check_s(chosen_alpha(object, s))
  vapply(alpha, function(value) {
    step <- nearest_step(object, value)
    if (abs(object$alpha[step] - value) > 1e-6 * value) {
      stop(sprintf("s: want an alpha that was fitted; the nearest to %g is %g", value, object$alpha[step]), call. = FALSE)
    }
    step
  }, 0L)
}

nearest_step <- function(object, alpha) which.min(abs(log(object$alpha) - log(alpha)))

# One of them: the chosen one, or the smallest.
one_alpha <- function(object, s) {
  s <- check_s(chosen_alpha(object, s))
  if (is.null(s)) return(if (is.null(object$chosen)) min(object$alpha) else object$alpha[object$chosen["alpha.best"]])
  if (length(s) != 1) want("s", "one alpha", s)
  s
}

# Coefficients and intercepts at alphas between those that were fitted are interpolated linearly; beyond them they are the
# last ones.
at_alphas <- function(object, s) {
  if (is.null(s)) return(list(beta = object$beta, a0 = object$a0, alpha = object$alpha))
  grid <- object$alpha
  if (length(grid) == 1) {
    left <- right <- rep(1L, length(s))
    share <- rep(0, length(s))
  } else {
    s_inside <- pmin(pmax(s, min(grid)), max(grid))
    left <- pmin(findInterval(-s_inside, -grid), length(grid) - 1L)
    right <- left + 1L
    share <- (grid[left] - s_inside) / (grid[left] - grid[right])
  }
  mix <- function(values_left, values_right) values_left * (1 - share) + values_right * share
  beta <- object$beta[, left, drop = FALSE] %*% Matrix::Diagonal(x = 1 - share) + object$beta[, right, drop = FALSE] %*% Matrix::Diagonal(x = share)
  exact <- which(share == 0 | share == 1)
  for (k in exact) beta[, k] <- object$beta[, if (share[k] == 0) left[k] else right[k]]
  beta <- Matrix::drop0(methods::as(beta, "CsparseMatrix"))
  colnames(beta) <- paste0("s", seq_along(s))
  list(beta = beta, a0 = stats::setNames(mix(object$a0[left], object$a0[right]), colnames(beta)), alpha = s)
}

# Fits at these alphas with the settings of the object.
fit_at <- function(object, s, x, y, ...) {
  if (is.null(object$arguments)) stop("exact: want a fit of owl(): a model from a file does not say how it was fitted", call. = FALSE)
  arguments <- object$arguments
  arguments$alpha <- s
  arguments$relative <- FALSE
  do.call(owl.default, c(list(x = x, y = y), arguments, list(...)))
}

coef.owl <- function(object, s = NULL, exact = FALSE, x = NULL, y = NULL, ...) {
  found <- models_at(object, s, exact, x, y, ...)
  names <- rownames(found$beta)
  if (is.null(names)) names <- paste0("V", seq_len(nrow(found$beta)))
  coefficients <- rbind(Matrix::Matrix(found$a0, nrow = 1, sparse = TRUE), found$beta)
  dimnames(coefficients) <- list(c("(Intercept)", names), colnames(found$beta))
  methods::as(coefficients, "CsparseMatrix")
}

models_at <- function(object, s, exact, x, y, ...) {
  s <- check_s(chosen_alpha(object, s))
  if (!exact || is.null(s) || all(s %in% object$alpha)) return(at_alphas(object, s))
  if (is.null(x) || is.null(y)) stop("exact: want the data, as x = and y =, to fit at these alphas", call. = FALSE)
  refit <- fit_at(object, s, x, y, ...)
  found <- at_alphas(refit, sort(s, decreasing = TRUE))
  order <- match(s, found$alpha)
  list(beta = found$beta[, order, drop = FALSE], a0 = found$a0[order], alpha = s)
}

coef.cv_owl <- function(object, s = "alpha.best", ...) coef(object$fit, s = chosen_alpha(object, s), ...)

predict.owl <- function(object, newx = NULL, s = NULL, type = c("response", "link", "coefficients", "nonzero", "class"),
                        newdata = NULL, newoffset = NULL, exact = FALSE, x = NULL, y = NULL, ...) {
  type <- match.arg(type)
  if (type == "coefficients") return(coef(object, s, exact, x, y, ...))
  found <- models_at(object, s, exact, x, y, ...)
  if (type == "nonzero") return(lapply(seq_len(ncol(found$beta)), function(k) which(found$beta[, k] != 0)))
  predictor <- linear_predictor(object, found, if (is.null(newx)) newdata else newx, newoffset)
  switch(type, link = predictor, response = mean_of(object$family, predictor), class = class_of(object, predictor))
}

predict.cv_owl <- function(object, newx = NULL, s = "alpha.best", ...) {
  predict(object$fit, newx, s = chosen_alpha(object, s), ...)
}

linear_predictor <- function(object, found, newx, offset) {
  if (is.null(newx)) stop("newx: want rows to predict, as newx = or newdata =", call. = FALSE)
  newx <- new_design(object, newx)
  used <- which(Matrix::rowSums(found$beta != 0) > 0)
  if (is_opened(newx)) offset <- first_of(offset, newx$offset)
  if (is_opened(newx)) product <- opened_product(newx, used, found$beta[used, , drop = FALSE]) else product <- array_product(newx, used, found$beta)
  product <- sweep(product, 2, found$a0, "+")
  if (object$stated$setting$shifted && is.null(offset)) stop("newoffset: want the offset of these rows, as the fit had one", call. = FALSE)
  offset <- check_rows("newoffset", offset, nrow(newx))
  if (!is.null(offset)) product <- product + offset
  dimnames(product) <- list(rownames(newx), colnames(found$beta))
  product
}

array_product <- function(newx, used, beta) {
  if (anyNA(if (methods::is(newx, "sparseMatrix")) newx@x else newx[, used])) want("newx", "no missing values", NA)
  part <- newx[, used, drop = FALSE]
  if (is.raw(part)) storage.mode(part) <- "double"
  as.matrix(part %*% beta[used, , drop = FALSE])
}

# New rows with the columns of the fit: by name where both have names, else by place.
new_design <- function(object, newx) {
  if (!is.null(object$layout) && is.data.frame(newx)) {
    frame <- stats::model.frame(object$layout$terms, newx, xlev = object$layout$xlevels, na.action = stats::na.pass)
    newx <- design_of_frame(object$layout$terms, frame, object$layout$contrasts)$x
  }
  if (is.numeric(newx) && is.null(dim(newx)) && length(newx) == object$dim[1]) newx <- matrix(newx, 1, dimnames = list(NULL, names(newx)))
  newx <- as_design(newx, "newx")
  names <- rownames(object$beta)
  if (!is.null(names) && !is.null(colnames(newx)) && !identical(colnames(newx), names)) {
    used <- which(Matrix::rowSums(object$beta != 0) > 0)
    missing <- setdiff(names[used], colnames(newx))
    if (length(missing) > 0) want("newx", sprintf("a column '%s'", missing[1]), "none")
    at <- match(names, colnames(newx))
    at[is.na(at)] <- 1  # a column without a coefficient
    if (is_opened(newx)) {
      newx$places <- at
      return(newx)
    }
    return(newx[, at, drop = FALSE])
  }
  if (ncol(newx) != object$dim[1]) want("newx", sprintf("%d columns", object$dim[1]), ncol(newx))
  newx
}

class_of <- function(object, predictor) {
  if (is.null(object$classnames)) want("type", "a family of classes for \"class\"", object$family)
  array(object$classnames[1 + (predictor > 0)], dim(predictor), dimnames(predictor))
}

# The place of one alpha, for what exists at those that were fitted only.
steps_at <- function(object, s) if (is.null(s)) seq_along(object$alpha) else fitted_step(object, s)

deviance.owl <- function(object, s = NULL, ...) (object$nulldev * (1 - object$dev.ratio))[steps_at(object, s)]
deviance.cv_owl <- function(object, s = "alpha.best", ...) deviance(object$fit, chosen_alpha(object, s))

logLik.owl <- function(object, s = NULL, ...) {
  if (is.null(object$criteria)) stop("logLik: a model from a file does not keep it", call. = FALSE)
  step <- fitted_step(object, if (is.null(s)) min(object$alpha) else s)
  row <- object$criteria[step, ]
  structure((2 * row$df - row$aic) / 2, df = row$df, nobs = object$size, class = "logLik")
}
logLik.cv_owl <- function(object, s = "alpha.best", ...) logLik(object$fit, chosen_alpha(object, s))

AIC.owl <- function(object, ..., k = 2) criteria_of(object)$aic + (k - 2) * criteria_of(object)$df
BIC.owl <- function(object, ...) criteria_of(object)$bic
criteria_of <- function(object) {
  if (is.null(object$criteria)) stop("criteria: a model from a file does not keep them", call. = FALSE)
  object$criteria
}

nobs.owl <- function(object, ...) object$nobs
nobs.cv_owl <- function(object, ...) object$fit$nobs
family.owl <- function(object, ...) object$family
family.cv_owl <- function(object, ...) object$fit$family
formula.owl <- function(x, ...) {
  if (is.null(x$call$formula)) stop("formula: this fit was not made with one", call. = FALSE)
  stats::formula(eval(x$call$formula))
}

# The data of a fit is not kept: it is what the call names, unless it is given.
fitted.owl <- function(object, x = NULL, s = NULL, offset = NULL, ...) {
  if (is.null(x)) x <- named_in_call(object, c("x", "data"), parent.frame())
  predict(object, x, s = s, newoffset = offset, type = "response")
}
fitted.cv_owl <- function(object, x = NULL, s = "alpha.best", ...) {
  if (is.null(x)) x <- named_in_call(object, c("x", "data"), parent.frame())
  fitted(object$fit, x, s = chosen_alpha(object, s), ...)
}

residuals.owl <- function(object, x = NULL, y = NULL, s = NULL, offset = NULL, ...) {
  environment <- parent.frame()
  if (is.null(x)) x <- named_in_call(object, c("x", "data"), environment)
  if (is.null(y)) y <- if (is_opened(x)) response_of_data(x) else response_in_call(object, environment)
  labels <- object$stated$setting$labels
  y <- if (length(labels) > 0) encode_as(labels, y) else encoded_response(y, object$family)$y
  y - predict(object, x, s = s, newoffset = offset, type = "response")
}
residuals.cv_owl <- function(object, x = NULL, y = NULL, s = "alpha.best", ...) {
  environment <- parent.frame()
  if (is.null(x)) x <- named_in_call(object, c("x", "data"), environment)
  if (is.null(y)) y <- if (is_opened(x)) response_of_data(x) else response_in_call(object, environment)
  residuals(object$fit, x, y, s = chosen_alpha(object, s), ...)
}

named_in_call <- function(object, names, environment) {
  name <- intersect(names, names(object$call))
  found <- if (length(name) > 0) tryCatch(eval(object$call[[name[1]]], environment), error = function(error) NULL)
  if (is.null(found)) stop("x: want the data that was fitted, which is not where the call names it", call. = FALSE)
  found
}

response_in_call <- function(object, environment) {
  if (!is.null(object$call$formula)) {
    data <- named_in_call(object, "data", environment)
    return(eval(stats::formula(eval(object$call$formula, environment))[[2]], data, environment))
  }
  named_in_call(object, "y", environment)
}

clusters <- function(object, ...) UseMethod("clusters")

# The members of each cluster at one alpha that was fitted: the largest magnitude first.
clusters.owl <- function(object, s = NULL, x = NULL, ...) {
  step <- fitted_step(object, if (is.null(s)) one_alpha(object, NULL) else s)
  if (length(step) != 1) want("s", "one alpha", s)
  entries <- seq_len(diff(object$beta@p)[step]) + object$beta@p[step]
  column <- object$beta@i[entries] + 1L
  table <- data.frame(cluster = object$cluster[entries], column = column, term = terms_of(object, column), coefficient = object$beta@x[entries])
  table <- table[table$cluster > 0, ]
  table$size <- as.integer(table(factor(table$cluster, seq_len(max(0, table$cluster))))[table$cluster])
  table <- table[order(table$cluster, table$column), ]
  rownames(table) <- NULL
  if (!is.null(x)) table$correlation <- mean_correlation(table, as_design(x))
  table
}
clusters.cv_owl <- function(object, s = "alpha.best", x = NULL, ...) clusters(object$fit, chosen_alpha(object, s), x = x)

terms_of <- function(object, column) {
  names <- rownames(object$beta)
  if (is.null(names)) paste0("V", column) else names[column]
}

# The mean |r| over the pairs of a cluster; NA for a cluster of one. A mean below 0.5: a tie by coincidence.
mean_correlation <- function(table, x) {
  found <- rep(NA_real_, nrow(table))
  for (number in unique(table$cluster[table$size > 1])) {
    rows <- which(table$cluster == number)
    columns <- table$column[rows]
    if (length(columns) > 500) columns <- columns[round(seq(1, length(columns), length.out = 500))]
    r <- suppressWarnings(abs(stats::cor(columns_of(x, columns))))
    found[rows] <- mean(r[upper.tri(r)])
  }
  found
}
