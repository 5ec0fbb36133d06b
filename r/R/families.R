# Families: how each takes its response. What a family is called, whether it takes labels, its loss and its mean are in the
# library's table; a new one needs a row here, with what turns y into the numbers that the library takes.
response_of <- list(
  gaussian = function(y) numbers_response(y),
  binomial = function(y) labels_response(y),
  poisson = function(y) counts_response(y),
  huber = function(y) numbers_response(y),
  "squared-hinge" = function(y) labels_response(y)
)

# A name, or an object of stats::family with its usual link.
family_name <- function(family) {
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    usual <- c(gaussian = "identity", binomial = "logit", poisson = "log")
    if (!identical(unname(usual[family$family]), family$link)) {
      want("family", "the usual link: gaussian(identity), binomial(logit) or poisson(log)", sprintf("%s(%s)", family$family, family$link))
    }
    return(family$family)
  }
  known <- intersect(names(response_of), tables()$losses)
  if (!is.character(family) || length(family) != 1 || !family %in% known) {
    want("family", paste(sprintf('"%s"', known), collapse = ", "), family)
  }
  family
}

# y as numbers, with the labels that 0 and 1 stand for where they are words.
encoded_response <- function(y, family) {
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  if (!is.null(dim(y)) && length(dim(y)) > 1) want("y", "a vector", class(y))
  if (anyNA(y)) stop(sprintf("y: want no missing values, got NA in row %d", which(is.na(y))[1]), call. = FALSE)
  response_of[[family]](y)
}

numbers_response <- function(y) {
  if (!is.numeric(y) && !is.logical(y)) want("y", "numbers", class(y)[1])
  y <- as.double(y)
  if (!all(is.finite(y))) stop(sprintf("y: want finite numbers, got %g in row %d", y[!is.finite(y)][1], which(!is.finite(y))[1]), call. = FALSE)
  list(y = y, labels = NULL)
}

counts_response <- function(y) {
  found <- numbers_response(y)
  if (any(found$y < 0)) want("y", "counts >= 0", min(found$y))
  found
}

# Two classes: a factor, words, TRUE and FALSE, or numbers. The second one is what probabilities are of.
labels_response <- function(y) {
  if (is.numeric(y)) return(numbers_response(y))
  if (is.logical(y)) y <- factor(y, levels = c(FALSE, TRUE))
  if (is.character(y)) y <- factor(y)
  if (!is.factor(y)) want("y", "two classes", class(y)[1])
  y <- droplevels(y)
  if (nlevels(y) != 2) want("y", "two classes", levels(y))
  list(y = as.double(y) - 1, labels = levels(y))
}

takes_labels <- function(family) tables()$labels[match(family, tables()$losses)] == 1

# What a linear predictor stands for: a probability, an expected count, or itself.
mean_of <- function(family, predictor) {
  means <- .Call(tyto_means, family, as.double(predictor))
  if (is.null(dim(predictor))) means else array(means, dim(predictor), dimnames(predictor))
}
