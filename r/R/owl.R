owl <- function(x, ...) UseMethod("owl")

owl.default <- function(x, y, weights = "bh", q = 0.1, slope = 1, alpha = NULL, nalpha = 100, alpha_min_ratio = NULL,
                        relative = FALSE, family = "gaussian", intercept = TRUE, standardize = TRUE, sample_weight = NULL,
                        offset = NULL, unpenalized = NULL, ridge = 0, positive = FALSE, gamma = 1, sigma = NULL,
                        huber_delta = 1.35, tol = 1e-6, max_explained = NULL, min_change = NULL, max_nonzeros = NULL,
                        max_clusters = NULL, max_iter = 1e6, max_seconds = Inf, solver = "auto", screening = "safe",
                        threads = getOption("tyto.threads", 1), seed = NULL, ...) {
  refuse_others(...)
  call <- match.call()
  call[[1]] <- quote(owl)
  arguments <- list(weights = weights, q = q, slope = slope, alpha = alpha, nalpha = nalpha, alpha_min_ratio = alpha_min_ratio,
                    relative = relative, family = family, intercept = intercept, standardize = standardize,
                    unpenalized = unpenalized, ridge = ridge, positive = positive, gamma = gamma, sigma = sigma,
                    huber_delta = huber_delta, tol = tol, max_explained = max_explained, min_change = min_change,
                    max_nonzeros = max_nonzeros, max_clusters = max_clusters, max_iter = max_iter, max_seconds = max_seconds,
                    solver = solver, screening = screening, threads = threads, seed = seed)
  problem <- make_problem(x, y, arguments, sample_weight, offset)
  strengths <- strength_options(arguments, problem)
  options <- c(problem$options, strengths$options, relax_options(gamma), list(seed = drawn_seed(seed, solver)))
  answer <- call_library(.Call(tyto_estimate, strengths$task, problem$x, problem$y, options))
  fit <- make_fit(answer, problem, call, arguments)
  warn_of(fit, "owl")
  fit
}

owl.data.frame <- function(x, y, ...) {
  call <- match.call()
  call[[1]] <- quote(owl)
  frame <- stats::model.frame(~ ., x, na.action = stats::na.fail)
  fit_frame(owl.default, frame, y, call, ...)
}

owl.formula <- function(formula, data = NULL, subset, na.action = stats::na.omit, ...) {
  call <- match.call()
  call[[1]] <- quote(owl)
  frame <- formula_frame(match.call(expand.dots = FALSE), parent.frame())
  fit_frame(owl.default, frame, stats::model.response(frame), call, ...)
}

# The model frame that a call with a formula asks for.
formula_frame <- function(call, environment) {
  call <- call[c(1, match(c("formula", "data", "subset", "na.action"), names(call), 0))]
  call[[1]] <- quote(stats::model.frame)
  call$drop.unused.levels <- TRUE
  frame <- eval(call, environment)
  if (is.null(stats::model.response(frame))) stop("formula: want a response on the left of ~", call. = FALSE)
  frame
}

# Fits to the columns that the terms of a frame make.
fit_frame <- function(fitter, frame, y, call, ..., intercept = NULL) {
  terms <- attr(frame, "terms")
  if (is.null(intercept)) intercept <- attr(terms, "intercept") == 1
  made <- design_of_frame(terms, frame)
  fit <- fitter(made$x, y, ..., intercept = intercept)
  fit$call <- call
  layout <- list(terms = stats::delete.response(terms), xlevels = stats::.getXlevels(terms, frame), contrasts = made$contrasts)
  if (inherits(fit, "cv_owl")) fit$fit$layout <- layout else fit$layout <- layout
  fit
}

# Columns of numbers as they are; factors as sparse columns of 0 and 1. The intercept is not among them.
design_of_frame <- function(terms, frame, contrasts = NULL) {
  attr(terms, "intercept") <- 1  # so that factors are coded alike with and without an intercept
  words <- vapply(frame, function(column) is.factor(column) || is.character(column), TRUE)
  if (any(words)) {
    x <- Matrix::sparse.model.matrix(terms, frame, contrasts.arg = contrasts)
  } else {
    x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  }
  coding <- attr(x, "contrasts")
  list(x = x[, colnames(x) != "(Intercept)", drop = FALSE], contrasts = coding)
}

# Data and options as the library takes them.
make_problem <- function(x, y, arguments, sample_weight, offset) {
  x <- as_design(x)
  family <- family_name(arguments$family)
  response <- encoded_response(y, family)
  check_shape(x, length(response$y))
  rows <- check_weights_of_rows(sample_weight, nrow(x))
  size <- if (is.null(rows)) nrow(x) else sum(rows)
  arguments$family <- family
  options <- c(shape_options(arguments$weights), table_options(arguments[setdiff(names(arguments), "weights")], size))
  options$unpenalized <- check_columns(arguments$unpenalized, x)
  options$observation_weights <- rows
  options$offset <- check_rows("offset", offset, nrow(x))
  options$labels <- response$labels
  if (!is.null(arguments$threads)) options$threads <- check_threads(arguments$threads)
  list(x = x, y = response$y, family = family, size = as.double(size), options = options)
}

# One strength, the level of the noise, or a grid.
strength_options <- function(arguments, problem) {
  alpha <- arguments$alpha
  relative <- check_flag("relative", arguments$relative)
  sigma <- sigma_option(arguments$sigma)
  if (is.null(alpha) && !is.null(sigma)) return(list(task = "fit", options = list(sigma = sigma)))
  if (!is.null(sigma) && is.character(sigma)) want("sigma", "a number beside alpha, for the criterion Cp", sigma)
  if (is.null(alpha)) return(list(task = "path", options = NULL))
  alpha <- sort(unique(check_numbers("alpha", alpha, "(0, inf)")), decreasing = TRUE)
  if (length(alpha) == 1) {
    unit <- if (relative) "alpha-max" else "absolute"
    return(list(task = "fit", options = list(relative_to = unit, strength = if (relative) alpha else alpha * problem$size)))
  }
  unit <- problem$size
  if (relative) unit <- call_library(.Call(tyto_alpha_max, problem$x, problem$y, problem$options))
  list(task = "path", options = list(alphas = alpha * unit, sigma = sigma))
}

sigma_option <- function(sigma) {
  if (is.null(sigma) || identical(sigma, "estimate")) return(sigma)
  if (is.character(sigma)) want("sigma", 'a number > 0 or "estimate"', sigma)
  check_number("sigma", sigma, "(0, inf)")
}

# 1 is the fit itself.
relax_options <- function(gamma) {
  gamma <- check_number("gamma", gamma, "[0, 1]")
  if (gamma == 1) NULL else list(gamma = gamma)
}

# From R's random numbers, so that set.seed() governs it; they are left alone where nothing is random.
drawn_seed <- function(seed, solver = "spgd") {
  if (!is.null(seed)) return(check_whole("seed", seed, "[0, inf)"))
  if (identical(solver, "spgd")) as.double(sample.int(.Machine$integer.max, 1)) else NULL
}
