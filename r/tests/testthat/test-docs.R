test_that("the examples of docs/r.md run", {
  file <- file.path(Sys.getenv("TYTO_SOURCES"), "docs", "r.md")
  skip_if(Sys.getenv("TYTO_SOURCES") == "", "TYTO_SOURCES: no documentation beside the package")
  lines <- readLines(file)
  fences <- grep("^```", lines)
  blocks <- Map(function(begin, end) if (lines[begin] == "```r") lines[(begin + 1):(end - 1)], fences[c(TRUE, FALSE)], fences[c(FALSE, TRUE)])
  code <- unlist(blocks)
  expect_gt(length(code), 3)
  values <- lapply(parse(text = code), eval, envir = new.env())
  expect_true(values[[length(values)]])
})

test_that("every argument of the library's table can be given", {
  names <- vapply(tyto:::tables()$arguments, function(row) row$argument, "")
  ours <- ifelse(names %in% names(tyto:::r_names), tyto:::r_names[names], names)
  expect_true(all(ours %in% names(formals(tyto:::owl.default))))
  expect_true(all(ours %in% names(formals(tyto:::cv_owl.default))))
  expect_true(all(c("tol", "ridge", "nalpha") %in% ours))
})
