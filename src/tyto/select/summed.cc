#include "tyto/select/summed.h"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "tyto/base/error.h"
#include "tyto/base/rounding.h"
#include "tyto/select/evidence.h"

namespace tyto {
namespace {

constexpr const char* kChanged =
    "data: want the rows that were summed before, got others: it changed between two passes; persist it";

EstimateOptions checked(EstimateOptions options, const MomentSet& moments, Task task) {
  const std::string& loss = options.regression.loss;
  if (loss != "gaussian") throw InvalidArgument("loss: want gaussian where rows are summed, got " + loss);
  if (moments.empty()) throw InvalidArgument("moments: want at least one row, got none");
  if (task == kCvTask) {
    const ErrorMeasure measure = resolved(options.cv.error, loss);
    if (measure != ErrorMeasure::kMse && measure != ErrorMeasure::kR2)
      throw InvalidArgument(
          fmt::format("error: want mse or r2 where rows are summed, got {}", name(measure)));
    if (moments.folds.size() < 2)
      throw InvalidArgument("folds: want moments by fold for cross-validation, got those of all rows");
    if (options.cv.repeats != 1)
      throw InvalidArgument(
          fmt::format("repeats: want 1 where rows are summed by fold, got {}", options.cv.repeats));
  }
  return options;
}

}  // namespace

SummedEstimate::SummedEstimate(const MomentSet& moments, const EstimateOptions& options, Task task)
    : options_(checked(options, moments, task)),
      task_(task),
      moments_(moments.total()),
      fingerprint_(moments.fingerprint) {
  if (moments_.rows == 0) throw InvalidArgument("data: want at least one row of positive weight, got none");
  MomentSet together = moments;
  if (task != kCvTask) together.folds = {moments_};
  EstimateOptions local = options_;
  local.fit.tolerance *= 0.5;  // the rest is for what the equivalent rows are off by
  data = equivalent_rows(together, options_.regression.intercept, local.cv.given);
  options_ = completed(options_, data);
  if (task == kFitTask) {
    local.cv.given = {};
    estimate = tyto::estimate(data, local);
  } else if (task == kPathTask) {
    local.cv.given = {};
    estimate = estimate_path(data, local);
  } else {
    cv = estimate_cv(data, local);
    if (!cv.cv.complete()) return;
    for (FoldScore& score : cv.cv.scores)
      score.rows = moments.folds[static_cast<std::size_t>(score.fold)].rows;
  }
  for (Model& model : models()) model.tolerance = options_.fit.tolerance;
  pending_.resize(models().size());
  std::iota(pending_.begin(), pending_.end(), std::size_t{0});
  count_pass();
}

const Regression& SummedEstimate::regression() const {
  if (task_ != kCvTask) return estimate.regression;
  return cv.cv.curves.at(static_cast<std::size_t>(cv.cv.chosen_curve)).regression;
}

Path& SummedEstimate::path() {
  if (task_ != kCvTask) return estimate.path;
  return cv.cv.curves.at(static_cast<std::size_t>(cv.cv.chosen_curve)).path;
}

std::vector<Model>& SummedEstimate::models() { return task_ == kCvTask ? cv.models : estimate.models; }

void SummedEstimate::count_pass() {
  path().passes = static_cast<double>(passes_);
  if (task_ == kCvTask) cv.cv.passes = path().passes;
  if (task_ == kFitTask) path().steps.front().fit.passes = path().passes;
}

void SummedEstimate::took(double seconds, double cpu_seconds) {
  if (task_ == kCvTask) {
    cv.cv.seconds = seconds;
    cv.cv.cpu_seconds = cpu_seconds;
    return;
  }
  path().seconds = seconds;
  path().cpu_seconds = cpu_seconds;
  if (task_ == kPathTask) return;
  path().steps.front().fit.seconds = seconds;
  path().steps.front().fit.cpu_seconds = cpu_seconds;
}

std::optional<EvidenceQuery> SummedEstimate::ask() const {
  if (pending_.empty()) return {};
  const std::vector<Model>& all = task_ == kCvTask ? cv.models : estimate.models;
  std::vector<LinearModel> asked;
  for (const std::size_t step : pending_) asked.push_back(penalized(all[step]));
  const bool centred = options_.regression.intercept;
  const Means centre = centred ? moments_.mean : Means(Means::Zero(moments_.columns()));
  return make_query(centre, regression().free, asked);
}

void SummedEstimate::check_same_rows(const EvidenceSums& sums) const {
  if (sums.fingerprint != fingerprint_) throw DataError(kChanged);
  constexpr double kNear = 1e-9;  // far above rounding, far below a change that matters to anybody
  const bool centred = options_.regression.intercept;
  for (Index j = 0; j + 1 < moments_.columns(); ++j) {
    const auto mean = static_cast<double>(moments_.mean[j]);
    const double about = centred ? mean : 0;
    const double deviation = std::sqrt(moments_.comoment(j, j) / moments_.weight);
    const double size = deviation + 16 * rounding::kEpsilon * std::abs(mean) / kNear;
    const auto off = static_cast<double>(moments_.mean[j] - static_cast<long double>(about));
    const double squares = moments_.comoment(j, j) + moments_.weight * off * off;
    const bool same = std::abs(sums.zx(0, j) / sums.weight - off) <= kNear * (size + std::abs(off)) &&
                      std::abs(sums.xx[j] - squares) <= kNear * (squares + moments_.weight * size * size);
    if (!same) throw DataError(kChanged);
  }
}

void SummedEstimate::tell(const EvidenceSums& sums) {
  check_same_rows(sums);
  ++passes_;
  std::vector<std::size_t> missed;
  for (std::size_t k = 0; k < pending_.size(); ++k) {
    const std::size_t step = pending_[k];
    const SummedCertificate found =
        certify(regression().at(path().steps[step].alpha), models()[step], sums, static_cast<Index>(k));
    judge(step, found);
    if (path().steps[step].fit.status != Status::kStalled) continue;
    if (found.certificate.gap <= found.certificate.rounding) continue;  // nothing is left to correct
    if (passes_ >= 2 + options_.fit.tuning.moments.corrections) continue;
    correct(step, found.correlation);
    missed.push_back(step);
  }
  pending_ = std::move(missed);
  if (!pending_.empty() && options_.correlations) correlate_clusters(data, models());
  count_pass();
}

void SummedEstimate::judge(std::size_t step, const SummedCertificate& found) {
  Fit& fit = path().steps[step].fit;
  IndexSet support = std::move(fit.certificate.support);
  fit.certificate = found.certificate;
  fit.certificate.support = std::move(support);
  const bool ended = fit.status == Status::kConverged || fit.status == Status::kStalled;
  const Certificate& c = fit.certificate;
  if (c.meets(options_.fit.tolerance))
    fit.status = Status::kConverged;
  else if (ended)
    fit.status = Status::kStalled;
  Model& model = models()[step];
  model.status = name(fit.status);
  model.primal = c.primal;
  model.dual = c.dual;
  model.gap = c.gap;
  model.relative_gap = c.relative_gap();
  model.rounding = c.rounding;
}

// Xb + t with X't = `correlation`, by a factor of X'X and refinement.
Vector SummedEstimate::response_with(const Problem& problem, const Vector& beta, const Vector& correlation) {
  const Design& design = problem.design;
  if (factor_.cols() == 0) {
    IndexSet all(static_cast<std::size_t>(design.cols()));
    std::iota(all.begin(), all.end(), Index{0});
    Matrix products(design.cols(), design.cols());
    design.gram(all, products);
    const double most = products.diagonal().maxCoeff();
    for (double ridge = rounding::kFirstRidge; ridge <= rounding::kLastRidge;
         ridge *= rounding::kRidgeGrowth) {
      factor_ = products;
      factor_.diagonal().array() += ridge * most;
      if (cholesky(factor_)) break;
    }
  }
  Vector residual = Vector::Zero(design.rows());
  constexpr int kRefinements = 3;
  for (int k = 0; k < kRefinements; ++k) {
    Vector left;
    design.transpose_multiply(residual, left);
    left = correlation - left;
    cholesky_solve(factor_, left);
    Vector more;
    design.multiply(left, more);
    residual += more;
  }
  return make_iterate(problem, beta).eta + residual;
}

// The data's X'r at b is known now. The equivalent rows get a response for which their gradient at b is that
// of the data; their solution is the next b.
void SummedEstimate::correct(std::size_t step, const Vector& correlation) {
  PathStep& at = path().steps[step];
  const Regression here = regression().at(at.alpha);
  Problem problem = here.problem;
  const Vector beta = dense(at.beta);
  problem.loss = response_with(problem, beta, correlation);
  problem.at_zero = nullptr;
  problem.gram_cache = nullptr;
  Fit found = fit(problem, options_.fit, &beta);
  Model& model = models()[step];
  const Model fresh = make_model(data, model.options, here, found, options_.fit);
  model.coefficients = fresh.coefficients;
  model.intercepts = fresh.intercepts;
  at.beta = found.solution.beta.sparseView();
  at.clusters = found.clusters;
  if (at.relaxation) {
    at.relaxation->least_squares = relax(here.problem, at.beta);
    relax(model, here, *at.relaxation);
  }
  at.fit.cluster = found.cluster;
  at.fit.clusters = found.clusters;
}

}  // namespace tyto
