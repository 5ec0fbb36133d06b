test_that("the norm, its dual and its prox obey their laws", {
  set.seed(4)
  for (trial in 1:20) {
    weights <- sort(runif(8), decreasing = TRUE)
    v <- rnorm(8)
    b <- prox_sorted_l1(v, weights)
    expect_lte(dual_sorted_l1_norm(v - b, weights), 1 + 1e-12)
    expect_equal(sum((v - b) * b), sorted_l1_norm(b, weights))
    expect_equal(sorted_l1_norm(v, weights), sum(weights * sort(abs(v), decreasing = TRUE)))
  }
  expect_equal(prox_sorted_l1(c(3, -1, 0.2), c(1, 1, 1), step = 0.5), c(2.5, -0.5, 0))
  expect_error(prox_sorted_l1(1:3, 3:1 / 3, step = -1), "step: want a finite number >= 0, got -1")
  expect_error(sorted_l1_norm(1:3, 2:1), "v: want 2 numbers, as many as weights, got 3")
  expect_error(sorted_l1_norm(1:2, 1:2), "weights")
  expect_equal(owl_weights("lasso", 3), c(1, 1, 1))
  expect_equal(owl_weights("bh", 4, q = 0.1), qnorm(1 - 0.1 * 1:4 / 8), tolerance = 1e-12)
})
