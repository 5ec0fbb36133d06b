# x with a group of `size` almost equal columns that carry the response.
grouped <- function(n, p, size = 3, seed = 1, noise = 0.5) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  x[, seq_len(size)] <- rnorm(n) + 0.1 * rnorm(n * size)
  y <- rowSums(x[, seq_len(size)]) + 3 + noise * rnorm(n)
  x <- sweep(x, 2, seq(0.1, 5, length.out = p), "*") + 1
  colnames(x) <- paste0("g", seq_len(p))
  list(x = x, y = y)
}

# The relative duality gap of a least-squares fit with an intercept and standardised columns, by definition.
naive_gap <- function(x, y, beta, a0, alpha, weights) {
  n <- nrow(x)
  centred <- scale(as.matrix(x), scale = FALSE)
  spread <- sqrt(colMeans(centred^2))
  z <- sweep(centred, 2, spread, "/")
  b <- as.vector(beta) * spread
  target <- y - mean(y)
  residual <- target - as.vector(z %*% b)
  expect_equal(mean(y - as.vector(as.matrix(x) %*% as.vector(beta)) - a0), 0, tolerance = 1e-8)
  primal <- sum(residual^2) / (2 * n) + alpha * sum(weights * sort(abs(b), decreasing = TRUE))
  gradient <- sort(abs(as.vector(crossprod(z, residual))), decreasing = TRUE) / n
  theta <- residual / max(1, max(cumsum(gradient) / cumsum(alpha * weights)))
  dual <- (sum(target^2) - sum((target - theta)^2)) / (2 * n)
  (primal - dual) / primal
}

# Each fit is judged by the data: its gap computed again by verify().
expect_certified <- function(fit, x, y, ..., tol = 1e-6) {
  found <- verify(fit, x, y, ...)
  expect_true(all(found$holds), info = paste(found$reason, collapse = " "))
  expect_true(all(certificate(fit, s = fit$alpha)$status == "converged"))
  expect_lte(max(found$relative_gap), tol)
}

responses <- function(y) {
  list(gaussian = y, huber = y, poisson = round(exp((y - min(y)) / 4)), binomial = factor(y > median(y), labels = c("no", "yes")),
       "squared-hinge" = factor(y > median(y), labels = c("no", "yes")))
}

same_bits <- function(ours, theirs) {
  expect_identical(ours$beta@x, theirs$beta@x)
  expect_identical(ours$beta@i, theirs$beta@i)
  expect_identical(unname(ours$a0), unname(theirs$a0))
  expect_identical(ours$stated$alpha, theirs$stated$alpha)
  expect_identical(ours$stated$gap, theirs$stated$gap)
  expect_identical(ours$cluster, theirs$cluster)
  expect_gt(length(ours$beta@x), 0)
}
