cv_owl <- function(x, ...) UseMethod("cv_owl")

cv_owl.default <- function(x, y, weights = "bh", q = 0.1, slope = 1, gamma = 1, nfolds = 10, foldid = NULL, repeats = 1,
                           error = "auto", alpha = NULL, nalpha = 100, alpha_min_ratio = NULL, relative = FALSE,
                           family = "gaussian", intercept = TRUE, standardize = TRUE, sample_weight = NULL, offset = NULL,
                           unpenalized = NULL, ridge = 0, positive = FALSE, huber_delta = 1.35, tol = 1e-6,
                           max_explained = NULL, min_change = NULL, max_nonzeros = NULL, max_clusters = NULL, max_iter = 1e6,
                           max_seconds = Inf, solver = "auto", screening = "safe", threads = getOption("tyto.threads", 1),
                           seed = NULL, ...) {
  refuse_others(...)
  call <- match.call()
  call[[1]] <- quote(cv_owl)
  arguments <- list(weights = weights, q = q[1], slope = slope[1], alpha = alpha, nalpha = nalpha, alpha_min_ratio = alpha_min_ratio,
                    relative = relative, family = family, intercept = intercept, standardize = standardize,
                    unpenalized = unpenalized, ridge = ridge, positive = positive, huber_delta = huber_delta, tol = tol,
                    max_explained = max_explained, min_change = min_change, max_nonzeros = max_nonzeros,
                    max_clusters = max_clusters, max_iter = max_iter, max_seconds = max_seconds, solver = solver,
                    screening = screening, threads = threads, seed = seed)
  problem <- make_problem(x, y, arguments, sample_weight, offset)
  options <- c(cv_shapes(problem$options, q, slope, gamma), grid_of(arguments, problem), fold_options(nfolds, foldid, repeats, error, problem))
  options$seed <- drawn_seed(seed)
  answer <- call_library(.Call(tyto_estimate, "cv", problem$x, problem$y, options))
  make_cv(answer, problem, call, arguments, foldid)
}

cv_owl.data.frame <- function(x, y, ...) {
  call <- match.call()
  call[[1]] <- quote(cv_owl)
  fit_frame(cv_owl.default, stats::model.frame(~ ., x, na.action = stats::na.fail), y, call, ...)
}

cv_owl.formula <- function(formula, data = NULL, subset, na.action = stats::na.omit, ...) {
  call <- match.call()
  call[[1]] <- quote(cv_owl)
  frame <- formula_frame(match.call(expand.dots = FALSE), parent.frame())
  fit_frame(cv_owl.default, frame, stats::model.response(frame), call, ...)
}

# q, slope and gamma may have several values, of which the best is chosen.
cv_shapes <- function(options, q, slope, gamma) {
  options[c("q", "slope")] <- NULL
  if (options$weights %in% c("bh", "gaussian")) options$q <- check_numbers("q", q, "(0, 1]")
  if (options$weights == "oscar") options$slope <- check_numbers("slope", slope, "[0, inf)")
  gamma <- check_numbers("gamma", gamma, "[0, 1]")
  if (!identical(as.numeric(gamma), 1)) options$gamma <- gamma
  options
}

grid_of <- function(arguments, problem) {
  if (is.null(arguments$alpha)) return(NULL)
  unit <- problem$size
  if (check_flag("relative", arguments$relative)) unit <- call_library(.Call(tyto_alpha_max, problem$x, problem$y, problem$options))
  list(alphas = sort(unique(check_numbers("alpha", arguments$alpha, "(0, inf)")), decreasing = TRUE) * unit)
}

fold_options <- function(nfolds, foldid, repeats, error, problem) {
  n <- nrow(problem$x)
  options <- list(folds = check_whole("nfolds", nfolds, sprintf("[2, %d]", n)), repeats = check_whole("repeats", repeats, "[1, 10000]"),
                  error = check_word("error", error))
  if (is.null(foldid)) return(options)
  foldid <- check_rows("foldid", foldid, n)
  if (any(foldid != round(foldid))) want("foldid", "whole numbers", foldid[foldid != round(foldid)][1])
  options$foldid <- foldid
  options$folds <- as.double(length(unique(foldid)))
  options
}

make_cv <- function(answer, problem, call, arguments, foldid) {
  curve <- answer$curves[[answer$chosen_curve + 1]]
  if (arguments$weights[1] %in% c("bh", "gaussian")) arguments$q <- curve$q
  if (identical(arguments$weights, "oscar")) arguments$slope <- curve$slope
  arguments$gamma <- curve$gamma
  fit <- make_fit(answer, problem, call, arguments)
  best <- which(answer$best == 1)
  one_se <- which(answer$one_se == 1)
  fit$chosen <- c(alpha.best = best, alpha.1se = one_se)
  cv <- list(
    alpha = fit$alpha, cvm = curve$cvm, cvsd = curve$cvsd, cvup = curve$cvm + curve$cvsd, cvlo = curve$cvm - curve$cvsd,
    nzero = fit$df, name = answer$measure_in_words, measure = answer$measure, alpha.best = fit$alpha[best], alpha.1se = fit$alpha[one_se],
    index = c(best = best, "1se" = one_se), q = curve$q, slope = curve$slope, gamma = curve$gamma,
    fold_errors = do.call(cbind, curve$folds), curves = curve_table(answer$curves, problem$size), nfolds = answer$n_folds,
    repeats = answer$n_repeats, foldid = foldid, converged = answer$converged, worst_gap = answer$worst_gap, fit = fit, call = call
  )
  warn_of(fit, "cv_owl")
  if (!answer$converged && all(fit$certificate$status == "converged")) {
    warning(sprintf("cv_owl: on some folds the relative duality gap is up to %.2g, tol is %.2g. Raise max_iter, or tol.",
                    answer$worst_gap, fit$stated$setting$options$tolerance), call. = FALSE)
  }
  if (best == length(fit$alpha) && best > 1) {
    warning("cv_owl: the best is the last alpha: a smaller alpha_min_ratio may do better.", call. = FALSE)
  }
  structure(cv, class = "cv_owl")
}

# All shapes that were compared, one below the other.
curve_table <- function(curves, size) {
  do.call(rbind, lapply(curves, function(one) {
    data.frame(q = one$q, slope = one$slope, gamma = one$gamma, alpha = one$alpha / size, cvm = one$cvm, cvsd = one$cvsd)
  }))
}

print.cv_owl <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall: ", paste(deparse(x$call, nlines = 3), collapse = "\n"), "\n\n", sep = "")
  cat(sprintf("%s by %d folds%s\n\n", x$name, as.integer(x$nfolds), if (x$repeats > 1) sprintf(", %d times", as.integer(x$repeats)) else ""))
  table <- data.frame(Alpha = signif(x$alpha[x$index], digits), Index = x$index, Measure = signif(x$cvm[x$index], digits),
                      SE = signif(x$cvsd[x$index], digits), Nonzero = x$nzero[x$index], Clusters = x$fit$clusters[x$index],
                      row.names = names(x$index))
  print(table)
  if (nrow(unique(x$curves[c("q", "slope")])) > 1) {
    cat(sprintf("\nChosen: %s\n", if (x$fit$weights == "oscar") sprintf("slope = %g", x$slope) else sprintf("q = %g", x$q)))
  }
  cat("\n", certificate_sentence(x$fit), "\n", sep = "")
  invisible(x)
}

summary.cv_owl <- function(object, s = "alpha.best", ...) summary(object$fit, s = chosen_alpha(object, s))
