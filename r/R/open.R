# Data files as the library holds them: owl() and its kin take them in the place of x and y, and nothing is converted to doubles.
read_data <- function(file, ..., response = NULL, target = NULL, sample_weight = NULL, offset = NULL, missing = "refuse", memory = NULL,
                      format = NULL, features = NULL, drop = NULL, one_hot = NULL, header = "auto", decimal = "auto") {
  others <- list(...)
  if (length(names(others)) > 0 && any(nzchar(names(others)))) want("read_data", "files without names", names(others)[nzchar(names(others))][1])
  files <- path.expand(c(check_word("file", file), vapply(others, function(one) check_word("file", one), "")))
  beside <- is.character(response) && length(response) == 1
  if (!is.null(response) && !beside && !is.null(target) && !isFALSE(target)) want("response", "it or target", "both")
  options <- list(
    target = if (!isFALSE(target)) column_word("target", target), response = if (beside) path.expand(response),
    no_target = isFALSE(target) || (!is.null(response) && !beside) || (is.null(target) && is.null(response) && is_unnamed(files[1], format)),
    weights = column_word("sample_weight", sample_weight), offset = column_word("offset", offset),
    missing = check_word("missing", missing), format = if (!is.null(format)) check_word("format", format),
    features = if (!is.null(features)) check_whole("features", features, "[1, inf)"), drop = column_words("drop", drop),
    one_hot = column_words("one_hot", one_hot), header = check_word("header", header), decimal = check_word("decimal", decimal),
    memory = memory_bytes(memory)
  )
  found <- call_library(.Call(tyto_open, files, options))
  for (text in found$warnings) warning("read_data: ", text, call. = FALSE)
  data <- structure(c(found, list(files = files)), class = "owl_data")
  data$dropped_rows <- found$dropped_rows + 1
  if (length(data$labels) > 0) data$y <- data$labels[data$y + 1]
  if (!is.null(response) && !beside) data$y <- response_beside(response, data)
  data
}

# All columns of these are features, unless somebody says otherwise: they have no names.
is_unnamed <- function(file, format) {
  ending <- if (is.null(format)) tools::file_ext(sub("\\.(gz|bz2|xz|zst)$", "", tolower(file))) else format
  ending %in% c("npy", "npz", "mtx", "mm")
}

column_word <- function(name, column) {
  if (is.null(column)) return(NULL)
  if (is.character(column) && length(column) == 1) return(column)
  format(check_whole(name, column, "[1, inf)") - 1, scientific = FALSE)
}

column_words <- function(name, columns) {
  if (is.null(columns)) return(NULL)
  if (!is.character(columns) || anyNA(columns)) want(name, "names of columns", columns)
  columns
}

# "4G" as a number of bytes.
memory_bytes <- function(memory) {
  if (is.null(memory)) return(NULL)
  if (is.character(memory)) {
    parts <- regmatches(memory, regexec("^([0-9]+([.][0-9]+)?)([KMGT]?)B?$", toupper(memory)))[[1]]
    if (length(parts) == 0) want("memory", 'a number of bytes, or a size such as "4G"', memory)
    memory <- as.numeric(parts[2]) * 1024^match(parts[4], c("", "K", "M", "G", "T")) / 1024
  }
  floor(check_number("memory", memory, "[1, inf)"))
}

response_beside <- function(response, data) {
  rows <- data$dim[1] + length(data$dropped_rows)
  if (length(response) != rows) want("response", sprintf("%d values, one for each row", rows), length(response))
  if (length(data$dropped_rows) > 0) response[-data$dropped_rows] else response
}

is_opened <- function(x) inherits(x, "owl_data")

dim.owl_data <- function(x) unclass(x)$dim
dimnames.owl_data <- function(x) if (length(x$names) > 0) list(NULL, x$names)
as.matrix.owl_data <- function(x, ...) {
  found <- columns_of(x, seq_len(x$dim[2]))
  if (length(x$names) > 0) colnames(found) <- x$names
  found
}

print.owl_data <- function(x, ...) {
  response <- if (is.null(x$y)) "no response" else if (is.character(x$y)) sprintf("a response of %d classes", length(unique(x$y))) else "a response of numbers"
  cat(sprintf("%s: %.0f rows x %.0f columns, %s, %s\n", paste(basename(x$files), collapse = ", "), x$dim[1], x$dim[2], x$storage, response))
  invisible(x)
}

# Some columns of a matrix of any kind, as doubles.
columns_of <- function(x, columns) {
  if (!is_opened(x) && !is.raw(x)) return(as.matrix(x[, columns]))
  call_library(.Call(tyto_columns, x, as.double(columns) - 1))
}

# Some of the columns times coefficients, which have a row for each of them.
opened_product <- function(x, columns, beta) {
  if (!is.null(x$places)) columns <- x$places[columns]
  call_library(.Call(tyto_product, x, as.double(columns) - 1, as.matrix(beta)))
}

owl.owl_data <- function(x, y = NULL, ..., sample_weight = NULL, offset = NULL) fit_opened(owl.default, match.call(), x, y, ..., sample_weight = sample_weight, offset = offset)
cv_owl.owl_data <- function(x, y = NULL, ..., sample_weight = NULL, offset = NULL) fit_opened(cv_owl.default, match.call(), x, y, ..., sample_weight = sample_weight, offset = offset)
owl.character <- function(x, ...) with_call(owl(named_file(x), ...), match.call(), quote(owl))
cv_owl.character <- function(x, ...) with_call(cv_owl(named_file(x), ...), match.call(), quote(cv_owl))

# The data of a file that stands where a matrix may.
named_file <- function(x) {
  if (is.matrix(x) || length(x) != 1) want("x", "a matrix of numbers, a sparse matrix, a data frame or the name of a file", class(x))
  read_data(x)
}

# What the data brings takes the place of what is not given.
fit_opened <- function(fitter, call, x, y, ..., sample_weight, offset) {
  if (is.null(y)) y <- response_of_data(x)
  fit <- fitter(x, y, ..., sample_weight = first_of(sample_weight, x$sample_weight), offset = first_of(offset, x$offset))
  with_call(fit, call, if (inherits(fit, "cv_owl")) quote(cv_owl) else quote(owl))
}

with_call <- function(fit, call, name) {
  call[[1]] <- name
  fit$call <- call
  fit
}

response_of_data <- function(x) {
  if (is.null(x$y)) stop("y: want a response, got none: read_data(..., target = ) or response =, or give y", call. = FALSE)
  x$y
}

first_of <- function(given, other) if (is.null(given)) other else given
