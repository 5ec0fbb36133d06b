#include "tyto/select/cv.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>

#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/parallel.h"
#include "tyto/base/stopwatch.h"
#include "tyto/math/entries.h"
#include "tyto/select/fold.h"

namespace tyto {
namespace {

constexpr Index kMostRepeats = 10'000;

// Mean over rows, and the standard error of the mean over folds. Repeats share the rows, so that they make
// the mean steadier and leave the standard error as large as that of one: the mean square over repeats. The
// errors of this gamma begin at `begin` in each score.
CvErrors average(double gamma, std::size_t begin, std::size_t steps, const std::vector<FoldScore>& scores,
                 const CrossValidation& cv) {
  CvErrors result{gamma};
  const Index folds = cv.folds, repeats = cv.repeats;
  double n = 0;
  for (const FoldScore& score : scores) n += score.weight / static_cast<double>(repeats);
  for (std::size_t k = begin; k < begin + steps; ++k) {
    std::vector<double> mean(static_cast<std::size_t>(repeats));
    for (const FoldScore& score : scores)
      mean[static_cast<std::size_t>(score.repeat)] += score.weight / n * score.errors[k];
    double squares = 0;
    for (const FoldScore& score : scores) {
      const double deviation = score.errors[k] - mean[static_cast<std::size_t>(score.repeat)];
      squares += score.weight / n * deviation * deviation;
    }
    result.error.push_back(std::accumulate(mean.begin(), mean.end(), 0.0) / static_cast<double>(repeats));
    result.standard_error.push_back(
        std::sqrt(squares / static_cast<double>(repeats) / static_cast<double>(folds - 1)));
  }
  return result;
}

// The time left, by the course of the path on all rows: how much of it was spent before each strength.
std::vector<double> time_profile(const Path& path) {
  std::vector<double> spent{0};
  for (const PathStep& step : path.steps) spent.push_back(spent.back() + step.fit.seconds + 1e-9);
  for (double& part : spent) part /= spent.back();
  return spent;
}

// One for each parameter of the weights that there is to choose from.
std::vector<RegressionOptions> shapes(const RegressionOptions& regression, const CvOptions& cv) {
  std::vector<RegressionOptions> all;
  RegressionOptions one = regression;
  if (cv.qs.size() == 1) one.q = cv.qs.front();
  if (cv.slopes.size() == 1) one.slope = cv.slopes.front();
  for (const double q : cv.qs.size() > 1 ? cv.qs : std::vector<double>()) {
    all.push_back(one);
    all.back().q = q;
  }
  for (const double slope : cv.slopes.size() > 1 ? cv.slopes : std::vector<double>()) {
    all.push_back(one);
    all.back().slope = slope;
  }
  return all.empty() ? std::vector{one} : all;
}

class Run {
 public:
  Run(const CvTask& task, const CvHooks& hooks) : task_(task), hooks_(hooks) {}

  CrossValidation operator()() {
    result_.measure = task_.measure;
    make_folds();
    fit_all_rows();
    if (result_.stopped_by == PathStop::kNone) score_folds();
    if (result_.stopped_by == PathStop::kNone) conclude();
    result_.seconds = watch_.seconds();
    result_.cpu_seconds = watch_.cpu_seconds();
    return std::move(result_);
  }

 private:
  struct Unit {
    Index shape, repeat, fold;
  };

  std::size_t units() const {
    return result_.curves.size() * static_cast<std::size_t>(result_.folds * result_.repeats);
  }

  void make_folds() {
    const CvOptions& cv = task_.cv;
    const Index n = task_.raw.rows();
    for (Index repeat = 0; repeat < cv.repeats; ++repeat)
      folds_.push_back(cv.given.empty() ? drawn_folds(cv.seed + static_cast<std::uint64_t>(repeat))
                                        : cv.given);
    result_.folds = count_folds(folds_.front(), n);
    result_.repeats = cv.repeats;
    for (const Folds& folds : folds_)
      for (Index fold = 0; fold < result_.folds; ++fold)
        if (!(task_.weights(split(folds, fold).training).sum() > 0))
          throw InvalidArgument(fmt::format(
              "folds: want rows of positive weight outside each fold, got none outside fold {}", fold));
    if (find_loss(task_.regression.loss).labels != LossRow::Labels::kNone) check_classes();
    if (task_.regression.events.size() > 0) check_events();
  }

