# What the library found, as an object of class owl, on the scale of the mean over rows.
make_fit <- function(answer, problem, call, arguments) {
  size <- problem$size
  p <- ncol(problem$x)
  stated <- answer[c("setting", "alpha", "status", "primal", "dual", "gap", "rounding", "best", "one_se", "gamma",
                     "penalized_intercept", "relaxed_intercept", "sigma")]
  stated$setting$weighted <- !is.null(problem$options$observation_weights)
  stated$setting$shifted <- !is.null(problem$options$offset)
  fit <- c(
    coefficient_fields(answer, p, colnames(problem$x)),
    list(
      alpha = answer$alpha / size,
      dev.ratio = answer$explained,
      nulldev = answer$null_deviance,
      certificate = certificate_table(answer, size),
      criteria = criteria_table(answer),
      weights = arguments$weights,
      family = problem$family,
      classnames = class_names(stated$setting),
      nobs = nrow(problem$x),
      size = size,
      dim = c(p, length(answer$alpha)),
      scale = answer$scale,
      alpha_max = answer$alpha_max / size,
      sigma = if (!anyNA(answer$sigma)) answer$sigma,
      sigma_status = if (!anyNA(answer$sigma)) answer$sigma_status,
      screened = answer$screened,
      epochs = answer$epochs,
      stopped_by = answer$stopped_by,
      wanted = answer$wanted,
      passes = answer$passes,
      call = call,
      arguments = arguments,
      stated = stated
    )
  )
  structure(fit, class = "owl")
}

# The coefficients: beta (p x strengths, sparse) and a0, the cluster of each entry of beta (0: not penalised), and both ends of
# relaxed ones.
coefficient_fields <- function(answer, p, names) {
  parts <- answer$coefficients
  k <- length(answer$alpha)
  beta <- methods::new("dgCMatrix", i = as.integer(parts$i), p = as.integer(parts$p), x = parts$x, Dim = c(as.integer(p), k),
                       Dimnames = list(names, paste0("s", seq_len(k) - 1)))
  cluster <- as.integer(parts$cluster) + 1L
  list(
    a0 = stats::setNames(answer$intercept, colnames(beta)),
    beta = beta,
    df = diff(beta@p),
    clusters = vapply(split(cluster, column_of(beta)), function(numbers) length(unique(numbers[numbers > 0])), 0L, USE.NAMES = FALSE),
    cluster = cluster,
    relaxed = if (!anyNA(answer$gamma)) list(gamma = answer$gamma[1], penalized = parts$penalized, relaxed = parts$relaxed)
  )
}

# For each entry of a sparse matrix its column, with all columns as levels.
column_of <- function(beta) factor(rep(seq_len(ncol(beta)), diff(beta@p)), levels = seq_len(ncol(beta)))

certificate_table <- function(answer, size) {
  list2DF(list(
    alpha = answer$alpha / size,
    objective = answer$primal / size,
    bound = answer$dual / size,
    gap = answer$gap / size,
    rounding = answer$rounding / size,
    relative_gap = proved_gap(answer$primal, answer$gap, answer$rounding),
    status = answer$status
  ))
}

# How far the objective is above the optimum at most, with what the gap may be off by in floating point, as a share of itself.
proved_gap <- function(objective, gap, rounding) {
  most <- pmax(gap, 0) + rounding
  ifelse(objective > 0, most / objective, most)
}

criteria_table <- function(answer) {
  if (is.null(answer$criteria)) return(NULL)
  list2DF(answer$criteria)
}

class_names <- function(setting) {
  if (length(setting$labels) > 0) setting$labels else if (length(setting$classes) > 0) as.character(setting$classes)
}

advice <- c(
  epoch_limit = "max_iter was reached. Raise it, or tol; standardize = TRUE often needs fewer iterations.",
  time_limit = "max_seconds was reached. Raise it, or tol.",
  stalled = "rounding errors allow no more. Raise tol; columns of very different size may need standardize = TRUE.",
  interrupted = "it was interrupted."
)

noise_advice <- c(
  cycle = "its supports come again. sigma is the largest among them, which selects the least.",
  limit = "the limit of time or rounds was reached. Raise max_seconds.",
  too_many_selected = "the columns selected leave no degrees of freedom.",
  no_noise = "least squares on the columns selected leaves no residual."
)

# What is not as it was asked for: one warning of each kind.
warn_of <- function(fit, what) {
  table <- fit$certificate
  open <- which(table$status != "converged")
  if (length(open) > 0) {
    worst <- open[which.max(table$relative_gap[open])]
    warning(sprintf("%s: the relative duality gap is %.2g, tol is %.2g: %s", what, table$relative_gap[worst],
                    fit$stated$setting$options$tolerance, advice[[table$status[worst]]]), call. = FALSE)
  } else if (fit$stopped_by == "max_seconds") {
    warning(sprintf("%s: %d of %d alphas were fitted: %s", what, length(fit$alpha), as.integer(fit$wanted), advice[["time_limit"]]), call. = FALSE)
  }
  if (!is.null(fit$sigma_status) && fit$sigma_status[1] %in% names(noise_advice)) {
    warning(sprintf("%s: the estimate of the noise did not settle: %s Give a number as sigma where it is known.", what,
                    noise_advice[[fit$sigma_status[1]]]), call. = FALSE)
  }
}

# The model of a fit as the library takes it.
as_model <- function(fit, steps = seq_along(fit$alpha)) {
  stated <- fit$stated
  fields <- setdiff(names(stated), "setting")
  model <- lapply(stated[fields], function(values) values[steps])
  model$setting <- stated$setting
  model$intercept <- unname(fit$a0)[steps]
  entries <- unlist(lapply(steps, function(k) seq_len(diff(fit$beta@p)[k]) + fit$beta@p[k]))
  names <- rownames(fit$beta)[fit$beta@i[entries] + 1]
  model$coefficients <- list(
    i = as.double(fit$beta@i[entries]), x = fit$beta@x[entries], p = as.double(cumsum(c(0, diff(fit$beta@p)[steps]))),
    cluster = as.double(fit$cluster[entries]) - 1, penalized = as.double(fit$relaxed$penalized[entries]),
    relaxed = as.double(fit$relaxed$relaxed[entries]), names = if (is.null(names)) character() else names
  )
  model
}
