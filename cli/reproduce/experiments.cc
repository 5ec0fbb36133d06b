#include "cli/reproduce/experiments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

#include "cli/reproduce/tuning.h"
#include "tyto/base/error.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<Algorithm, 10> kFigure1Algorithms{{
    {"published apgd", "APGD, published", "apgd", "none", "published", true},
    {"published apgd+seed", "APGD + Screening, published", "apgd", "seed", "published", true},
    {"published spgd", "SPGD, published", "spgd", "none", "published", true},
    {"published spgd+seed", "SPGD + Screening, published", "spgd", "seed", "published", true},
    {"apgd", "APGD, ours", "apgd", "none", "tyto", false},
    {"apgd+seed", "APGD + Screening, ours", "apgd", "seed", "tyto", false},
    {"spgd", "SPGD, ours", "spgd", "none", "tyto", false},
    {"spgd+seed", "SPGD + Screening, ours", "spgd", "seed", "tyto", false},
    {"apgd+safe", "APGD + cumulative rule", "apgd", "safe", "tyto", false},
    {"newton", "Newton (Tyto's default)", "newton", "safe", "tyto", false},
}};
constexpr std::array<Algorithm, 3> kFigure2Algorithms{{
    {"published spgd+seed", "published SPGD, the paper's rule", "spgd", "seed", "published", true},
    {"published spgd+safe", "published SPGD, the cumulative rule", "spgd", "safe", "published", false},
    {"spgd+seed", "our SPGD, the paper's rule", "spgd", "seed", "tyto", false},
}};
constexpr std::array<Algorithm, 5> kTable3Algorithms{kFigure1Algorithms[4], kFigure1Algorithms[5],
                                                     kFigure1Algorithms[6], kFigure1Algorithms[7],
                                                     kFigure1Algorithms[9]};
constexpr Algorithm kPrintedApgd{
    "printed apgd+seed", "APGD + Screening, printed", "apgd", "seed", "printed", false};
constexpr std::array<std::string_view, 5> kWarmStarts{"1.1", "1e-2", "1e-3", "1e-4", "1e-5"};
constexpr std::uint64_t kSplitSeed = 2020;

// What there is to do for a set, in order, but for the grid search.
std::vector<RunKey> plan(const std::string& set, int trials) {
  std::vector<RunKey> keys;
  for (int i = 1; i <= kStrengths; ++i)
    for (int trial = 1; trial <= trials; ++trial)
      for (const Algorithm& a : kFigure1Algorithms)
        keys.push_back({kFigure1, set, i, std::string(a.name), trial});
  keys.push_back({kFigure2, set, 1, "newton", 1});
  for (const Algorithm& a : kFigure2Algorithms) keys.push_back({kFigure2, set, 1, std::string(a.name), 1});
  keys.push_back({kReset, set, 1, std::string(kPrintedApgd.name), 1});
  keys.push_back({kStop, set, 1, "published apgd+seed", 1});
  for (const std::string_view start : kWarmStarts)
    for (const char* name : {"apgd+seed", "apgd+safe"})
      keys.push_back({kWarm, set, 1, name, 1, std::string(start)});
  for (int split = 1; split <= std::min(kSplits, trials); ++split)
    for (const Algorithm& a : kTable3Algorithms)
      keys.push_back({kTable3, set, 1, std::string(a.name), split});
  return keys;
}

RunKey first_trial(RunKey key) {
  key.trial = 1;
  return key;
}

// A run that missed the tolerance is not repeated: it would miss it again. One that takes long is repeated
// once.
bool to_do(const Journal& journal, const RunKey& key) {
  if (journal.find(key) != nullptr) return false;
  const Record* first = journal.find(first_trial(key));
  if (first == nullptr || key.experiment == kTable3) return first == nullptr || first->reached();
  return first->reached() && (first->cpu_seconds <= kLongRun || key.trial <= kLongTrials);
}

double tolerance(const RunKey& key) {
  if (key.experiment == kFigure1 || key.experiment == kTune || key.experiment == kReset)
    return kTimingTolerance;
  return key.experiment == kFigure2 && key.algorithm == "newton" ? kSupportTolerance : kAccurateTolerance;
}

Regression regression(const PaperSet& set, const Dataset& data, int strength) {
  RegressionOptions options;
  options.weights = "oscar";
  options.relative_to = RelativeTo::kCorrelation;
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
  const Split& split(int number) {
    if (!split_ || split_number_ != number)
      split_ = split_rows(whole(), kSplitSeed + static_cast<std::uint64_t>(number) - 1);
    split_number_ = number;
    return *split_;
  }
  const PaperSet& set() const { return *chosen_.set; }

 private:
  const ChosenSet& chosen_;
  Index shrink_;
  std::optional<Dataset> whole_;
  std::optional<Split> split_;
  int split_number_ = 0;
};

class Runner {
 public:
  Runner(const Settings& settings, Journal& journal, Progress& progress, std::vector<RunKey> all)
      : settings_(settings),
        journal_(journal),
        progress_(progress),
        all_(std::move(all)),
        solved_before_(journal.seconds()) {}