  // Classes, or events and censored rows, are spread evenly.
  Folds drawn_folds(std::uint64_t seed) const {
    const Index n = task_.raw.rows();
    if (task_.regression.events.size() == n)
      return stratified_folds(task_.regression.events, task_.cv.folds, seed);
    const std::vector<double> classes = classes_of(task_.regression.loss, task_.response);
    if (classes.empty()) return random_folds(n, task_.cv.folds, seed);
    return stratified_folds(task_.response, task_.cv.folds, seed);
  }
  void check_events() const {
    const Vector weights = task_.weights.cwiseProduct(task_.regression.events);
    for (const Folds& folds : folds_)
      for (Index fold = 0; fold < result_.folds; ++fold)
        if (!(weights(split(folds, fold).training).sum() > 0))
          throw InvalidArgument(
              fmt::format("folds: want an event outside each fold, got none outside fold {}", fold));
  }
  void check_classes() const {
    const std::vector<double> classes = classes_of(task_.regression.loss, task_.response);
    const Vector labels = encoded(task_.response, classes);
    if (classes.size() > 2) return check_many(labels, std::ssize(classes));
    for (const Folds& folds : folds_)
      for (Index fold = 0; fold < result_.folds; ++fold) {
        const IndexSet rows = split(folds, fold).training;
        double ones = 0;
        double all = 0;
        for (const Index row : rows) {
          ones += task_.weights[row] * labels[row];
          all += task_.weights[row];
        }
        if (!(ones > 0 && ones < all))
          throw InvalidArgument(
              fmt::format("folds: want two classes outside each fold, got one outside fold {}", fold));
      }
  }

  void check_many(const Vector& labels, Index classes) const {
    for (const Folds& folds : folds_)
      for (Index fold = 0; fold < result_.folds; ++fold) {
        Vector seen = Vector::Zero(classes);
        for (const Index row : split(folds, fold).training)
          seen[static_cast<Index>(labels[row])] += task_.weights[row];
        if (!(seen.minCoeff() > 0))
          throw InvalidArgument(fmt::format(
              "folds: want rows of every class outside each fold, got none of one outside fold {}", fold));
      }
  }

  void fit_all_rows() {
    for (const RegressionOptions& words : shapes(task_.regression, task_.cv)) {
      Regression regression = make_regression(task_.raw, task_.response, words, Work(task_.fit.threads));
      result_.curves.push_back({words.q, words.slope, std::move(regression), {}});
    }
    products_.emplace(result_.curves.front().regression);  // shapes differ in their weights only
    for (CvCurve& curve : result_.curves) {
      Regression regression = curve.regression;
      regression.problem.gram_cache = products_->cache();
      curve.path = fit_path(regression, task_.cv.path, limited(task_.fit.threads), [&](const auto&) {
        return !hooks_.progress || hooks_.progress({0, static_cast<Index>(units()), watch_.seconds(), -1});
      });
      result_.passes += curve.path.passes;
      const PathStop stop = curve.path.stopped_by;
      if (stop == PathStop::kInterrupted || stop == PathStop::kMaxSeconds) result_.stopped_by = stop;
      if (result_.stopped_by != PathStop::kNone) return;
      profiles_.push_back(time_profile(curve.path));
    }
    products_->complete(Work(task_.fit.threads));
  }

  FitOptions limited(int threads) const {
    FitOptions options = task_.fit;
    options.threads = threads;
    options.max_seconds = std::max(0.0, task_.fit.max_seconds - watch_.seconds());
    return options;
  }

  void score_folds() {
    std::vector<Unit> todo;
    for (Index shape = 0; shape < std::ssize(result_.curves); ++shape)
      for (Index repeat = 0; repeat < result_.repeats; ++repeat)
        for (Index fold = 0; fold < result_.folds; ++fold)
          if (!take_over({shape, repeat, fold})) todo.push_back({shape, repeat, fold});
    parts_.assign(todo.size(), 0);
    folds_start_ = watch_.seconds();
    const Index count = std::ssize(todo);
    const int threads = task_.fit.threads;
    const int each =
        std::max(1, threads / static_cast<int>(std::max<Index>(1, std::min<Index>(count, threads))));
    parallel_for(count, threads, [&](Index k) {
      if (!stopped_) score(todo[static_cast<std::size_t>(k)], static_cast<std::size_t>(k), each);
    });
    std::ranges::sort(result_.scores, {},
                      [](const FoldScore& s) { return std::tuple(s.shape, s.repeat, s.fold); });
    for (const FoldScore& score : result_.scores) result_.passes += score.passes;
    if (result_.scores.size() == units())
      result_.stopped_by = PathStop::kNone;
    else if (result_.stopped_by == PathStop::kNone)
      result_.stopped_by = PathStop::kMaxSeconds;
  }

