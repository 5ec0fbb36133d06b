# What a fit needs beyond its input: the peak of memory during owl(), less what is there before. Linux.
#   Rscript bench/r/memory.R
suppressMessages(library(tyto))
status <- function(field) as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE))) / 1024
peak_of <- function(call) {
  gc()
  writeLines("5", "/proc/self/clear_refs")
  before <- status("VmRSS")
  call()
  status("VmHWM") - before
}
set.seed(1)
x <- matrix(rnorm(2000 * 20000), 2000)
y <- rowSums(x[, 1:10]) + rnorm(2000)
cat(sprintf("dense 2000 x 20000: %.0f MB, peak of one fit %.0f MB above it\n", object.size(x) / 2^20, peak_of(function() owl(x, y, alpha = 0.5, relative = TRUE))))
rm(x)
p <- 500000
sparse <- Matrix::sparseMatrix(i = sample.int(2000, 5e6, TRUE), j = sample.int(p, 5e6, TRUE), x = 1, dims = c(2000, p))
y <- as.vector(sparse[, 1:10] %*% rep(1, 10)) + rnorm(2000)
cat(sprintf("sparse 2000 x 500000: %.0f MB, peak of one fit %.0f MB above it\n", object.size(sparse) / 2^20, peak_of(function() owl(sparse, y, alpha = 0.5, relative = TRUE))))
