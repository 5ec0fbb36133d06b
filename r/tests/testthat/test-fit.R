data <- grouped(60, 20)
x <- data$x
y <- data$y

test_that("the gap of every strength, computed by definition, is what was asked for", {
  for (shape in c("bh", "oscar", "lasso", "linf")) {
    fit <- owl(x, y, weights = shape, nalpha = 12)
    weights <- owl_weights(shape, p = 20, n = 60)
    gaps <- vapply(1:12, function(k) naive_gap(x, y, fit$beta[, k], fit$a0[k], fit$alpha[k], weights), 0)
    expect_lte(max(gaps), 1e-6)
    expect_gte(min(gaps), -1e-12)
    expect_certified(fit, x, y)
  }
})

test_that("all families are certified", {
  for (family in names(response_of <- responses(y))) {
    fit <- owl(x, response_of[[family]], family = family, nalpha = 8, alpha_min_ratio = 0.05)
    expect_certified(fit, x, response_of[[family]])
    expect_gt(tail(fit$df, 1), 0)
  }
})

test_that("sparse and dense, integer and double are one problem", {
  sparse <- Matrix::Matrix(round(x), sparse = TRUE)
  whole <- matrix(as.integer(round(x)), 60, dimnames = dimnames(x))
  dense <- owl(round(x), y, alpha = c(0.3, 0.1))
  for (other in list(sparse, whole, as.data.frame(round(x)), methods::as(sparse, "TsparseMatrix"), Matrix::Matrix(round(x), sparse = FALSE))) {
    found <- owl(other, y, alpha = c(0.3, 0.1))
    expect_equal(as.matrix(found$beta), as.matrix(dense$beta), tolerance = 1e-6)
    expect_equal(dimnames(found$beta), dimnames(dense$beta))
  }
  expect_certified(owl(sparse, y, nalpha = 5), sparse, y)
})

test_that("what a fit is asked for, it does", {
  weighted <- owl(x, y, alpha = 0.1, sample_weight = rep(1:2, 30))
  expect_certified(weighted, x, y, sample_weight = rep(1:2, 30))
  twice <- c(seq_len(60), seq(2, 60, 2))
  expect_equal(as.matrix(owl(x[twice, ], y[twice], alpha = 0.1, weights = "oscar")$beta),
               as.matrix(owl(x, y, alpha = 0.1, sample_weight = rep(1:2, 30), weights = "oscar")$beta), tolerance = 1e-4)
  expect_gte(min(owl(x, -y, alpha = 0.05, positive = TRUE)$beta), 0)
  free <- owl(x, y, alpha = 0.5, unpenalized = c("g7", "g9"), relative = TRUE)
  expect_true(all(c(7, 9) %in% (free$beta@i + 1)))
  expect_equal(owl(x, y, alpha = 0.5, unpenalized = c(7, 9), relative = TRUE)$beta, free$beta)
  expect_certified(free, x, y)
  expect_certified(owl(x, y, alpha = 0.1, ridge = 0.3), x, y)
  expect_certified(owl(x, y, alpha = 0.1, intercept = FALSE, standardize = FALSE), x, y)
  shifted <- owl(x, responses(y)$poisson, family = "poisson", offset = rep(0.1, 60), alpha = 0.2)
  expect_certified(shifted, x, responses(y)$poisson, offset = rep(0.1, 60))
  relaxed <- owl(x, y, alpha = c(0.3, 0.1), gamma = 0)
  expect_certified(relaxed, x, y)
  expect_lt(deviance(relaxed)[2], deviance(owl(x, y, alpha = c(0.3, 0.1)))[2])
  noise <- owl(x, y, sigma = "estimate")
  expect_equal(noise$sigma_status, "converged")
  expect_certified(noise, x, y)
  expect_equal(owl(x, y, alpha = c(1, 0.5), relative = TRUE)$alpha, alpha_max(x, y) * c(1, 0.5))
})

test_that("a false answer is found out", {
  fit <- owl(x, y, alpha = 0.1)
  fit$beta@x[1] <- fit$beta@x[1] * 1.01
  expect_false(verify(fit, x, y)$holds)
  expect_match(verify(fit, x, y)$reason, "primal value")
  expect_false(verify(owl(x, y, alpha = 0.1), x, y + x[, 5])$holds)
})

test_that("a path ends where it is told to", {
  expect_equal(owl(x, y, max_nonzeros = 4)$stopped_by, "max_nonzeros")
  expect_equal(owl(x, y, max_explained = 0.5)$stopped_by, "max_explained")
  expect_gte(tail(owl(x, y, max_explained = 0.5)$dev.ratio, 1), 0.5)
  expect_equal(owl(x, y, nalpha = 7, alpha_min_ratio = 0.5)$alpha[c(1, 7)], alpha_max(x, y) * c(1, 0.5))
  expect_warning(owl(x, y, alpha = 0.001, solver = "apgd", max_iter = 2), "max_iter was reached")
})

test_that("threads change nothing, and one is the default", {
  expect_equal(formals(tyto:::owl.default)$threads, quote(getOption("tyto.threads", 1)))
  expect_identical(owl(x, y, nalpha = 5, threads = 2)$beta, owl(x, y, nalpha = 5)$beta)
})
