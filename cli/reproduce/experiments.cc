#include "cli/reproduce/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<Algorithm, 6> kFigure1Algorithms{{
    {"apgd", "APGD", "apgd", "none", true},
    {"apgd+seed", "APGD + Screening", "apgd", "seed", true},
    {"spgd", "SPGD", "spgd", "none", true},
    {"spgd+seed", "SPGD + Screening", "spgd", "seed", true},
    {"apgd+safe", "APGD + cumulative rule", "apgd", "safe", false},
    {"newton", "Newton (Tyto's default)", "newton", "safe", false},
}};
constexpr std::array<Algorithm, 2> kFigure2Algorithms{{
    {"spgd+seed", "the paper's rule", "spgd", "seed", true},
    {"spgd+safe", "the cumulative rule", "spgd", "safe", false},
}};
constexpr std::array<Algorithm, 5> kTable3Algorithms{kFigure1Algorithms[0], kFigure1Algorithms[1],
                                                     kFigure1Algorithms[2], kFigure1Algorithms[3],
                                                     kFigure1Algorithms[5]};
constexpr std::uint64_t kSplitSeed = 2020;

// What is left to do, in order.
std::vector<RunKey> plan(const std::string& set, int trials) {
  std::vector<RunKey> keys;
  for (int i = 1; i <= kStrengths; ++i)
    for (int trial = 1; trial <= trials; ++trial)
      for (const Algorithm& a : kFigure1Algorithms)
        keys.push_back({kFigure1, set, i, std::string(a.name), trial});
  keys.push_back({kFigure2, set, 1, "newton", 1});
  for (const Algorithm& a : kFigure2Algorithms) keys.push_back({kFigure2, set, 1, std::string(a.name), 1});
  for (const Algorithm& a : kTable3Algorithms) keys.push_back({kTable3, set, 1, std::string(a.name), 1});
  return keys;
}

RunKey first_trial(RunKey key) {
  key.trial = 1;
  return key;
}

// A run that missed the tolerance is not repeated: it would miss it again.
bool to_do(const Journal& journal, const RunKey& key) {
  if (journal.find(key) != nullptr) return false;
  const Record* first = journal.find(first_trial(key));
  return first == nullptr || first->reached();
}

double tolerance(const RunKey& key) {
  if (key.experiment == kFigure1) return kTimingTolerance;
  return key.experiment == kFigure2 && key.algorithm == "newton" ? kSupportTolerance : kAccurateTolerance;
}

Regression regression(const PaperSet& set, const Dataset& data, int strength) {
  RegressionOptions options;
  options.weights = "oscar", options.relative_to = RelativeTo::kCorrelation;
  options.strength = strength * std::exp(-set.tau);
  options.intercept = options.standardize = set.standardized;
  return make_regression(data.design, data.response, options);
}

double rmse(const Regression& fitted, const Vector& beta, const Dataset& test) {
  Vector predicted;
  test.design.multiply(fitted.coefficients(beta), predicted);
  const auto error = test.response.array() - predicted.array() - fitted.intercept(beta);
  return std::sqrt(error.square().mean());
}

std::vector<Record::Point> thinned(const Fit& fit) {
  std::vector<Record::Point> points;
  for (const TracePoint& at : fit.trace) {
    const bool last = &at == &fit.trace.back();
    if (points.empty() || points.back().active != at.active || last)
      points.push_back({at.epoch, at.gap / at.primal, at.active});
  }
  return points;
}

// The data of one set, made when the first run asks for it.
class Bench {
 public:
  Bench(const ChosenSet& chosen, Index shrink) : chosen_(chosen), shrink_(shrink) {}

  const Dataset& whole() {
    if (!whole_) whole_ = load(*chosen_.set, chosen_.files, shrink_);
    return *whole_;
  }
  const Split& split() {
    if (!split_) split_ = split_rows(whole(), kSplitSeed);
    return *split_;
  }
  const PaperSet& set() const { return *chosen_.set; }

 private:
  const ChosenSet& chosen_;
  Index shrink_;
  std::optional<Dataset> whole_;
  std::optional<Split> split_;
};

class Runner {
 public:
  Runner(const Settings& settings, Journal& journal, Progress& progress, std::vector<RunKey> all)
      : settings_(settings),
        journal_(journal),
        progress_(progress),
        all_(std::move(all)),
        solved_before_(journal.seconds()) {}

