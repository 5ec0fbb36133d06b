# The lasso is glmnet's, whose lambda is our alpha.
test_that("the lasso is glmnet's", {
  skip_if_not_installed("glmnet")
  data <- grouped(80, 25, seed = 2)
  for (family in c("gaussian", "binomial", "poisson")) {
    y <- responses(data$y)[[family]]
    ours <- owl(data$x, y, weights = "lasso", family = family, nalpha = 10, alpha_min_ratio = 0.05, tol = 1e-12)
    theirs <- glmnet::glmnet(data$x, y, family = family, lambda = ours$alpha, thresh = 1e-14, maxit = 1e7)
    expect_equal(as.matrix(coef(ours)), as.matrix(coef(theirs)), tolerance = 1e-4, ignore_attr = TRUE)
    expect_equal(ours$dev.ratio, theirs$dev.ratio, tolerance = 1e-6)
    expect_equal(deviance(ours), deviance(theirs), tolerance = 1e-5)
    s <- c(0.8, 0.3) * ours$alpha[3]
    expect_equal(predict(ours, data$x, s = s), predict(theirs, data$x, s = s, type = "response"), tolerance = 1e-4, ignore_attr = TRUE)
    expect_certified(ours, data$x, y)
  }
})
