#include "cli/reproduce/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/reproduce/experiments.h"
#include "tyto/data/text.h"

namespace tyto::cli {

std::optional<Timing> timing(const Journal& journal, std::string_view set, int strength,
                             std::string_view algorithm_name) {
  std::vector<double> seconds;
  Timing result;
  for (const Record& r : journal.records()) {
    const RunKey& key = r.key;
    if (key.experiment != kFigure1 || key.set != set || key.strength != strength ||
        key.algorithm != algorithm_name)
      continue;
    seconds.push_back(r.cpu_seconds);
    result.reached = result.reached && r.reached();
    result.gap = std::max(result.gap, r.gap);
  }
  if (seconds.empty()) return std::nullopt;
  result.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  result.least = std::ranges::min(seconds);
  result.most = std::ranges::max(seconds);
  return result;
}

Gain gain(const Timing& slow, const Timing& fast) {
  const Gain::Kind kind = slow.reached   ? (fast.reached ? Gain::kExact : Gain::kAtMost)
                          : fast.reached ? Gain::kAtLeast
                                         : Gain::kUnknown;
  return {slow.mean / fast.mean, kind};
}

std::string ratio_text(double ratio) {
  return ratio < 10 ? fmt::format("{:.2g}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string text(const Gain& g) {
  if (g.kind == Gain::kUnknown) return "unknown";
  return (g.kind == Gain::kAtLeast ? ">= " : g.kind == Gain::kAtMost ? "<= " : "") + ratio_text(g.ratio);
}

std::string seconds_text(const Timing& t) {
  return t.reached ? fmt::format("{:.2g} s ({:.2g} to {:.2g})", t.mean, t.least, t.most)
                   : fmt::format("not in {:.3g} s (gap {})", t.most, short_gap(t.gap));
}

std::optional<ScreeningCurve> screening_curve(const Journal& journal, std::string_view set,
                                              std::string_view algorithm_name) {
  const Record* accurate = journal.find({kFigure2, std::string(set), 1, "newton", 1});
  const Record* run = journal.find({kFigure2, std::string(set), 1, std::string(algorithm_name), 1});
  if (accurate == nullptr || run == nullptr) return std::nullopt;
  return ScreeningCurve{.columns = run->p,
                        .inactive = accurate->p - accurate->nonzeros,
                        .points = run->trace,
                        .end_epoch = run->epochs,
                        .end_gap = run->gap,
                        .reached = run->reached()};
}

const Record* table3_record(const Journal& journal, std::string_view set, std::string_view algorithm_name,
                            int split) {
  return journal.find({kTable3, std::string(set), 1, std::string(algorithm_name), split});
}

Errors errors(const Journal& journal, std::string_view set, std::string_view algorithm_name) {
  Errors result;
  double squares = 0;
  for (int split = 1; split <= kSplits; ++split) {
    const Record* r = table3_record(journal, set, algorithm_name, split);
    if (r == nullptr) continue;
    if (!r->reached()) {
      ++result.missed;
      continue;
    }
    ++result.splits;
    result.mean += r->rmse;
    squares += r->rmse * r->rmse;
  }
  if (result.splits == 0) return result;
  const double count = result.splits;
  result.mean /= count;
  const double variance = count > 1 ? (squares - count * result.mean * result.mean) / (count - 1) : 0;
  result.deviation = std::sqrt(std::max(0.0, variance));
  return result;
}

std::optional<WarmRate> warm_rate(const Journal& journal, std::string_view set,
                                  std::string_view algorithm_name, std::string_view start) {
  const Record* accurate = journal.find({kFigure2, std::string(set), 1, "newton", 1});
  const Record* run =
      journal.find({kWarm, std::string(set), 1, std::string(algorithm_name), 1, std::string(start)});
  if (accurate == nullptr || run == nullptr || run->trace.empty()) return std::nullopt;
  const auto inactive = static_cast<double>(accurate->p - accurate->nonzeros);
  const auto screened = static_cast<double>(run->p - run->trace.back().active);
  return WarmRate{run->trace.front().gap, inactive > 0 ? screened / inactive : 1};
}

std::string short_gap(double gap) {
  std::string out = fmt::format("{:.1e}", gap);  // 3.1e-07
  if (const auto at = out.find("e-0"); at != std::string::npos) out.erase(at + 2, 1);
  return out;
}

std::string runs_csv(const Journal& journal) {
  std::string csv =
      "experiment,set,stand_in,n,p,strength,multiplier,algorithm,trial,setting,seed,"
      "tolerance,status,cpu_seconds,epochs,relative_gap,primal,screened,nonzeros,rmse,published_stop_epoch,"
      "published_stop_gap\n";
  for (const Record& r : journal.records())
    csv += fmt::format("{},{},{},{},{},p_{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       csv_text(r.key.experiment), r.key.set,
                       find_paper_set(r.key.set).simulated() ? "yes" : "no", r.n, r.p, r.key.strength,
                       r.multiplier, csv_text(r.key.algorithm), r.key.trial, csv_text(r.key.setting), r.seed,
                       r.tolerance, csv_text(r.status), r.cpu_seconds, r.epochs, r.gap, r.primal, r.screened,
                       r.nonzeros, r.rmse == r.rmse ? fmt::format("{}", r.rmse) : "",
                       r.published_epoch >= 0 ? fmt::format("{}", r.published_epoch) : "",
                       r.published_epoch >= 0 ? fmt::format("{}", r.published_gap) : "");
  return csv;
}

std::string screening_csv(const Journal& journal, const std::vector<std::string>& sets) {
  std::string csv = "set,algorithm,epoch,relative_gap,screened,inactive,rate\n";
  for (const std::string& set : sets)
    for (const Algorithm& a : figure2_algorithms())
      if (const auto curve = screening_curve(journal, set, a.name))
        for (const Record::Point& at : curve->points)
          csv += fmt::format("{},{},{},{},{},{},{}\n", set, a.name, at.epoch, at.gap,
                             curve->columns - at.active, curve->inactive, curve->rate(at));
  return csv;
}

std::string tuning_csv(const Journal& journal) {
  std::string csv = "set,setting,seed,status,cpu_seconds,epochs,relative_gap\n";
  for (const Record& r : journal.records())
    if (r.key.experiment == kTune)
      csv += fmt::format("{},{},{},{},{},{},{}\n", r.key.set, csv_text(r.key.setting), r.key.trial,
                         csv_text(r.status), r.cpu_seconds, r.epochs, r.gap);
  return csv;
}

std::string table3_csv(const Journal& journal, const std::vector<std::string>& sets) {
  std::string csv = "set,algorithm,split,n_training,p,status,relative_gap,rmse,paper_rmse\n";
  for (const std::string& set : sets)
    for (const Algorithm& a : table3_algorithms())
      for (int split = 1; split <= kSplits; ++split)
        if (const Record* r = table3_record(journal, set, a.name, split))
          csv += fmt::format("{},{},{},{},{},{},{},{},{}\n", set, a.name, split, r->n, r->p,
                             csv_text(r->status), r->gap, r->rmse, find_paper_set(set).paper_rmse);
  return csv;
}

}  // namespace tyto::cli
