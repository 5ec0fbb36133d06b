data <- grouped(60, 12)
x <- data$x
y <- data$y

test_that("a model file has all that a fit states", {
  file <- tempfile(fileext = ".json")
  classes <- responses(y)$binomial
  for (fit in list(owl(x, y, nalpha = 6), owl(x, y, alpha = 0.1), owl(x, y, alpha = c(0.2, 0.1), gamma = 0.5, unpenalized = 3),
                   owl(x, y, sigma = 1), owl(x, classes, family = "binomial", nalpha = 4), owl(x, y, weights = 12:1, alpha = 0.02),
                   owl(x, y, family = "huber", huber_delta = 2, alpha = 0.1))) {
    write_model(fit, file)
    again <- read_model(file)
    expect_identical(again$beta@x, fit$beta@x)
    expect_identical(again$a0, fit$a0)
    expect_identical(again$cluster, fit$cluster)
    expect_equal(again$certificate, fit$certificate)
    expect_equal(predict(again, x), predict(fit, x))
    expect_equal(again$family, fit$family)
    expect_certified(again, x, if (fit$family == "binomial") classes else y)
  }
})

test_that("one strength of a path or a cross-validation is a model", {
  file <- tempfile(fileext = ".json")
  cv <- cv_owl(x, y, nfolds = 4, nalpha = 8, seed = 1)
  write_model(cv, file)
  expect_equal(read_model(file)$alpha, cv$alpha.best)
  expect_equal(as.vector(coef(read_model(file))), as.vector(coef(cv)))
  write_model(cv, file, s = "alpha.1se")
  expect_equal(read_model(file)$alpha, cv$alpha.1se)
  expect_error(write_model(cv$fit, file, s = cv$alpha.best * 1.1), "want an alpha that was fitted")
})

test_that("the command line takes models of R", {
  program <- Sys.getenv("TYTO_PROGRAM")
  skip_if(program == "", "TYTO_PROGRAM: no command line")
  folder <- tempfile()
  dir.create(folder)
  file <- file.path(folder, "model.json")
  classes <- responses(y)$binomial
  write_model(owl(x, classes, family = "binomial", alpha = 0.05), file)
  write.csv(data.frame(format(as.data.frame(x), digits = 17), y = classes), file.path(folder, "data.csv"), row.names = FALSE, quote = FALSE)
  expect_equal(system2(program, c("verify", file, file.path(folder, "data.csv"), "--quiet", "--target", "y", "--header", "yes")), 0)
})

test_that("a file that is no model is answered", {
  file <- tempfile()
  expect_error(read_model(file), "cannot read")
  writeLines("{}", file)
  expect_error(read_model(file), "expected format")
})