  // False if interrupted: then the run leaves no trace. `cap`: of this run, if it has one of its own.
  bool run(Bench& bench, const RunKey& key, const StochasticOptions* setting = nullptr, double cap = 0) {
    const bool test = key.experiment == kTable3;
    const Dataset& data = test ? bench.split(key.trial).training : bench.whole();
    const Regression fitted = regression(bench.set(), data, key.strength);
    FitOptions options = options_of(key);
    options.stochastic.seed = static_cast<std::uint64_t>(key.trial);
    if (setting != nullptr) {
      options.stochastic = *setting;
      options.stochastic.seed = static_cast<std::uint64_t>(key.trial);
    }
    Vector start;
    if (key.experiment == kWarm) {
      start = warm_start(fitted.problem, key.setting);
      options.max_epochs = 1;
    }
    const std::optional<Fit> fit = capped_fit(
        fitted.problem, options, key, {cap > 0 ? cap : settings_.cap, start.size() > 0 ? &start : nullptr});
    if (!fit) return false;
    Record record = record_of(*fit, key, options, bench.set());
    record.n = data.design.rows();
    record.p = data.design.cols();
    if (test) record.rmse = rmse(fitted, fit->solution.beta, bench.split(key.trial).test);
    journal_.add(std::move(record));
    return true;
  }

  // The grid search of a set, as far as the journal does not have it; false if interrupted.
  bool tune(Bench& bench) {
    const std::string set(bench.set().name);
    while (const auto next = next_tuning_run(journal_, set, settings_.cap))
      if (!run(bench, next->key, &next->setting, next->cap)) return false;
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
  FitOptions options_of(const RunKey& key) const {
    const Algorithm& a = algorithm(key.algorithm);
    FitOptions options;
    options.tolerance = tolerance(key);
    options.solver = a.solver;
    options.screening = a.screening;
    options.variant = a.variant;
    if (const auto found = tuned(journal_, key.set); found && a.published_spgd())
      options.stochastic = found->setting;
    return options;
  }

  static Record record_of(const Fit& fit, const RunKey& key, const FitOptions& options, const PaperSet& set) {
    Record record{.key = key};
    record.multiplier = key.strength * std::exp(-set.tau);
    record.tolerance = options.tolerance;
    record.seed = options.stochastic.seed;
    record.status = fit.status == Status::kInterrupted ? "cap" : std::string(name(fit.status));
    record.cpu_seconds = fit.cpu_seconds;
    record.epochs = fit.epochs;
    record.gap = std::max(0.0, fit.certificate.relative_gap());
    record.primal = fit.certificate.primal;
    record.screened = fit.screened;
    record.nonzeros = (fit.solution.beta.array() != 0).count();
    record.published_epoch = fit.published_stop;
    if (fit.published_stop >= 0) {
      const TracePoint& at = fit.trace[static_cast<std::size_t>(fit.published_stop)];
      record.published_gap = std::max(0.0, at.gap / at.primal);
    }
    if (key.experiment == kFigure2 || key.experiment == kWarm) record.trace = thinned(fit);
    return record;
  }

  // The first point at most so far from the solution that APGD comes to, or the solution at a larger
  // strength.
  static Vector warm_start(const Problem& problem, const std::string& start) {
    if (start == kWarmStarts.front()) {
      Problem larger = problem;
      larger.at_zero = nullptr;
      larger.penalty = problem.penalty.scaled(kLargerStrength);
      return fit(larger, {.tolerance = kAccurateTolerance}).solution.beta;
    }
    return fit(problem, {.tolerance = std::stod(start), .solver = "apgd", .screening = "none"}).solution.beta;
  }

  struct Way {
    double cap;
    const Vector* start;
  };
  std::optional<Fit> capped_fit(const Problem& problem, const FitOptions& options, const RunKey& key,
                                const Way& way) {
    const Clock::time_point start = Clock::now();
    const std::clock_t cpu_start = std::clock();
    const std::string where = fmt::format("{} {} p_{} {}, about {} left   ", key.set, key.experiment,
                                          key.strength, key.algorithm, duration(seconds_left()));
    progress_.status(where);
    bool interrupted = false;
    Fit result = fit(problem, options, way.start, [&](const TracePoint& at) {
      interrupted = !progress_(where, at);
      // One thread: CPU time is at most the time on the wall, which costs less to ask for.
      const bool late = std::chrono::duration<double>(Clock::now() - start).count() > way.cap &&
                        static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC > way.cap;
      return !interrupted && !late;
    });
    if (interrupted) return std::nullopt;
    return result;
  }

  double average(const std::string& algorithm_name) const {
    double sum = 0;
    int count = 0;
    for (const Record& r : journal_.records())
      if (r.key.algorithm == algorithm_name) {
        sum += r.cpu_seconds;
        ++count;
      }
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
std::span<const std::string_view> warm_starts() { return kWarmStarts; }

const Algorithm& algorithm(std::string_view name) {
  for (const Algorithm& a : kFigure1Algorithms)
    if (a.name == name) return a;
  for (const Algorithm& a : kFigure2Algorithms)
    if (a.name == name) return a;
  if (kPrintedApgd.name == name) return kPrintedApgd;
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
    if (settings.tune && !runner.tune(bench)) return false;
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
