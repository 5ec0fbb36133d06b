# Makes the data sets of the package, all of them simulated: Rscript data-raw/make.R in the folder of the package.
set.seed(20)

# 120 samples of 300 genes: eight modules of ten genes that move together, three of which carry the response.
module <- rep(c(1:8, 0), c(rep(10, 8), 220))
signal <- matrix(rnorm(120 * 8), 120)
x <- matrix(rnorm(120 * 300), 120)
for (k in 1:8) x[, module == k] <- 0.95 * signal[, k] + 0.3 * x[, module == k]
x <- round(x, 3)
colnames(x) <- sprintf("gene%03d", seq_len(300))
y <- round(as.vector(signal[, 1:3] %*% c(2.4, -1.4, 0.7) + rnorm(120)), 3)
modules <- list(x = x, y = y, module = module)
save(modules, file = "data/modules.rda", compress = "xz", version = 2)

# 240 patients of a clinic that does not exist.
n <- 240
clinic <- data.frame(
  age = round(rnorm(n, 58, 11)),
  stage = factor(sample(c("I", "II", "III"), n, TRUE, c(0.5, 0.3, 0.2))),
  smoker = factor(sample(c("no", "yes"), n, TRUE, c(0.7, 0.3)))
)
marker <- rnorm(n)
for (name in c("il6", "crp", "esr")) clinic[[name]] <- round(marker + 0.3 * rnorm(n), 3)
for (name in c("ca", "k", "na", "mg")) clinic[[name]] <- round(rnorm(n), 3)
risk <- -1 + 0.9 * marker + 0.7 * (clinic$stage == "III") + 0.03 * (clinic$age - 58)
clinic$relapse <- factor(ifelse(runif(n) < plogis(risk), "yes", "no"))
clinic$visits <- rpois(n, exp(0.4 + 0.35 * marker + 0.2 * (clinic$smoker == "yes")))
save(clinic, file = "data/clinic.rda", compress = "xz", version = 2)
