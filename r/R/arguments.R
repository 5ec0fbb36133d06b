# Checks of arguments. Messages say the argument, what is wanted, and what was given.

want <- function(name, wish, got) {
  stop(sprintf("%s: want %s, got %s", name, wish, shown(got)), call. = FALSE)
}

shown <- function(value) {
  if (is.character(value) && length(value) == 1) return(sprintf('"%s"', value))
  if (is.atomic(value) && length(value) == 1) return(format(value, digits = 15))
  text <- paste(deparse(value, width.cutoff = 60, nlines = 1), collapse = " ")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

# A finite number in an interval that is written as usual: "(0, 1]".
check_number <- function(name, value, range = "(-inf, inf)") {
  ends <- as.numeric(strsplit(gsub("[][() ]", "", range), ",")[[1]])
  wish <- if (is.infinite(ends[2]) && is.finite(ends[1])) {
    sprintf("a finite number %s %g", if (startsWith(range, "[")) ">=" else ">", ends[1])
  } else if (is.finite(ends[1])) paste("a number in", range) else "a finite number"
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) want(name, wish, value)
  above <- if (startsWith(range, "[")) value >= ends[1] else value > ends[1]
  below <- if (endsWith(range, "]")) value <= ends[2] else value < ends[2]
  if (!above || !below) want(name, wish, value)
  as.double(value)
}

check_whole <- function(name, value, range) {
  ends <- as.numeric(strsplit(gsub("[][() ]", "", range), ",")[[1]])
  wish <- sprintf("a whole number >= %g", ends[1])
  if (is.finite(ends[2])) wish <- sprintf("%s and <= %g", wish, ends[2])
  fits <- is.numeric(value) && length(value) == 1 && !is.na(value) && value == round(value)
  if (!fits || value < ends[1] || value > min(ends[2], 2^53)) want(name, wish, value)
  as.double(value)
}

check_flag <- function(name, value, range = "") {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) want(name, "TRUE or FALSE", value)
  value
}

check_word <- function(name, value, range = "") {
  if (!is.character(value) || length(value) != 1 || is.na(value)) want(name, "a word", value)
  value
}

check_numbers <- function(name, values, range = "(-inf, inf)") {
  if (!is.numeric(values) || length(values) == 0) want(name, "numbers", values)
  vapply(values, function(value) check_number(name, value, range), 0)
}

checks <- list(number = check_number, whole = check_whole, flag = check_flag, word = check_word)

# R's names of arguments that Python calls otherwise.
r_names <- c(n_alphas = "nalpha", eps = "alpha_min_ratio", fit_intercept = "intercept", loss = "family")

# The library's options from the arguments that its table knows. `size`: the number of rows, or the sum of their
# weights, which the library's sum over rows is divided by here.
table_options <- function(arguments, size) {
  found <- list()
  for (row in tables()$arguments) {
    name <- if (row$argument %in% names(r_names)) r_names[[row$argument]] else row$argument
    value <- arguments[[name]]
    if (is.null(value) || (row$optional && identical(as.numeric(value), Inf))) next
    value <- checks[[row$kind]](name, value, row$range)
    found[[row$option]] <- if (row$per_row) value * size else value
  }
  found
}

check_threads <- function(value) check_whole("threads", value, "[1, 10000]")

# Other packages' arguments, and what to use here.
elsewhere <- c(
  lambda = "the strength is `alpha` here (glmnet's lambda), the shape is `weights` (SLOPE's lambda)",
  nlambda = "the number of strengths is `nalpha` here",
  lambda.min.ratio = "this is `alpha_min_ratio` here",
  path_length = "the number of strengths is `nalpha` here",
  tol_dev_ratio = "the share of the deviance that ends the path is `max_explained` here",
  tol_dev_change = "the change that ends the path is `min_change` here",
  max_variables = "the number of coefficients that ends the path is `max_nonzeros` here, the number of clusters `max_clusters`",
  theta1 = "weights of OSCAR are `weights = \"oscar\"` with `slope` here, or give the numbers as `weights`",
  theta2 = "weights of OSCAR are `weights = \"oscar\"` with `slope` here, or give the numbers as `weights`",
  scale = "columns are scaled to standard deviation 1 by `standardize = TRUE`, or left as they are",
  center = "columns are centred where there is an `intercept`",
  max_passes = "the limit is `max_iter` here",
  maxit = "the limit is `max_iter` here",
  thresh = "`tol` here is the largest relative duality gap",
  dfmax = "the number of coefficients that ends the path is `max_nonzeros` here",
  pmax = "the number of coefficients that ends the path is `max_nonzeros` here",
  penalty.factor = "columns that are not penalised are `unpenalized` here; other factors are not offered",
  lower.limits = "coefficients >= 0 are `positive = TRUE` here; other limits are not offered",
  upper.limits = "coefficients >= 0 are `positive = TRUE` here; other limits are not offered",
  relax = "relaxed fits are `gamma` here: 0 least squares on the clusters, 1 the fit itself",
  type.measure = "what is measured on the rows held out is `error` here",
  n_folds = "the number of folds is `nfolds` here",
  trim_weights = "there is no limit of observation weights here",
  n_jobs = "this is `threads` here",
  loss = "this is `family` here",
  fit_intercept = "this is `intercept` here"
)

refuse_others <- function(...) {
  given <- ...names_of(...)
  for (name in given[nzchar(given)]) {
    if (name %in% names(elsewhere)) stop(sprintf("%s: %s", name, elsewhere[[name]]), call. = FALSE)
    stop(sprintf("%s: there is no such argument", name), call. = FALSE)
  }
  if (...length() > 0) stop("want arguments by name after y", call. = FALSE)
}

...names_of <- function(...) {
  given <- names(match.call(expand.dots = TRUE))[-1]
  if (is.null(given)) character(...length()) else given
}

# What the library says, in R's words: names of arguments, and rows and columns that are counted from 1.
r_words <- c(
  "^tolerance:" = "tol:", "^observation-weights:" = "sample_weight:", "^response:" = "y:", "^design:" = "x:", "^loss:" = "family:",
  "^max-epochs:" = "max_iter:", "^nonnegative:" = "positive:", "^strength:" = "alpha:", "^huber-delta:" = "huber_delta:",
  "^max-seconds:" = "max_seconds:", "^steps:" = "nalpha:", "^ratio:" = "alpha_min_ratio:", "^folds:" = "nfolds:", "^data:" = "x:",
  "the loss " = "the family ", "unknown loss" = "unknown family", "--" = "", "feature columns" = "columns", "'tyto cv'" = "cv_owl()"
)

call_library <- function(expression) {
  tryCatch(expression, error = function(error) stop(in_r_words(conditionMessage(error)), call. = FALSE))
}

in_r_words <- function(message) {
  for (pattern in names(r_words)) message <- sub(pattern, r_words[[pattern]], message)
  for (what in c("column ", "row ")) {
    at <- regexpr(sprintf("(?<=%s)[0-9]+", what), message, perl = TRUE)
    if (at > 0) {
      number <- as.numeric(regmatches(message, at)) + 1
      regmatches(message, at) <- format(number, scientific = FALSE)
    }
  }
  message
}
