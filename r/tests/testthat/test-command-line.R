# The command line, Python and R are one workflow: the same options give the same bits.
program <- Sys.getenv("TYTO_PROGRAM")

problems <- list(
  list(list(), character()),
  list(list(weights = "gaussian", q = 0.05), c("--weights", "gaussian", "--q", "0.05")),
  list(list(weights = "oscar", slope = 3.5), c("--weights", "oscar", "--slope", "3.5")),
  list(list(weights = 20:1), c("--weights", "w.txt")),
  list(list(weights = "lasso", ridge = 0.25), c("--weights", "lasso", "--ridge", "15")),
  list(list(weights = "linf", intercept = FALSE), c("--weights", "linf", "--no-intercept")),
  list(list(weights = "linear", standardize = FALSE), c("--weights", "linear", "--no-standardize")),
  list(list(positive = TRUE, tol = 1e-9), c("--nonnegative", "--tolerance", "1e-9")),
  list(list(unpenalized = c(2, 8)), c("--unpenalized", "1,7")),
  list(list(gamma = 0.3), c("--gamma", "0.3")),
  list(list(solver = "apgd", screening = "strong"), c("--solver", "apgd", "--screening", "strong")),
  list(list(family = "binomial"), c("--loss", "binomial")),
  list(list(family = "poisson"), c("--loss", "poisson")),
  list(list(family = "huber", huber_delta = 0.75), c("--loss", "huber", "--huber-delta", "0.75")),
  list(list(family = "squared-hinge"), c("--loss", "squared-hinge"))
)

write_data <- function(x, y, file) {
  lines <- apply(cbind(x, y), 1, function(row) paste(sprintf("%.17g", row), collapse = ","))
  writeLines(c(paste(c(colnames(x), "y"), collapse = ","), lines), file)
}

run <- function(folder, task, flags) {
  flags <- if (any(flags == "--weights")) flags else c("--weights", "bh", flags)
  status <- system2(program, c(task, "data.csv", "--target", "y", "--model", "model.json", "--quiet", flags))
  expect_equal(status, 0)
  read_model("model.json")
}

test_that("fits, paths and cross-validations have the bits of the command line", {
  skip_if(program == "", "TYTO_PROGRAM: no command line to compare with")
  data <- grouped(60, 20, seed = 5)
  folder <- tempfile()
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  writeLines(as.character(20:1), "w.txt")
  for (problem in problems) {
    arguments <- problem[[1]]
    family <- if (is.null(arguments$family)) "gaussian" else arguments$family
    y <- responses(data$y)[[family]]
    if (is.factor(y)) y <- as.numeric(y) - 1
    write_data(data$x, y, "data.csv")
    arguments <- c(list(data$x, y), arguments)
    one <- do.call(owl, c(arguments, alpha = 0.07, relative = TRUE))
    same_bits(one, run(folder, "fit", c(problem[[2]], "--strength", "0.07")))
    path <- do.call(owl, c(arguments, nalpha = 12, alpha_min_ratio = 0.02))
    same_bits(path, run(folder, "path", c(problem[[2]], "--steps", "12", "--ratio", "0.02")))
    cv <- suppressWarnings(do.call(cv_owl, c(arguments, nfolds = 4, nalpha = 8, alpha_min_ratio = 0.05, seed = 3)))
    found <- run(folder, "cv", c(problem[[2]], "--folds", "4", "--steps", "8", "--ratio", "0.05", "--seed", "3"))
    same_bits(cv$fit, found)
    expect_equal(found$chosen, cv$fit$chosen)
  }
})

test_that("Python has the same bits", {
  python <- Sys.getenv("TYTO_PYTHON")
  there <- python != "" && file.exists(python) && system2(python, c("-c", shQuote("import tyto")), stderr = FALSE) == 0
  skip_if(!there, "TYTO_PYTHON: no Python with the package to compare with")
  data <- grouped(60, 20, seed = 5)
  folder <- tempfile()
  dir.create(folder)
  write_data(data$x, data$y, file.path(folder, "data.csv"))
  program <- file.path(folder, "fit.py")
  writeLines(c(
    "import sys, numpy as np, tyto",
    "data = np.loadtxt(sys.argv[1], delimiter=',', skiprows=1)",
    "X, y = np.asfortranarray(data[:, :-1]), data[:, -1].copy()",
    "for shape in ['bh', 'oscar', 'lasso', 'linf', 'gaussian', 'linear']:",
    "    path = tyto.owl_path(X, y, weights=shape, n_alphas=12, eps=0.02, standardize=True, max_iter=1_000_000)",
    "    print(' '.join(repr(float(v)) for v in path.coefs.ravel(order='F')))"
  ), program)
  lines <- system2(python, c(program, file.path(folder, "data.csv")), stdout = TRUE)
  expect_length(lines, 6)
  shapes <- c("bh", "oscar", "lasso", "linf", "gaussian", "linear")
  for (k in 1:6) {
    fit <- owl(data$x, data$y, weights = shapes[k], nalpha = 12, alpha_min_ratio = 0.02)
    expect_identical(as.numeric(strsplit(lines[k], " ")[[1]]), as.vector(as.matrix(fit$beta)))
  }
})
