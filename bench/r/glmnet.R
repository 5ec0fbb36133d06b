# owl() beside glmnet, from R: CPU seconds of a lasso path of 100 strengths down to a hundredth of the largest, one thread, columns
# standardised beforehand, medians of interleaved rounds. Gaps are computed here, from the coefficients and the data, at the worst strength.
#   TYTO_DATA=folder Rscript bench/r/glmnet.R [--rounds 5] [--problems colon-cancer,duke,...]
suppressMessages({library(tyto); library(glmnet)})

arguments <- commandArgs(TRUE)
option <- function(name, otherwise) if (name %in% arguments) arguments[match(name, arguments) + 1] else otherwise
rounds <- as.integer(option("--rounds", "5"))
folder <- Sys.getenv("TYTO_DATA")

read_libsvm <- function(file) {
  connection <- xzfile(file)
  rows <- strsplit(trimws(readLines(connection)), "[[:space:]]+")
  close(connection)
  entries <- lapply(rows, function(row) do.call(rbind, strsplit(row[-1], ":")))
  x <- matrix(0, length(rows), max(sapply(entries, function(e) max(as.integer(e[, 1])))))
  for (i in seq_along(rows)) x[i, as.integer(entries[[i]][, 1])] <- as.numeric(entries[[i]][, 2])
  list(x = x, y = as.numeric(vapply(rows, `[`, "", 1)))
}
read_set <- function(name) read_libsvm(file.path(folder, name, "data.svm.xz"))
read_riboflavin <- function() {
  table <- read.csv(xzfile(file.path(folder, "riboflavin", "data.csv.xz")))
  list(x = as.matrix(table[names(table) != "y"]), y = table$y)
}
simulated <- function(n, p) {
  set.seed(1)
  x <- matrix(rnorm(n * p), n)
  b <- c(rep(1, 20), rep(0, p - 20))
  list(x = x, y = as.vector(x %*% b) + 3 * rnorm(n))
}
as_classes <- function(data) list(x = data$x, y = as.numeric(data$y > median(data$y)))

problems <- list(
  "colon-cancer" = list("gaussian", function() read_set("colon-cancer")),
  "duke" = list("gaussian", function() read_set("duke")),
  "riboflavin" = list("gaussian", read_riboflavin),
  "200x20000" = list("gaussian", function() simulated(200, 20000)),
  "20000x500" = list("gaussian", function() simulated(20000, 500)),
  "colon-cancer-binomial" = list("binomial", function() as_classes(read_set("colon-cancer"))),
  "2000x500-binomial" = list("binomial", function() as_classes(simulated(2000, 500)))
)

standardised <- function(data) {
  x <- scale(data$x, scale = FALSE)
  spread <- sqrt(colMeans(x^2))
  x <- x[, spread > 1e-10] / rep(spread[spread > 1e-10], each = nrow(x))
  attributes(x) <- list(dim = dim(x))
  list(x = x, y = data$y)
}

# The constant that minimises the logistic loss, given the rest of the linear predictor.
best_constant <- function(y, eta) {
  constant <- 0
  for (k in 1:100) {
    p <- plogis(eta + constant)
    step <- sum(y - p) / sum(p * (1 - p))
    constant <- constant + max(-2, min(2, step))
    if (abs(step) < 1e-14) break
  }
  constant
}

