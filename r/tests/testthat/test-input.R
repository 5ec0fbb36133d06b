data <- grouped(30, 5)
x <- data$x
y <- data$y

test_that("arguments of other packages are answered", {
  expect_error(owl(x, y, lambda = 1), "lambda: the strength is `alpha` here (glmnet's lambda), the shape is `weights` (SLOPE's lambda)", fixed = TRUE)
  expect_error(owl(x, y, path_length = 20), "path_length: the number of strengths is `nalpha` here")
  expect_error(owl(x, y, tol_dev_ratio = 0.9), "max_explained")
  expect_error(owl(x, y, theta1 = 1), "slope")
  expect_error(cv_owl(x, y, type.measure = "mse"), "error")
  expect_error(owl(x, y, colour = 1), "colour: there is no such argument")
})

test_that("a wrong argument is named, with what is wanted", {
  expect_error(owl(x, y, tol = 0), "tol: want a number in (0, 1), got 0", fixed = TRUE)
  expect_error(owl(x, y, q = 2), "q: want a number in (0, 1], got 2", fixed = TRUE)
  expect_error(owl(x, y, alpha = -1), "alpha: want a finite number > 0, got -1")
  expect_error(owl(x, y, alpha = "much"), "alpha: want numbers, got \"much\"")
  expect_error(owl(x, y, nalpha = 2.5), "nalpha: want a whole number")
  expect_error(owl(x, y, intercept = 1), "intercept: want TRUE or FALSE, got 1")
  expect_error(owl(x, y, weights = "bhh"), "weights: unknown kind 'bhh'")
  expect_error(owl(x, y, weights = 1:5), "weights")
  expect_error(owl(x, y, weights = 3:1), "weights")
  expect_error(owl(x, y, family = "gamma"), "family: want")
  expect_error(owl(x, y, family = binomial("probit")), "usual link")
  expect_error(owl(x, y, solver = "cd"), "solver")
  expect_error(owl(x, y, screening = "edpp"), "screening")
  expect_error(owl(x, y, gamma = 2), "gamma: want a number in [0, 1], got 2", fixed = TRUE)
  expect_error(owl(x, y, gamma = 0, positive = TRUE), "gamma")
  expect_error(owl(x, y, sigma = "guess"), "sigma: want a number > 0 or \"estimate\"")
  expect_error(owl(x, y, threads = 0), "threads: want a whole number >= 1")
  expect_error(owl(x, y, unpenalized = "g9"), "unpenalized: want names of columns, got \"g9\"")
  expect_error(owl(x, y, unpenalized = 1:5), "at least one column that is penalised")
  expect_error(cv_owl(x, y, nfolds = 1), "nfolds: want a whole number >= 2")
  expect_error(cv_owl(x, y, foldid = 1:3), "foldid: want 30 finite numbers")
  expect_error(cv_owl(x, y, error = "rmse"), "error")
})

test_that("wrong data is named by row and column, counted from 1", {
  expect_error(owl(x, y[-1]), "y: want 30 values, one for each row of x, got 29")
  expect_error(owl(x, replace(y, 4, NA)), "y: want no missing values, got NA in row 4")
  expect_error(owl(x, replace(y, 4, Inf)), "y: want finite numbers, got Inf in row 4")
  bad <- x
  bad[7, 3] <- NA
  expect_error(owl(bad, y), "x: column 3")
  expect_error(verify(owl(x, y, alpha = 0.1), bad, y), "x: column 3, row 7")
  expect_error(owl(letters, y), "x: want a matrix of numbers")
  expect_error(owl(x, y, sample_weight = -y^2), "sample_weight: want numbers >= 0")
  expect_error(owl(x, factor(rep(letters[1:3], 10)), family = "binomial"), "y: want two classes")
  expect_error(owl(x, factor(y > 0)), "y: want numbers, got \"factor\"")
  expect_error(owl(x, -abs(y), family = "poisson"), "y: want counts >= 0")
  broken <- Matrix::Matrix(x, sparse = TRUE)
  broken@i[1] <- 99L
  expect_error(owl(broken, y), "x: want a dgCMatrix with @i below the number of rows")
})

test_that("interpolation and words at a fit are checked", {
  fit <- owl(x, y, nalpha = 5)
  expect_error(coef(fit, s = -1), "s: want a finite number >= 0, got -1")
  expect_error(coef(fit, s = "alpha.best"), "nothing was chosen")
  expect_error(clusters(fit, s = fit$alpha[2] * 1.01), "want an alpha that was fitted")
  expect_error(predict(fit), "newx: want rows to predict")
  expect_error(predict(fit, x[, 1:3]), "newx")
})