  bool take_over(const Unit& unit) {
    const auto known = std::ranges::find_if(hooks_.finished, [&](const FoldScore& s) {
      return s.shape == unit.shape && s.repeat == unit.repeat && s.fold == unit.fold;
    });
    if (known == hooks_.finished.end()) return false;
    const std::size_t steps = result_.curves[static_cast<std::size_t>(unit.shape)].path.steps.size();
    const std::size_t errors = steps * task_.gammas.size();
    if (known->errors.size() != errors || known->relative_gaps.size() != steps ||
        known->statuses.size() != steps)
      throw InvalidArgument(
          fmt::format("finished folds: want {} errors in each, got {}", errors, known->errors.size()));
    result_.scores.push_back(*known);
    return true;
  }

  void score(const Unit& unit, std::size_t k, int threads) {
    const auto shape = static_cast<std::size_t>(unit.shape);
    const std::vector<double>& profile = profiles_[shape];
    const FitOptions options = limited(threads);
    const auto watch = [&](const PathProgress& at) {
      return report(k, profile[static_cast<std::size_t>(at.step)]);
    };
    const Split rows = split(folds_[static_cast<std::size_t>(unit.repeat)], unit.fold);
    FoldScore score = run_fold(task_, result_.curves[shape], *products_, rows, options, watch);
    score.shape = unit.shape;
    score.repeat = unit.repeat;
    score.fold = unit.fold;
    if (score.errors.empty()) {
      stopped_ = true;
      return;
    }
    report(k, 1);
    const std::lock_guard lock(mutex_);
    if (hooks_.fold_finished) hooks_.fold_finished(score);
    result_.scores.push_back(std::move(score));
  }

  // Part of a fold is done; false: stop.
  bool report(std::size_t k, double part) {
    const std::lock_guard lock(mutex_);
    parts_[k] = part;
    const double done = std::accumulate(parts_.begin(), parts_.end(), 0.0),
                 spent = watch_.seconds() - folds_start_;
    const double left = done > 0 ? spent * (static_cast<double>(parts_.size()) - done) / done : -1;
    const CvProgress at{std::ssize(result_.scores), static_cast<Index>(units()), watch_.seconds(), left};
    if (hooks_.progress && !hooks_.progress(at)) {
      stopped_ = true;
      result_.stopped_by = PathStop::kInterrupted;
    }
    return !stopped_;
  }

  void conclude() {
    const double sign = larger_is_better(result_.measure) ? -1 : 1;
    double least = std::numeric_limits<double>::infinity();  // of all curves
    auto next = result_.scores.begin();
    for (Index c = 0; c < std::ssize(result_.curves); ++c) {
      CvCurve& curve = result_.curves[static_cast<std::size_t>(c)];
      const auto end = next + result_.folds * result_.repeats;
      const std::vector<FoldScore> scores(next, end);
      next = end;
      double least_here = std::numeric_limits<double>::infinity();
      const std::size_t steps = curve.path.steps.size();
      for (const double gamma : task_.gammas) {
        curve.by_gamma.push_back(average(gamma, curve.by_gamma.size() * steps, steps, scores, result_));
        const CvErrors& found = curve.by_gamma.back();
        const CvChoice choice = choose(found.error, found.standard_error, result_.measure);
        const double error = sign * found.error[static_cast<std::size_t>(choice.best)];
        if (error < least_here) {
          least_here = error;
          curve.gamma = gamma;
          curve.error = found.error;
          curve.standard_error = found.standard_error;
        }
        if (error < least) {
          least = error;
          result_.chosen_curve = c;
          result_.best = choice.best;
          result_.one_se = choice.one_se;
        }
      }
    }
    if (task_.cv.gammas.empty()) return;
    CvCurve& chosen = result_.curves[static_cast<std::size_t>(result_.chosen_curve)];
    relax(chosen.regression, chosen.gamma, chosen.path, Work(task_.fit.threads));
  }