xlogx <- function(v) ifelse(v > 0, v * log(v), 0)
gap_at <- function(family, x, y, b, lambda) {
  n <- nrow(x)
  used <- which(b != 0)
  eta <- if (length(used) > 0) as.vector(x[, used, drop = FALSE] %*% b[used]) else rep(0, n)
  if (family == "gaussian") {
    r <- y - eta
    primal <- sum(r^2) / (2 * n) + lambda * sum(abs(b))
    scale <- lambda * n / max(abs(crossprod(x, r)))
    scale <- min(scale, max(-scale, sum(y * r) / sum(r^2)))
    dual <- (sum(y^2) - sum((y - scale * r)^2)) / (2 * n)
  } else {
    eta <- eta + best_constant(y, eta)
    r <- y - plogis(eta)
    primal <- mean(ifelse(eta > 0, eta, 0) + log1p(exp(-abs(eta))) - y * eta) + lambda * sum(abs(b))
    dual_of <- function(scale) {
      q <- pmin(pmax(y - scale * r, 0), 1)
      -mean(xlogx(q) + xlogx(1 - q))
    }
    most <- min(lambda * n / max(abs(crossprod(x, r))), 1 / max(abs(r)))
    dual <- max(dual_of(most), optimize(dual_of, c(0, most), maximum = TRUE, tol = 1e-12)$objective)
  }
  (primal - dual) / primal
}
worst_gap <- function(family, data, beta, lambda) {
  max(vapply(seq_along(lambda), function(k) gap_at(family, data$x, data$y, as.vector(beta[, k]), lambda[k]), 0))
}

# CPU seconds of one call; short ones are repeated.
cpu <- function(call) {
  calls <- 0
  begin <- proc.time()
  repeat {
    call()
    calls <- calls + 1
    spent <- sum((proc.time() - begin)[1:2])
    if (spent > 0.3) return(spent / calls)
  }
}

compare <- function(name) {
  family <- problems[[name]][[1]]
  data <- standardised(problems[[name]][[2]]())
  if (family == "gaussian") data$y <- data$y - mean(data$y)
  constant <- family != "gaussian"
  ours <- function() owl(data$x, data$y, weights = "lasso", family = family, nalpha = 100, alpha_min_ratio = 0.01, standardize = FALSE, intercept = constant)
  fit <- ours()
  theirs <- function(thresh, ...) {
    glmnet(data$x, data$y, family = family, lambda = fit$alpha, standardize = FALSE, intercept = constant, thresh = thresh, maxit = 1e8, ...)
  }
  # Stops of its own would spare it the last strengths.
  glmnet.control(fdev = 0, devmax = 1, mnlam = 100)
  gap_of <- function(found) worst_gap(family, data, found$beta, found$lambda)
  thresholds <- as.vector(outer(c(5, 2, 1), 10^-(8:18)))
  low <- 1
  high <- length(thresholds)
  best <- suppressWarnings(gap_of(theirs(thresholds[high])))
  if (best <= 1e-6) {
    while (low < high) {
      middle <- (low + high) %/% 2
      if (suppressWarnings(gap_of(theirs(thresholds[middle]))) <= 1e-6) high <- middle else low <- middle + 1
    }
  }
  thresh <- thresholds[high]
  calls <- list(owl = ours, equal = function() theirs(thresh), default = function() theirs(1e-7))
  if (family == "gaussian" && nrow(data$x) > ncol(data$x)) {
    calls$equal_naive <- function() theirs(thresh, type.gaussian = "naive")
    calls$equal_covariance <- function() theirs(thresh, type.gaussian = "covariance")
  }
  times <- suppressWarnings(replicate(rounds, vapply(calls, cpu, 0)))
  middle <- apply(times, 1, median)
  equal <- min(middle[grep("equal", names(middle))])
  found <- theirs(1e-7)
  cat(sprintf("| %s | %.4f | %.1e | %s%.4f, %.1fx (%.0e) | %.4f, %.1fx | %.1e |\n", name, middle["owl"], gap_of(list(beta = fit$beta, lambda = fit$alpha)),
              if (best > 1e-6) sprintf("gap %.1e only: ", best) else "", equal, equal / middle["owl"], thresh, middle["default"], middle["default"] / middle["owl"], gap_of(found)))
}

cat("| problem | owl() | its gap | glmnet at gap 1e-6 (thresh) | glmnet by default | its gap |\n|---|---|---|---|---|---|\n")
for (name in strsplit(option("--problems", paste(names(problems), collapse = ",")), ",")[[1]]) {
  if (grepl("colon|duke|ribo", name) && folder == "") cat(sprintf("| %s | TYTO_DATA is not set |\n", name)) else compare(name)
}
