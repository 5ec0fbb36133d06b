test_that("formulas and data frames keep their terms", {
  fit <- owl(mpg ~ . + log(hp), data = mtcars, alpha = c(0.5, 0.1))
  expect_equal(rownames(coef(fit))[1:3], c("(Intercept)", "cyl", "disp"))
  expect_equal(predict(fit, newdata = mtcars[3:5, ], s = 0.1), predict(fit, mtcars, s = 0.1)[3:5, , drop = FALSE])
  expect_equal(unname(residuals(fit, s = 0.1)[, 1]), mtcars$mpg - unname(fitted(fit, s = 0.1)[, 1]))
  matrix <- model.matrix(mpg ~ . + log(hp), mtcars)[, -1]
  expect_equal(owl(matrix, mtcars$mpg, alpha = c(0.5, 0.1))$beta, fit$beta)
  expect_certified(fit, matrix, mtcars$mpg)
  frame <- owl(mtcars[-1], mtcars$mpg, alpha = 0.1)
  expect_equal(predict(frame, mtcars[1:2, -1]), predict(frame, as.matrix(mtcars[1:2, -1])))
  without <- owl(mpg ~ wt + hp - 1, mtcars, alpha = 0.1)
  expect_equal(unname(without$a0), 0)
  expect_equal(update(fit, alpha = 0.1)$alpha, 0.1)
  expect_equal(nobs(owl(mpg ~ wt + hp, mtcars, subset = cyl == 4, alpha = 0.1)), sum(mtcars$cyl == 4))
})

test_that("factors become columns, and new data with other levels is answered", {
  cars <- transform(mtcars, cyl = factor(cyl), kind = ifelse(am == 1, "manual", "automatic"))
  fit <- owl(mpg ~ cyl + kind + wt, cars, alpha = 0.05)
  expect_equal(rownames(fit$beta), c("cyl6", "cyl8", "kindmanual", "wt"))
  expect_equal(nrow(predict(fit, newdata = cars[1:4, ])), 4)
  expect_error(predict(fit, newdata = transform(cars, cyl = factor(12))), "new level")
  expect_equal(colnames(coef(cv_owl(mpg ~ cyl + wt, cars, nfolds = 4, alpha = c(2, 1, 0.01, 0.001), seed = 1))), "s1")
})

test_that("columns are found by name", {
  data <- grouped(40, 6)
  fit <- owl(data$x, data$y, alpha = 0.1)
  expect_equal(predict(fit, data$x[, 6:1]), predict(fit, data$x))
  expect_error(predict(fit, data$x[, 2:6]), "newx: want a column 'g1'")
  unnamed <- owl(unname(data$x), data$y, alpha = 0.1)
  expect_null(rownames(unnamed$beta))
  expect_equal(rownames(coef(unnamed))[2], "V1")
})

test_that("nothing of x is copied", {
  x <- matrix(rnorm(2000 * 500), 2000)
  y <- x[, 1] + rnorm(2000)
  copies <- capture.output({
    tracemem(x)
    fit <- owl(x, y, alpha = 0.5, relative = TRUE)
    untracemem(x)
  })
  expect_length(grep("->", copies), 0)
  expect_certified(fit, x, y)
})

test_that("whole numbers, logical and raw matrices give the fit of doubles", {
  counts <- matrix(sample.int(3, 600, replace = TRUE) - 1L, 60)
  response <- rowSums(counts[, 1:3]) + rnorm(60)
  kinds <- list(counts, counts + 300L, counts * 40000L, counts > 1, structure(as.raw(counts), dim = dim(counts)), -counts)
  for (kind in kinds) {
    doubles <- kind
    storage.mode(doubles) <- "double"
    fit <- owl(kind, response, nalpha = 10)
    expected <- owl(doubles, response, nalpha = 10)
    expect_equal(as.matrix(fit$beta), as.matrix(expected$beta), tolerance = 1e-8)
    expect_certified(fit, kind, response)
    expect_equal(predict(fit, kind), predict(expected, doubles), tolerance = 1e-8)
    expect_equal(clusters(fit, s = fit$alpha[5], x = kind)$correlation, clusters(fit, s = fit$alpha[5], x = doubles)$correlation)
  }
  holes <- counts
  holes[7, 3] <- NA
  expect_error(owl(holes, response), "x: column 3")
})
