# What the library reads: matrices of numbers, logical and raw ones, and a dgCMatrix; other things converted once. Doubles and raw are
# read where they are, whole numbers that fit as one or two bytes each.
as_design <- function(x, name = "x") {
  if (methods::is(x, "dgCMatrix") || is_opened(x)) return(x)
  if (methods::is(x, "Matrix")) {
    dense <- methods::is(x, "denseMatrix")
    if (dense) return(as_design(as.matrix(x), name))
    return(methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (is.data.frame(x)) x <- frame_matrix(x, name)
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x) || is.raw(x))) want(name, "a matrix of numbers, a sparse matrix or a data frame", class(x))
  x
}

frame_matrix <- function(x, name) {
  numbers <- vapply(x, function(column) is.numeric(column) || is.logical(column), TRUE)
  if (!all(numbers)) {
    stop(sprintf("%s: want columns of numbers, got %s in '%s'", name, class(x[[which(!numbers)[1]]])[1], names(x)[!numbers][1]), call. = FALSE)
  }
  as.matrix(x)
}

check_shape <- function(x, rows) {
  if (nrow(x) == 0 || ncol(x) == 0) want("x", "at least one row and one column", dim(x))
  if (nrow(x) != rows) stop(sprintf("y: want %d values, one for each row of x, got %d", nrow(x), rows), call. = FALSE)
}

# One number for each row.
check_rows <- function(name, values, n) {
  if (is.null(values)) return(NULL)
  wish <- sprintf("%d finite numbers, one for each row", n)
  if (!is.numeric(values) || !is.null(dim(values)) && length(dim(values)) > 1) want(name, wish, values)
  if (length(values) != n) want(name, wish, length(values))
  values <- as.double(values)
  if (!all(is.finite(values))) want(name, wish, values[!is.finite(values)][1])
  values
}

check_weights_of_rows <- function(values, n) {
  values <- check_rows("sample_weight", values, n)
  if (is.null(values)) return(NULL)
  if (any(values < 0)) want("sample_weight", "numbers >= 0", min(values))
  if (!any(values > 0)) want("sample_weight", "one number above 0", 0)
  values
}

# Numbers of columns from 0, of columns that are given by name or by number from 1.
check_columns <- function(columns, x) {
  if (is.null(columns)) return(NULL)
  p <- ncol(x)
  if (is.character(columns)) {
    found <- match(columns, colnames(x))
    if (anyNA(found)) want("unpenalized", "names of columns", columns[is.na(found)][1])
    if (any(colnames(x)[-found] %in% columns)) want("unpenalized", "the number of a column where several have its name", columns[1])
  } else {
    fits <- is.numeric(columns) && !anyNA(columns) && all(columns == round(columns) & columns >= 1 & columns <= p)
    if (!fits) want("unpenalized", sprintf("names of columns, or numbers from 1 to %d", p), columns)
    found <- columns
  }
  if (anyDuplicated(found)) want("unpenalized", "each column once", columns[anyDuplicated(found)])
  if (length(found) == p) want("unpenalized", "at least one column that is penalised", "all")
  sort(as.double(found)) - 1
}

# The shape of the penalty as options of the library.
shape_options <- function(weights) {
  if (is.character(weights)) return(list(weights = check_word("weights", weights)))
  if (!is.numeric(weights) || length(weights) == 0) want("weights", "a name or numbers", weights)
  list(weights = "given", weight_values = as.double(weights))
}