  const CvTask& task_;
  const CvHooks& hooks_;
  Stopwatch watch_;
  CrossValidation result_;
  std::vector<Folds> folds_;                   // of each repeat
  std::vector<std::vector<double>> profiles_;  // of each curve
  std::optional<FoldProducts> products_;
  double folds_start_ = 0;
  std::mutex mutex_;  // guards what follows, and the result
  std::vector<double> parts_;
  std::atomic<bool> stopped_ = false;
};

double variance(const Vector& y, const Vector& weights) {
  const Vector counted = y(nonzero_entries(weights));
  if (counted.size() == 0 || counted.minCoeff() == counted.maxCoeff()) return 0;
  const double total = weights.sum(), mean = weights.dot(y) / total;
  return weights.dot((y.array() - mean).square().matrix()) / total;
}

}  // namespace

void validate(const CvOptions& options) {
  validate(options.path);
  if (options.given.empty() && options.folds < 2)
    throw InvalidArgument(fmt::format("folds: want a number >= 2, got {}", options.folds));
  if (options.repeats < 1)
    throw InvalidArgument(fmt::format("repeats: want a number >= 1, got {}", options.repeats));
  if (options.repeats > kMostRepeats)
    throw InvalidArgument(fmt::format("repeats: want at most {}, got {}", kMostRepeats, options.repeats));
  if (!options.given.empty() && options.repeats > 1)
    throw InvalidArgument(fmt::format("repeats: want 1 where the folds are given, got {}", options.repeats));
  const auto want_once = [](const char* field, const std::vector<double>& numbers) {
    for (const double number : numbers)
      if (std::ranges::count(numbers, number) > 1)
        throw InvalidArgument(fmt::format("{}: want each number once, got {} twice", field, number));
  };
  for (const double gamma : options.gammas) validate_gamma(gamma, false);
  want_once("q", options.qs);
  want_once("slope", options.slopes);
  want_once("gamma", options.gammas);
}

CrossValidation cross_validate(const Design& raw, const Vector& response, const RegressionOptions& regression,
                               const CvOptions& cv, const FitOptions& options, const CvHooks& hooks) {
  validate(cv);
  validate(options);
  for (const double gamma : cv.gammas) validate_gamma(gamma, regression.nonnegative);
  if (!cv.gammas.empty() && regression.loss != "gaussian") throw no_relaxed_fit(regression.loss);
  if (cv.qs.size() > 1 && (regression.weight_values.size() > 0 ||
                           (regression.weights != "bh" && regression.weights != "gaussian")))
    throw InvalidArgument("q: want one number where the weights are not bh or gaussian, got several");
  if (cv.slopes.size() > 1 && (regression.weight_values.size() > 0 || regression.weights != "oscar"))
    throw InvalidArgument("slope: want one number where the weights are not oscar, got several");
  if (response.size() != raw.rows())
    throw InvalidArgument(fmt::format("response: want {} numbers, got {}", raw.rows(), response.size()));
  const Vector& given = regression.observation_weights;
  const Vector weights = given.size() > 0 ? given : Vector::Ones(raw.rows());
  if (weights.size() != raw.rows())
    throw InvalidArgument(
        fmt::format("observation-weights: want {} numbers, got {}", raw.rows(), weights.size()));
  if (regression.events.size() > 0 && regression.events.size() != raw.rows())
    throw InvalidArgument(fmt::format("event: want {} numbers, one for each row, got {}", raw.rows(),
                                      regression.events.size()));
  const std::vector<double> gammas = cv.gammas.empty() ? std::vector<double>{1} : cv.gammas;
  const ErrorMeasure measure = resolved(cv.error, regression.loss);
  const CvTask task{raw,     response, regression, cv, options, weights, variance(response, weights),
                    measure, gammas,   hooks};
  if (measure == ErrorMeasure::kR2 && !(task.variance > 0))
    throw InvalidArgument("error: want mse or mae where the response is constant, got r2");
  return Run(task, hooks)();
}

}  // namespace tyto
