data <- grouped(40, 8)
x <- data$x
y <- data$y

csv_file <- function(x, y, name = "y") {
  file <- tempfile(fileext = ".csv")
  table <- data.frame(x, y, check.names = FALSE)
  names(table)[ncol(table)] <- name
  write.table(format(table, digits = 17), file, sep = ",", quote = FALSE, row.names = FALSE)
  file
}

test_that("a file gives the fit of the matrix, to the last bit", {
  file <- csv_file(x, y)
  opened <- read_data(file)
  expect_identical(dim(opened), c(40, 8))
  expect_identical(colnames(opened), colnames(x))
  expect_equal(as.matrix(opened), x, tolerance = 1e-15)
  exact <- as.matrix(opened)
  same_bits(owl(opened), owl(exact, opened$y))
  fit <- owl(file, alpha = 0.05)
  same_bits(fit, owl(exact, opened$y, alpha = 0.05))
  expect_certified(fit, opened, opened$y)
  expect_true(all(verify(fit, opened)$holds))
  expect_equal(predict(fit, opened), predict(fit, exact), tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(residuals(fit, opened), residuals(fit, exact, opened$y), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(clusters(fit, x = opened)$correlation, clusters(fit, x = exact)$correlation)
  expect_output(print(opened), "40 rows x 8 columns, dense float64, a response of numbers")
  expect_identical(as.character(fit$call)[1], "owl")
})

test_that("cross-validation, weights and offsets of files", {
  table <- cbind(x, w = rep(1:2, 20), o = seq_len(40) / 40)
  opened <- read_data(csv_file(table, y), sample_weight = "w", offset = "o")
  exact <- as.matrix(opened)
  expect_identical(colnames(exact), colnames(x))
  ours <- cv_owl(opened, nfolds = 4, seed = 1, nalpha = 10)
  theirs <- cv_owl(exact, opened$y, nfolds = 4, seed = 1, nalpha = 10, sample_weight = opened$sample_weight, offset = opened$offset)
  same_bits(ours$fit, theirs$fit)
  expect_identical(ours$cvm, theirs$cvm)
  expect_true(all(verify(ours, opened)$holds))
  expect_equal(predict(ours, opened), predict(theirs, exact, newoffset = opened$offset), tolerance = 1e-12, ignore_attr = TRUE)
  expect_error(owl(opened, offset = 1:3), "offset: want 40 finite numbers")
})

test_that("classes, responses beside the data, and none", {
  words <- ifelse(y > median(y), "yes", "no")
  opened <- read_data(csv_file(x, words, "group"), target = "group")
  expect_identical(opened$y, words)
  same_bits(owl(opened, family = "binomial", alpha = 0.05), owl(as.matrix(opened), words, family = "binomial", alpha = 0.05))
  beside <- read_data(csv_file(x, y), target = FALSE, drop = "y", response = y)
  expect_identical(beside$y, y)
  none <- read_data(csv_file(x, y), target = FALSE, drop = "y")
  expect_error(owl(none), "y: want a response, got none")
  same_bits(owl(none, y, alpha = 0.1), owl(as.matrix(none), y, alpha = 0.1))
  expect_identical(ncol(read_data(csv_file(x, y), target = 9)), 8)
})

test_that("new rows are matched by name", {
  fit <- owl(read_data(csv_file(x, y)), alpha = 0.05)
  turned <- read_data(csv_file(x[, 8:1], y), target = FALSE, drop = "y")
  expect_equal(predict(fit, turned), predict(fit, x), tolerance = 1e-12, ignore_attr = TRUE)
  expect_error(predict(fit, read_data(csv_file(x[, 4:8], y))), "newx: want a column 'g1'")
})

test_that("mistakes are named", {
  expect_error(read_data("nowhere.csv"), "nowhere.csv: cannot open")
  expect_error(read_data(csv_file(x, y), missing = "guess"), "missing: want refuse, mean, drop-rows, drop-columns, got 'guess'")
  expect_error(read_data(csv_file(x, y), header = "maybe"), "header: want auto, yes, no")
  expect_error(read_data(csv_file(x, y), response = 1:3), "response: want 40 values")
  expect_error(read_data(csv_file(x, y), target = "z"), "target: no column 'z'")
  expect_error(read_data(csv_file(x, y), memory = "much"), "memory: want a number of bytes")
  expect_error(read_data(3), "file: want a word")
  expect_error(owl(unserialize(serialize(read_data(csv_file(x, y)), NULL))), "want data that was opened in this session")
  holes <- x
  holes[7, 3] <- NA
  expect_error(read_data(csv_file(holes, y)), ":8")
  expect_warning(dropped <- read_data(csv_file(holes, y), missing = "drop-rows"), NA)
  expect_identical(dropped$dropped_rows, 7)
})

test_that("a file that was deleted is still there", {
  file <- csv_file(x, y)
  opened <- read_data(file)
  unlink(file)
  expect_certified(owl(opened, alpha = 0.1), opened, opened$y)
})

# Copies of the first allele, two bits each: 00 two, 10 one, 11 none.
bed_file <- function(genotypes, phenotype) {
  base <- tempfile()
  n <- nrow(genotypes)
  code <- matrix(0L, 4 * ceiling(n / 4), ncol(genotypes))
  code[seq_len(n), ] <- c(3L, 2L, 0L)[genotypes + 1]
  at <- seq(1, nrow(code), 4)
  bytes <- code[at, ] + 4L * code[at + 1, ] + 16L * code[at + 2, ] + 64L * code[at + 3, ]
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, bytes)), paste0(base, ".bed"))
  writeLines(sprintf("1\trs%d\t0\t%d\tA\tG", seq_len(ncol(genotypes)), seq_len(ncol(genotypes))), paste0(base, ".bim"))
  writeLines(sprintf("f%d p%d 0 0 1 %.17g", seq_len(n), seq_len(n), phenotype), paste0(base, ".fam"))
  paste0(base, ".bed")
}

test_that("genotypes stay two bits each", {
  set.seed(4)
  genotypes <- matrix(sample.int(3, 90 * 30, replace = TRUE) - 1L, 90)
  response <- rowSums(genotypes[, 1:4]) + rnorm(90)
  file <- bed_file(genotypes, response)
  opened <- read_data(file)
  expect_equal(unname(as.matrix(opened)), genotypes)
  fit <- owl(file, nalpha = 10)
  expect_equal(as.matrix(fit$beta), as.matrix(owl(genotypes, response, nalpha = 10)$beta), tolerance = 1e-8, ignore_attr = TRUE)
  expect_certified(fit, opened, response)
  same_bits(owl(read_data(file, memory = "64M"), nalpha = 10), owl(opened, nalpha = 10))
  expect_error(read_data(csv_file(x, y), memory = "1G"), "memory: want NULL")
})
