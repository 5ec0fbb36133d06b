data <- grouped(60, 20)
x <- data$x
y <- data$y
fit <- owl(x, y, nalpha = 30)

test_that("coefficients between strengths are interpolated, or fitted", {
  middle <- mean(fit$alpha[10:11])
  expect_equal(as.vector(coef(fit, s = middle)), as.vector(coef(fit)[, 10] + coef(fit)[, 11]) / 2)
  expect_identical(coef(fit, s = fit$alpha[10])[, 1], coef(fit)[, 10])
  expect_equal(coef(fit, s = 1e9)[, 1], coef(fit)[, 1])
  expect_equal(coef(fit, s = 0)[, 1], coef(fit)[, 30])
  exact <- coef(fit, s = c(middle, 2 * middle), exact = TRUE, x = x, y = y)
  expect_equal(exact[, 1], coef(owl(x, y, alpha = middle))[, 1], tolerance = 1e-5)
  expect_error(coef(fit, s = middle, exact = TRUE), "want the data")
})

test_that("predictions are of every type", {
  expect_equal(dim(predict(fit, x)), c(60, 30))
  expect_equal(predict(fit, x, s = 0.1, type = "nonzero")[[1]], which(coef(fit, s = 0.1)[-1, 1] != 0), ignore_attr = TRUE)
  expect_equal(predict(fit, s = 0.1, type = "coefficients"), coef(fit, s = 0.1))
  classes <- responses(y)$binomial
  binary <- owl(x, classes, family = "binomial", nalpha = 10)
  expect_equal(predict(binary, x, type = "response"), plogis(predict(binary, x, type = "link")))
  expect_gt(mean(predict(binary, x, s = binary$alpha[10], type = "class") == classes), 0.8)
  expect_error(predict(fit, x, type = "class"), "want a family of classes")
  expect_equal(owl(x, as.character(classes), family = "binomial", alpha = 0.1)$beta, owl(x, classes, family = binomial, alpha = 0.1)$beta)
  counts <- owl(x, responses(y)$poisson, family = poisson(), nalpha = 10)
  expect_equal(predict(counts, x), exp(predict(counts, x, type = "link")))
})

test_that("criteria are consistent", {
  k <- 20
  ll <- logLik(fit, s = fit$alpha[k])
  expect_equal(AIC(ll), AIC(fit)[k])
  expect_equal(BIC(ll), BIC(fit)[k])
  expect_equal(AIC(fit, k = log(60)), BIC(fit))
  expect_equal(nobs(fit), 60)
  expect_equal(deviance(fit)[k], sum((y - predict(fit, x)[, k])^2))
  expect_equal(fit$nulldev, sum((y - mean(y))^2))
  expect_equal(fit$criteria$df, fit$clusters + 1)
  expect_equal(family(fit), "gaussian")
  expect_error(formula(fit), "not made with one")
  expect_equal(formula(owl(mpg ~ wt + hp, mtcars, alpha = 1)), mpg ~ wt + hp, ignore_attr = TRUE)
})

test_that("clusters have one magnitude once columns are standardised", {
  table <- clusters(fit, fit$alpha[12], x = x)
  magnitude <- abs(table$coefficient) * fit$scale[table$column]
  for (number in unique(table$cluster)) expect_equal(diff(range(magnitude[table$cluster == number])), 0, tolerance = 1e-12)
  expect_equal(sum(table$cluster == 1), 3)
  expect_gt(table$correlation[1], 0.9)
  expect_equal(nrow(clusters(fit, fit$alpha[1])), 0)
})

test_that("what is printed says what was proved", {
  text <- paste(capture.output(print(fit)), collapse = "\n")
  expect_match(text, "Df +Clusters +%Dev +Alpha +Gap")
  expect_match(text, "Certified: the objective is above the optimum by at most")
  expect_match(paste(capture.output(print(summary(fit, s = fit$alpha[12]))), collapse = "\n"), "cluster 1 \\(3\\): g1, g2, g3")
  open <- suppressWarnings(owl(x, y, alpha = 0.001, solver = "apgd", max_iter = 2))
  expect_match(paste(capture.output(print(open)), collapse = "\n"), "Not converged at 1 of 1")
})

test_that("pictures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (xvar in c("alpha", "norm", "dev")) expect_invisible(plot(fit, xvar, label = TRUE))
  expect_invisible(plot(cv_owl(x, y, nfolds = 3, nalpha = 5)))
  expect_equal(plot_clusters(fit, fit$alpha[12])$cluster[1:3], c(1, 1, 1))
})

test_that("tidy, glance, augment and autoplot", {
  skip_if_not_installed("generics")
  table <- generics::tidy(fit)
  expect_equal(names(table), c("term", "step", "alpha", "estimate", "cluster"))
  expect_equal(sum(table$term != "(Intercept)"), length(fit$beta@x))
  expect_equal(nrow(generics::tidy(fit, return_zeros = TRUE)), 21 * 30)
  expect_true(generics::glance(fit)$converged)
  expect_equal(generics::augment(fit, newdata = x, s = 0.1)$.fitted, unname(predict(fit, x, s = 0.1)[, 1]))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  expect_s3_class(ggplot2::autoplot(cv_owl(x, y, nfolds = 3, nalpha = 5)), "ggplot")
})
