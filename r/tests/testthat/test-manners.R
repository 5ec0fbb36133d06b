# Half a second is what is meant; a machine that is busy with other tests may take longer.
# Ctrl-C, as a terminal sends it, to an R that computes.
interrupted <- function(call) {
  folder <- tempfile()
  dir.create(folder)
  script <- file.path(folder, "run.R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(tyto)",
    "set.seed(1)",
    "x <- matrix(rnorm(1500 * 3000), 1500)",
    "y <- rowSums(x[, 1:200]) + rnorm(1500)",
    sprintf("writeLines(as.character(Sys.getpid()), '%s')", file.path(folder, "started")),
    sprintf("caught <- tryCatch({ %s; 'finished' }, interrupt = function(condition) 'interrupted')", call),
    sprintf("writeLines(c(caught, format(as.numeric(Sys.time()), digits = 20)), '%s')", file.path(folder, "ended")),
    "stopifnot(all(verify(owl(x[, 1:20], y, alpha = 0.5, relative = TRUE), x[, 1:20], y)$holds))",
    sprintf("writeLines('sound', '%s')", file.path(folder, "after"))
  ), script)
  system2(file.path(R.home("bin"), "Rscript"), script, wait = FALSE, stdout = FALSE, stderr = FALSE)
  wait_for <- function(name, seconds) {
    until <- Sys.time() + seconds
    while (!file.exists(file.path(folder, name)) || length(readLines(file.path(folder, name))) == 0) {
      if (Sys.time() > until) return(NULL)
      Sys.sleep(0.02)
    }
    readLines(file.path(folder, name))
  }
  pid <- as.integer(wait_for("started", 60))
  Sys.sleep(1)
  pressed <- as.numeric(Sys.time())
  tools::pskill(pid, tools::SIGINT)
  ended <- wait_for("ended", 30)
  list(what = ended[1], seconds = as.numeric(ended[2]) - pressed, after = wait_for("after", 60))
}

test_that("Ctrl-C is heard, and R goes on", {
  skip_on_cran()
  skip_on_os("windows")
  for (call in c("owl(x, y, tol = 1e-13, solver = 'apgd', screening = 'none', alpha = 1e-4)", "cv_owl(x, y, nfolds = 20, tol = 1e-12)")) {
    found <- interrupted(call)
    expect_equal(found$what, "interrupted")
    expect_lt(found$seconds, 5)
    expect_equal(found$after, "sound")
  }
})
