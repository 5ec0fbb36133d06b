#include "tyto/select/fold.h"

#include <algorithm>
#include <functional>
#include <span>

#include "tyto/base/error.h"

namespace tyto {
namespace {

using Coefficients = SparseBeta::InnerIterator;

// Some columns in the rows that predictions are for. Of data that is not in memory only these are.
using RowsToPredict = std::function<Design(const IndexSet& columns)>;

// One column for each of the models; of several classes, as many as these.
Eigen::MatrixXd predicted(const Regression& regression, std::span<const SparseBeta> betas,
                          const RowsToPredict& rows) {
  const Index classes = regression.predictors;
  std::vector<DataScale> models;
  IndexSet columns;
  for (const SparseBeta& beta : betas) {
    models.push_back(regression.on_data_scale(beta));
    for (Coefficients it(models.back().coefficients); it; ++it) columns.push_back(it.index() / classes);
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  const auto count = static_cast<Index>(betas.size());
  Eigen::MatrixXd some = Eigen::MatrixXd::Zero(std::ssize(columns), count * classes), prediction;
  Eigen::RowVectorXd intercepts(count * classes);
  for (Index k = 0; k < count; ++k) {
    const DataScale& model = models[static_cast<std::size_t>(k)];
    intercepts.segment(k * classes, classes) = model.intercepts;
    for (Coefficients it(model.coefficients); it; ++it) {
      const auto place = std::ranges::lower_bound(columns, it.index() / classes) - columns.begin();
      some(place, k * classes + it.index() % classes) = it.value();
    }
  }
  rows(columns).multiply(some, prediction);
  return prediction.rowwise() + intercepts;
}

// The coefficients of each step of a path, and those by least squares on its pattern, if they are wanted.
struct Ends {
  std::vector<SparseBeta> penalized, relaxed;
};
Ends ends(const CvTask& task, const Regression& regression, const Path& path) {
  const bool relaxes = std::ranges::any_of(task.gammas, [](double gamma) { return gamma != 1; });
  Ends both;
  for (const PathStep& step : path.steps) {
    both.penalized.push_back(step.beta);
    if (relaxes) both.relaxed.push_back(relax(regression.problem, step.beta).beta);
  }
  return both;
}

// What the hook makes of these models.
std::vector<double> errors_by_hook(const CvTask& task, const Regression& regression, const Ends& both,
                                   std::span<const Index> held_out) {
  FoldModels fold{{held_out.begin(), held_out.end()}, {}};
  for (const double gamma : task.gammas)
    for (std::size_t k = 0; k < both.penalized.size(); ++k)
      fold.models.push_back(regression.on_data_scale(
          gamma == 1 ? both.penalized[k] : mixed(both.penalized[k], both.relaxed[k], gamma)));
  std::vector<double> found = task.hooks.score(fold);
  if (found.size() != fold.models.size()) throw InvalidArgument("score: want one number for each model");
  return found;
}

bool is_survival(const CvTask& task) { return task.regression.loss == "cox"; }

// The rows held out; of times to an event all, with weights that say which are held out.
HeldOut rows_to_score(const CvTask& task, const Regression& regression, std::span<const Index> held_out) {
  if (!is_survival(task))
    return {*regression.problem.loss, encoded(task.response(held_out), regression.classes),
            task.weights(held_out), task.variance};
  HeldOut rows{*regression.problem.loss, task.response, Vector::Zero(task.weights.size()), task.variance};
  rows.weights(held_out) = task.weights(held_out);
  rows.others = task.weights - rows.weights;
  rows.events = task.regression.events;
  if (rows.events.size() == 0) rows.events.setOnes(task.response.size());
  return rows;
}

// What each step of a path scores on the rows held out, for each gamma; a few steps at a time, so that memory
// is bounded.
std::vector<double> errors(const CvTask& task, const Regression& regression, const Path& path,
                           const RowsToPredict& rows, std::span<const Index> held_out) {
  const Ends both = ends(task, regression, path);
  if (task.hooks.score) return errors_by_hook(task, regression, both, held_out);
  const bool relaxes = !both.relaxed.empty();
  const bool all = is_survival(task);
  const Index count_of_rows = all ? task.raw.rows() : std::ssize(held_out);
  const Vector& offset = task.regression.offset;
  const HeldOut truth = rows_to_score(task, regression, held_out);
  const std::size_t steps = path.steps.size(), each = static_cast<std::size_t>(regression.predictors),
                    most = std::max<std::size_t>(
                        1, (std::size_t{1} << 22) / (static_cast<std::size_t>(count_of_rows) * each));
  const std::vector<double> asked = task.gammas;
  std::vector<double> result(steps * asked.size());
  for (std::size_t begin = 0; begin < steps; begin += most) {
    const std::size_t count = std::min(most, steps - begin);
    const Eigen::MatrixXd tight =
        predicted(regression, std::span(both.penalized).subspan(begin, count), rows);
    const Eigen::MatrixXd loose =
        relaxes ? predicted(regression, std::span(both.relaxed).subspan(begin, count), rows) : tight;
    for (std::size_t g = 0; g < asked.size(); ++g)
      for (std::size_t k = 0; k < count; ++k) {
        const auto first = static_cast<Index>(k * each);
        Eigen::MatrixXd predictor = tight.middleCols(first, regression.predictors);
        if (asked[g] != 1) predictor -= (1 - asked[g]) * (tight.col(first) - loose.col(first));
        if (offset.size() > 0) predictor += all ? offset : Vector(offset(held_out));
        result[g * steps + begin + k] = score(task.measure, truth, predictor);
      }
  }
  return result;
}

}  // namespace

FoldScore run_fold(const CvTask& task, const CvCurve& curve, const FoldProducts& products, const Split& rows,
                   const FitOptions& options, const PathObserver& observer) {
  RegressionOptions words = task.regression;
  words.weight_values = curve.regression.shape.weights();
  words.origin = nullptr;  // predictions are for the rows as they are here
  words.observation_weights = task.weights;
  words.observation_weights(rows.held_out).setZero();
  const double share = words.observation_weights.sum() / task.weights.sum();
  words.ridge *= share;
  const Regression regression = make_regression(task.raw, task.response, words);
  std::vector<double> alphas;
  for (const PathStep& step : curve.path.steps) alphas.push_back(share * step.alpha);
  const bool slow = task.raw.is_slow();
  const Design held_out = slow ? task.raw : task.raw.take_rows(rows.held_out);
  Problem unit = regression.problem;
  unit.penalty = regression.shape;
  if (!slow) unit.gram_cache = products.known_to(unit.design, held_out, task.weights(rows.held_out));
  const Path path = fit_path(unit, alphas, {}, options, observer);

  FoldScore score;
  score.rows = std::ssize(rows.held_out);
  score.weight = task.weights(rows.held_out).sum();
  score.passes = path.passes;
  if (path.stopped_by != PathStop::kNone) return score;
  const auto rows_to_predict = [&](const IndexSet& columns) {
    if (is_survival(task)) return task.raw.select(columns);
    return slow ? task.raw.gather(columns).take_rows(rows.held_out) : held_out.select(columns);
  };
  score.errors = errors(task, regression, path, rows_to_predict, rows.held_out);
  for (const PathStep& step : path.steps) {
    const Certificate& c = step.fit.certificate;
    const double bound = std::max(c.gap, 0.0) + c.rounding;  // what the tolerance is compared with
    score.relative_gaps.push_back(c.primal > 0 ? bound / c.primal : bound);
    score.statuses.push_back(step.fit.status);
  }
  return score;
}

}  // namespace tyto
