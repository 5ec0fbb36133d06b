# Methods for the generics of package generics (broom's, too) and ggplot2, registered when those are loaded.

tidy.owl <- function(x, return_zeros = FALSE, ...) {
  beta <- x$beta
  step <- as.integer(column_of(beta))
  table <- data.frame(term = terms_of(x, beta@i + 1L), step = step, alpha = x$alpha[step], estimate = beta@x, cluster = x$cluster)
  if (x$stated$setting$options$intercept) {
    steps <- seq_along(x$alpha)
    table <- rbind(data.frame(term = "(Intercept)", step = steps, alpha = x$alpha, estimate = unname(x$a0), cluster = 0L), table)
  }
  if (return_zeros) table <- with_zeros(x, table)
  table <- table[order(table$step), ]
  rownames(table) <- NULL
  table
}

with_zeros <- function(x, table) {
  all <- expand.grid(term = terms_of(x, seq_len(nrow(x$beta))), step = seq_along(x$alpha), stringsAsFactors = FALSE)
  all <- all[!paste(all$term, all$step) %in% paste(table$term, table$step), ]
  rbind(table, data.frame(all, alpha = x$alpha[all$step], estimate = rep(0, nrow(all)), cluster = rep(0L, nrow(all))))
}

tidy.cv_owl <- function(x, ...) {
  data.frame(alpha = x$alpha, estimate = x$cvm, std.error = x$cvsd, conf.low = x$cvlo, conf.high = x$cvup, nzero = x$nzero)
}

glance.owl <- function(x, ...) {
  data.frame(nulldev = x$nulldev, npasses = x$passes, nobs = x$nobs, nalpha = length(x$alpha), worst_gap = max(x$certificate$relative_gap),
             converged = all(x$certificate$status == "converged"))
}

glance.cv_owl <- function(x, ...) {
  data.frame(alpha.best = x$alpha.best, alpha.1se = x$alpha.1se, measure = x$measure, error = x$cvm[x$index["best"]], nobs = x$fit$nobs,
             q = x$q, slope = x$slope, gamma = x$gamma, row.names = NULL)
}

augment.owl <- function(x, data = NULL, newdata = data, s = NULL, ...) {
  if (is.null(newdata)) stop("augment: want rows, as data = or newdata =", call. = FALSE)
  fitted <- predict(x, newdata, s = one_alpha(x, s))[, 1]
  frame <- if (is.data.frame(newdata)) newdata else as.data.frame(as.matrix(newdata))
  frame$.fitted <- unname(fitted)
  frame
}

augment.cv_owl <- function(x, data = NULL, newdata = data, s = "alpha.best", ...) {
  augment.owl(x$fit, newdata = newdata, s = chosen_alpha(x, s))
}

autoplot.owl <- function(object, ...) {
  table <- tidy.owl(object, return_zeros = FALSE)
  table <- table[table$term != "(Intercept)", ]
  scale <- object$scale
  if (!is.null(scale)) table$estimate <- table$estimate * scale[match(table$term, terms_of(object, seq_along(scale)))]
  ggplot2::ggplot(table, ggplot2::aes(x = log(.data$alpha), y = .data$estimate, colour = .data$term)) +
    ggplot2::geom_line(show.legend = FALSE) + ggplot2::scale_x_reverse() +
    ggplot2::labs(x = "log alpha", y = if (is.null(scale)) "coefficients" else "coefficients of standardised columns")
}

autoplot.cv_owl <- function(object, ...) {
  table <- tidy.cv_owl(object)
  ggplot2::ggplot(table, ggplot2::aes(x = log(.data$alpha), y = .data$estimate)) +
    ggplot2::geom_pointrange(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), size = 0.2) +
    ggplot2::geom_vline(xintercept = log(c(object$alpha.best, object$alpha.1se)), linetype = c(1, 3)) + ggplot2::scale_x_reverse() +
    ggplot2::labs(x = "log alpha", y = object$name)
}
utils::globalVariables(".data")
