prox_sorted_l1 <- function(v, weights, step = 1) {
  .Call(tyto_prox, as.double(weights), as.double(v), check_number("step", step, "[0, inf)"))
}

sorted_l1_norm <- function(v, weights) .Call(tyto_norm, as.double(weights), as.double(v))

dual_sorted_l1_norm <- function(v, weights) .Call(tyto_dual_norm, as.double(weights), as.double(v))

owl_weights <- function(name, p, n = p, q = 0.1, slope = 1) {
  call_library(.Call(tyto_weights, check_word("name", name), check_whole("n", n, "[1, inf)"), check_whole("p", p, "[1, inf)"),
                     check_number("q", q, "(0, 1]"), check_number("slope", slope, "[0, inf)")))
}

alpha_max <- function(x, y, weights = "bh", ..., family = "gaussian", sample_weight = NULL, offset = NULL) {
  problem <- make_problem(x, y, list(weights = weights, family = family, ...), sample_weight, offset)
  call_library(.Call(tyto_alpha_max, problem$x, problem$y, problem$options)) / problem$size
}
