#include "tyto/select/by_gradients.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/pass_tuning.h"
#include "tyto/base/rounding.h"
#include "tyto/loss/rows.h"
#include "tyto/select/gradient_certificate.h"

namespace tyto {
namespace {

constexpr Index kReference = -1;  // stands for the step of a curvature

InvalidArgument unfit(const char* field, const char* got) {
  return InvalidArgument(
      fmt::format("{}: want none where rows are read in passes with gradients, got {}", field, got));
}

EstimateOptions checked(EstimateOptions options, const ColumnSet& columns, Task task) {
  validate(options, task);
  const RegressionOptions& words = options.regression;
  if (find_summed_loss(words.loss) == nullptr)
    throw InvalidArgument(fmt::format("loss: want {} where rows are read in passes, got {}",
                                      fmt::join(summed_loss_names(), ", "), words.loss));
  if (task == kCvTask)
    throw InvalidArgument(
        "cv: want squared error and fewer columns where rows are read in passes, got " +
        (words.loss == "gaussian" ? fmt::format("{} columns", columns.features()) : words.loss));
  if (!words.unpenalized.empty() || !options.unpenalized.empty()) throw unfit("unpenalized", "some");
  if (options.gamma) throw unfit("gamma", "a number");
  if (options.noise.asked()) throw unfit("sigma", "one");
  if (options.start.size() > 0) throw unfit("start", "one");
  if (columns.empty() || columns.moments.rows == 0)
    throw InvalidArgument("data: want at least one row of positive weight, got none");
  return options;
}

// Throws where the loss is not defined for these responses.
void check_responses(const std::string& loss, const std::vector<double>& responses,
                     const std::vector<double>& classes) {
  const Vector some = Vector::Map(responses.data(), std::ssize(responses));
  find_loss(loss).make({encoded(some, classes)});
}

// The linear predictor of a constant model.
double link(const std::string& loss, double mean) {
  if (loss == "binomial") return std::log(mean / (1 - mean));
  return loss == "poisson" ? std::log(mean) : mean;
}

double mean_at(const std::string& loss, double eta) {
  find_loss(loss).mean(std::span(&eta, 1));
  return eta;
}

}  // namespace

EstimateByGradients::EstimateByGradients(const ColumnSet& columns, const EstimateOptions& options, Task task)
    : options_(checked(options, columns, task)), task_(task), columns_(columns) {
  const std::string& loss = options_.regression.loss;
  quadratic_ = loss == "gaussian";
  classes_ = classes_of(loss, Vector::Map(columns_.responses.data(), std::ssize(columns_.responses)));
  check_responses(loss, columns_.responses, classes_);
  make_reference();
  make_stand_in();
  make_strengths();
  if (!quadratic_ && columns_.features() <= PassTuning().all_columns) {
    working_.resize(static_cast<std::size_t>(columns_.features()));
    std::iota(working_.begin(), working_.end(), Index{0});
    window_ = std::ssize(strengths_);
  }
  advance();
}

// The model without columns: r = y - mu is the same for all rows that have the same response.
void EstimateByGradients::make_reference() {
  const ColumnMoments& moments = columns_.moments;
  const Index p = columns_.features();
  const bool intercept = options_.regression.intercept;
  const double unit = classes_.empty() ? 1 : classes_[1] - classes_[0];
  const double low = classes_.empty() ? 0 : classes_[0];
  response_mean_ = (static_cast<double>(moments.mean[p]) - low) / unit;
  const double variance = moments.square[p] / (unit * unit);
  response_square_ =
      quadratic_ && intercept ? variance : variance + moments.weight * response_mean_ * response_mean_;
  const Means means = moments.mean.head(p);
  if (intercept && !columns_.sparse) centre_ = means.cast<double>();
  means_ = (centre_.size() > 0 ? Means(means - centre_.cast<long double>()) : means).cast<double>();
  reference_.best.beta = SparseBeta(p);
  reference_.best.constant = intercept ? link(options_.regression.loss, response_mean_) : 0;
  const double left = response_mean_ - mean_at(options_.regression.loss, reference_.best.constant);
  reference_.best.gradient = moments.product / unit;
  if (!intercept) reference_.best.gradient += moments.weight * left * means.cast<double>();
  reference_.best.residual = intercept ? 0 : moments.weight * left;
}

// p rows with the lengths of the columns, and their products with the null model's r as the response: what a
// problem has to know for penalties, strengths and margins of rounding.
void EstimateByGradients::make_stand_in() {
  const ColumnMoments& moments = columns_.moments;
  const Index p = columns_.features();
  const double each = moments.weight / static_cast<double>(p);
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x(p, p);
  x.reserve(p);
  data.response = Vector::Zero(p);
  for (Index j = 0; j < p; ++j) {
    double square = moments.square[j];
    const auto mean = static_cast<double>(moments.mean[j]);
    if (!options_.regression.intercept) square += moments.weight * mean * mean;
    x.startVec(j);
    if (!(square > 0)) continue;
    const double entry = std::sqrt(square / each);
    x.insertBack(j, j) = entry;
    data.response[j] = reference_.best.gradient[j] / (each * entry);
  }
  x.finalize();
  data.design = Design::sparse(std::move(x));
  data.names = columns_.names;
  data.response_name = columns_.response_name;
  data.origin = std::make_shared<const Origin>(Origin{moments.rows, {}, 0});
  RegressionOptions words = options_.regression;
  words.intercept = false;
  words.loss = "gaussian";
  words.observation_weights = Vector::Constant(p, each);
  estimate.regression = make_regression(data.design, data.response, words);
  const Design& design = estimate.regression.problem.design;
  for (Index j = 0; j < p; ++j) reference_.best.gradient[j] /= design.scale(j);
}

void EstimateByGradients::make_strengths() {
  const Regression& regression = estimate.regression;
  Path& path = estimate.path;
  path.alphas = {regression.alpha};
  path.alpha_max = regression.alpha_max;
  path.ratio = 1;
  if (task_ == kPathTask) {
    const Index n = columns_.moments.rows;
    path.alphas = alpha_grid(regression.alpha_max, n, columns_.features(), options_.cv.path);
    path.ratio = resolved_ratio(options_.cv.path, n, columns_.features());
  }
  for (const double alpha : path.alphas) {
    strengths_.emplace_back();
    strengths_.back().alpha = alpha;
  }
}

std::vector<Index> EstimateByGradients::pending() const {
  std::vector<Index> steps;
  for (Index k = first_; k < end_; ++k)
    if (!strengths_[static_cast<std::size_t>(k)].done) steps.push_back(k);
  return steps;
}

// Squared error: a model that was judged cannot be better before more columns are known.
std::vector<Index> EstimateByGradients::asked() const {
  if (known_.empty()) return {};
  std::vector<Index> steps = pending();
  if (quadratic_ && working_ != known_)
    std::erase_if(steps, [&](Index k) {
      const Strength& at = strengths_[static_cast<std::size_t>(k)];
      return at.judged && at.solved_on == std::ssize(known_);
    });
  return steps;
}

// At even distances among the models of a pass, the first and the last included.
std::vector<Index> EstimateByGradients::curved(Index models) const {
  if (quadratic_) return {0};
  const Index size = std::max<Index>(1, std::ssize(working_));
  const Index most = std::max<Index>(1, PassTuning().curvature_numbers / (size * size));
  const Index count = std::min({models, PassTuning().curvatures, most});
  if (count == 1) return {models / 2};
  std::vector<Index> chosen;
  for (Index k = 0; k < count; ++k) chosen.push_back(k * (models - 1) / (count - 1));
  return chosen;
}

GradientQuery EstimateByGradients::query_of(const std::vector<LocalSolution>& models) const {
  const Design& design = estimate.regression.problem.design;
  std::vector<LinearModel> linear;
  Vector constants(std::ssize(models));
  for (std::size_t k = 0; k < models.size(); ++k) {
    linear.emplace_back();
    for (SparseBeta::InnerIterator it(models[k].beta); it; ++it)
      linear.back().coefficients.emplace_back(it.index(), it.value() / design.scale(it.index()));
    constants[static_cast<Index>(k)] = models[k].constant;
  }
  EvidenceQuery places = make_query(Means::Zero(columns_.features() + 1), {}, linear);
  GradientQuery query;
  query.loss = options_.regression.loss;
  query.classes = classes_;
  query.centre = centre_;
  query.features = columns_.features();
  query.used = std::move(places.used);
  query.betas = std::move(places.betas);
  query.constants = std::move(constants);
  return query;
}

std::optional<GradientQuery> EstimateByGradients::ask() const {
  if (done_) return {};
  std::vector<LocalSolution> models;
  for (const Index k : asked()) models.push_back(strengths_[static_cast<std::size_t>(k)].trial);
  if (models.empty()) models.push_back({reference_.best.beta, reference_.best.constant});
  GradientQuery query = query_of(models);
  if (wants_curvature()) {
    query.working = working_;
    query.curved = curved(std::ssize(models));
  }
  return query;
}

void EstimateByGradients::check_same_rows(const GradientSums& sums) const {
  constexpr double kNear = 1e-9;  // far above rounding, far below a change that matters to anybody
  bool same = sums.fingerprint == columns_.fingerprint;
  for (Index j = 0; same && j < columns_.features(); ++j) {
    const auto mean = static_cast<double>(columns_.moments.mean[j]);
    const double deviation = std::sqrt(columns_.moments.square[j] / sums.weight);
    const double size = deviation + 16 * rounding::kEpsilon * std::abs(mean) / kNear;
    const double squares = columns_.moments.square[j] + sums.weight * means_[j] * means_[j];
    same = std::abs(sums.square[j] - squares) <= kNear * (squares + sums.weight * size * size);
  }
  if (!same)
    throw DataError(
        "data: want the rows that were summed before, got others: it changed between two passes; persist it");
}

void EstimateByGradients::judge(Strength& at, const GradientSums& sums, Index number, Index solved_on) {
  const Problem problem = estimate.regression.at(at.alpha).problem;
  const SummedModel model{sums,
                          number,
                          means_,
                          options_.regression.intercept,
                          response_square_,
                          static_cast<double>(columns_.moments.rows)};
  SummedPoint found = certify(problem, dense(at.trial.beta), options_.regression.loss, model);
  const Certificate& c = found.certificate;
  ++at.passes;
  at.solved_on = solved_on;
  const double slack = rounding::kLineSearch * std::abs(at.objective) + c.rounding;
  const bool better = c.primal <= at.objective + slack;
  const bool met = c.meets(options_.fit.tolerance);
  if (better || met) {
    at.best.beta = std::move(at.trial.beta);
    at.best.constant = at.trial.constant;
    at.best.gradient = std::move(found.gradient);
    at.best.residual = sums.totals(GradientSums::kResidual, number);
    at.loss = c.loss;
    at.objective = c.primal;
    at.certificate = c;
    at.share = 1;
    at.judged = true;
  } else {
    at.share *= PassTuning().shrink;
  }
  constexpr double kNoStep = 1e-6;
  constexpr Index kPatience = 60;
  const bool exact = at.judged && c.gap <= c.rounding;
  if (met)
    at.status = Status::kConverged;
  else if (!exact && at.share > kNoStep && at.passes < kPatience)
    return;
  at.done = at.judged;
}

// Those at models that were too far out say nothing about the others.
void EstimateByGradients::keep_curvatures(const GradientSums& sums, const std::vector<Index>& asked) {
  const std::vector<Index> at = curved(sums.steepest.size());
  std::vector<Curvature> found;
  for (std::size_t k = 0; k < sums.working.size(); ++k) {
    const Index step = asked.empty() ? kReference : asked[static_cast<std::size_t>(at[k])];
    const bool fit = quadratic_ || asked.empty() || strengths_[static_cast<std::size_t>(step)].share == 1;
    if (fit && sums.working[k].comoment.allFinite()) found.push_back({step, sums.working[k]});
  }
  if (found.empty()) return;  // they are asked for again
  curvatures_ = std::move(found);
  known_ = working_;
}

void EstimateByGradients::tell(const GradientSums& sums) {
  check_same_rows(sums);
  const std::vector<Index> asked = this->asked();
  const bool null = known_.empty();
  const Index solved_on = std::ssize(known_);
  if (null) {
    null_loss_ = sums.totals(GradientSums::kValue, 0);
    for (Strength& at : strengths_) at.objective = at.loss = null_loss_;
    reference_.loss = null_loss_;
  }
  for (std::size_t k = 0; k < asked.size(); ++k)
    judge(strengths_[static_cast<std::size_t>(asked[k])], sums, static_cast<Index>(k), solved_on);
  if (!sums.working.empty()) keep_curvatures(sums, asked);
  ++passes_;
  advance();
}

}  // namespace tyto