  // False if interrupted: then the run leaves no trace.
  bool run(Bench& bench, const RunKey& key) {
    const bool test = key.experiment == kTable3;
    const Dataset& data = test ? bench.split().training : bench.whole();
    const Regression fitted = regression(bench.set(), data, key.strength);
    FitOptions options = options_of(key);
    const std::optional<Fit> fit = capped_fit(fitted.problem, options, key);
    if (!fit) return false;
    Record record{.key = key, .n = data.design.rows(), .p = data.design.cols()};
    record.multiplier = key.strength * std::exp(-bench.set().tau);
    record.tolerance = options.tolerance, record.seed = options.stochastic.seed;
    record.status = fit->status == Status::kInterrupted ? "cap" : std::string(name(fit->status));
    record.cpu_seconds = fit->cpu_seconds, record.epochs = fit->epochs;
    record.gap = std::max(0.0, fit->certificate.relative_gap()), record.primal = fit->certificate.primal;
    record.screened = fit->screened, record.nonzeros = (fit->solution.beta.array() != 0).count();
    if (test) record.rmse = rmse(fitted, fit->solution.beta, bench.split().test);
    if (key.experiment == kFigure2) record.trace = thinned(*fit);
    journal_.add(std::move(record));
    return true;
  }

  // Of the runs that are left: as long as the first trial took, else as its algorithm takes on average, times
  // what a CPU second takes on this machine.
  double seconds_left() const {
    double left = 0;
    for (const RunKey& key : all_) {
      if (!to_do(journal_, key)) continue;
      const Record* first = journal_.find(first_trial(key));
      left += first != nullptr ? first->cpu_seconds : average(key.algorithm);
    }
    const double solved = journal_.seconds() - solved_before_;
    const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
    return left * (solved > 1 ? std::max(1.0, elapsed / solved) : 1);
  }

 private:
  static FitOptions options_of(const RunKey& key) {
    const Algorithm& a = algorithm(key.algorithm);
    FitOptions options;
    options.tolerance = tolerance(key), options.solver = a.solver, options.screening = a.screening;
    options.stochastic.seed = static_cast<std::uint64_t>(key.trial);
    return options;
  }

  std::optional<Fit> capped_fit(const Problem& problem, const FitOptions& options, const RunKey& key) {
    const Clock::time_point start = Clock::now();
    const std::clock_t cpu_start = std::clock();
    const std::string where = fmt::format("{} {} p_{} {}, about {} left   ", key.set, key.experiment,
                                          key.strength, key.algorithm, duration(seconds_left()));
    progress_.status(where);
    bool interrupted = false;
    Fit result = fit(problem, options, nullptr, [&](const TracePoint& at) {
      interrupted = !progress_(where, at);
      // One thread: CPU time is at most the time on the wall, which costs less to ask for.
      const bool late = std::chrono::duration<double>(Clock::now() - start).count() > settings_.cap &&
                        static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC > settings_.cap;
      return !interrupted && !late;
    });
    if (interrupted) return std::nullopt;
    return result;
  }

  double average(const std::string& algorithm_name) const {
    double sum = 0;
    int count = 0;
    for (const Record& r : journal_.records())
      if (r.key.algorithm == algorithm_name) sum += r.cpu_seconds, ++count;
    return count > 0 ? sum / count : settings_.cap / 4;
  }

  const Settings& settings_;
  Journal& journal_;
  Progress& progress_;
  std::vector<RunKey> all_;
  double solved_before_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::span<const Algorithm> figure1_algorithms() { return kFigure1Algorithms; }
std::span<const Algorithm> figure2_algorithms() { return kFigure2Algorithms; }
std::span<const Algorithm> table3_algorithms() { return kTable3Algorithms; }

const Algorithm& algorithm(std::string_view name) {
  for (const Algorithm& a : kFigure1Algorithms)
    if (a.name == name) return a;
  for (const Algorithm& a : kFigure2Algorithms)
    if (a.name == name) return a;
  throw InvalidArgument("algorithm: there is no '" + std::string(name) + "'");
}

bool run_experiments(const std::vector<ChosenSet>& sets, const Settings& settings, Journal& journal,
                     Progress& progress) {
  std::vector<RunKey> all;
  for (const ChosenSet& chosen : sets)
    for (RunKey& key : plan(std::string(chosen.set->name), settings.trials)) all.push_back(std::move(key));
  Runner runner(settings, journal, progress, all);
  for (const ChosenSet& chosen : sets) {
    Bench bench(chosen, settings.shrink);
    bool worked = false;
    for (const RunKey& key : plan(std::string(chosen.set->name), settings.trials)) {
      if (!to_do(journal, key)) continue;
      if (!runner.run(bench, key)) return false;
      worked = true;
    }
    if (worked)
      progress.note(fmt::format("{} done; about {} left", chosen.set->name, duration(runner.seconds_left())));
  }
  return true;
}

}  // namespace tyto::cli
