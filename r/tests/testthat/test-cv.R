data <- grouped(60, 20)
x <- data$x
y <- data$y

test_that("set.seed() governs the folds", {
  set.seed(7)
  first <- cv_owl(x, y, nfolds = 5, nalpha = 10)
  set.seed(7)
  again <- cv_owl(x, y, nfolds = 5, nalpha = 10)
  other <- cv_owl(x, y, nfolds = 5, nalpha = 10)
  expect_identical(first$cvm, again$cvm)
  expect_false(identical(first$cvm, other$cvm))
  set.seed(3)
  expected <- runif(1)
  set.seed(3)
  owl(x, y, alpha = 0.1)
  expect_equal(runif(1), expected)
})

test_that("errors are those of fits to the other folds", {
  foldid <- rep(1:4, 15)
  cv <- cv_owl(x, y, foldid = foldid, nalpha = 8)
  by_hand <- sapply(1:4, function(fold) {
    rows <- foldid != fold
    fit <- owl(x[rows, ], y[rows], alpha = cv$alpha, weights = owl_weights("bh", 20, 60))
    colMeans((y[!rows] - predict(fit, x[!rows, ]))^2)
  })
  expect_equal(cv$fold_errors, unname(by_hand), tolerance = 1e-4)
  expect_equal(cv$cvm, rowMeans(unname(by_hand)), tolerance = 1e-4)
  expect_equal(cv$alpha.best, cv$alpha[which.min(cv$cvm)])
  expect_gte(cv$alpha.1se, cv$alpha.best)
  expect_certified(cv$fit, x, y)
})

test_that("the choice is understood in our words and glmnet's", {
  cv <- cv_owl(x, y, nfolds = 5, nalpha = 10, seed = 1)
  expect_equal(coef(cv), coef(cv$fit, s = cv$alpha.best))
  expect_equal(coef(cv, s = "lambda.min"), coef(cv, s = "alpha.best"))
  expect_equal(coef(cv, s = "lambda.1se"), coef(cv$fit, s = cv$alpha.1se))
  expect_equal(predict(cv, x, s = "alpha.1se"), predict(cv$fit, x, s = cv$alpha.1se))
  expect_error(coef(cv, s = "best"), "alpha.best")
  expect_match(paste(capture.output(print(cv)), collapse = "\n"), "mean squared error by 5 folds")
  expect_equal(nrow(certificate(cv)), 1)
  expect_true(all(verify(cv, x, y)$holds))
})

test_that("shapes and relaxed fits are chosen, too", {
  cv <- cv_owl(x, y, nfolds = 5, nalpha = 10, q = c(0.05, 0.2), seed = 1)
  expect_true(cv$q %in% c(0.05, 0.2))
  expect_equal(nrow(cv$curves), 20)
  relaxed <- cv_owl(x, y, nfolds = 5, nalpha = 10, gamma = c(0, 0.5, 1), seed = 1)
  expect_true(relaxed$gamma %in% c(0, 0.5, 1))
  classes <- cv_owl(x, responses(y)$binomial, family = "binomial", error = "auc", nfolds = 4, nalpha = 6, seed = 1)
  expect_equal(classes$cvm[classes$index[["best"]]], max(classes$cvm))
  expect_equal(cv_owl(x, y, nfolds = 5, repeats = 2, nalpha = 5, seed = 1)$repeats, 2)
})
