# Where the coefficients are drawn: against the strength, the norm of the coefficients, or the share of the deviance.
axis_of <- function(object, xvar) {
  switch(xvar,
    alpha = list(at = log(object$alpha), label = "log alpha"),
    norm = list(at = Matrix::colSums(abs(object$beta)), label = "L1 norm of the coefficients"),
    dev = list(at = object$dev.ratio, label = "share of the deviance explained")
  )
}

plot.owl <- function(x, xvar = c("alpha", "norm", "dev"), label = FALSE, standardized = TRUE, ...) {
  xvar <- match.arg(xvar)
  used <- which(Matrix::rowSums(x$beta != 0) > 0)
  values <- as.matrix(x$beta[used, , drop = FALSE])
  scaled <- standardized && !is.null(x$scale)
  if (scaled) values <- values * x$scale[used]
  axis <- axis_of(x, xvar)
  ends <- range(axis$at)
  if (xvar == "alpha") ends <- rev(ends)
  if (length(used) == 0) values <- matrix(0, 1, length(axis$at))
  arguments <- utils::modifyList(list(type = "l", lty = 1, xlim = ends, xlab = axis$label, col = line_colours(nrow(values)),
                                      ylab = if (scaled) "coefficients of standardised columns" else "coefficients"), list(...))
  do.call(graphics::matplot, c(list(axis$at, t(values)), arguments))
  ticks <- pretty(axis$at)
  steps <- vapply(ticks, function(at) which.min(abs(axis$at - at)), 1L)
  graphics::axis(3, at = ticks, labels = x$df[steps], tick = FALSE, line = -0.5)
  if (label && length(used) > 0) {
    graphics::text(rep(axis$at[length(axis$at)], length(used)), values[, ncol(values)], terms_of(x, used), pos = 2, cex = 0.6)
  }
  invisible(x)
}

line_colours <- function(number) grDevices::hcl.colors(max(2, number), "Dark 3")[seq_len(number)]

plot.cv_owl <- function(x, ...) {
  at <- log(x$alpha)
  arguments <- utils::modifyList(list(ylim = range(x$cvup, x$cvlo), xlim = rev(range(at)), xlab = "log alpha", ylab = x$name, pch = 20,
                                      col = "firebrick"), list(...))
  do.call(graphics::plot, c(list(at, x$cvm), arguments))
  graphics::segments(at, x$cvlo, at, x$cvup, col = "grey60")
  graphics::points(at, x$cvm, pch = 20, col = arguments$col)
  graphics::abline(v = log(c(x$alpha.best, x$alpha.1se)), lty = c(1, 3))
  invisible(x)
}

# The magnitude of each cluster at one alpha, as wide as it has members.
plot_clusters <- function(object, s = NULL, ...) {
  if (inherits(object, "cv_owl")) {
    s <- chosen_alpha(object, if (is.null(s)) "alpha.best" else s)
    object <- object$fit
  }
  table <- clusters(object, s)
  if (nrow(table) == 0) stop("plot_clusters: want an alpha with coefficients, got the empty model", call. = FALSE)
  scale <- if (is.null(object$scale)) 1 else object$scale[table$column]
  arguments <- utils::modifyList(list(names.arg = table$term, col = line_colours(max(table$cluster))[table$cluster], border = NA, las = 2,
                                      ylab = if (is.null(object$scale)) "coefficient" else "coefficient of the standardised column"), list(...))
  do.call(graphics::barplot, c(list(table$coefficient * scale), arguments))
  invisible(table)
}
