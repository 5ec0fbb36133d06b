#include "cli/reproduce/results.h"

#include <fmt/format.h>

#include <algorithm>

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
  std::ranges::sort(seconds);
  const std::size_t middle = seconds.size() / 2;
  result.median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  result.least = seconds.front(), result.most = seconds.back();
  return result;
}

Gain gain(const Timing& slow, const Timing& fast) {
  const Gain::Kind kind = slow.reached   ? (fast.reached ? Gain::kExact : Gain::kAtMost)
                          : fast.reached ? Gain::kAtLeast
                                         : Gain::kUnknown;
  return {slow.median / fast.median, kind};
}

static std::string ratio_text(double ratio) {
  return ratio < 10 ? fmt::format("{:.2g}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string text(const Gain& g) {
  if (g.kind == Gain::kUnknown) return "unknown";
  return (g.kind == Gain::kAtLeast ? ">= " : g.kind == Gain::kAtMost ? "<= " : "") + ratio_text(g.ratio);
}

std::string seconds_text(const Timing& t) {
  return t.reached ? fmt::format("{:.3g} s", t.median)
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

const Record* table3_record(const Journal& journal, std::string_view set, std::string_view algorithm_name) {
  return journal.find({kTable3, std::string(set), 1, std::string(algorithm_name), 1});
}

std::string short_gap(double gap) {
  std::string out = fmt::format("{:.1e}", gap);  // 3.1e-07
  if (const auto at = out.find("e-0"); at != std::string::npos) out.erase(at + 2, 1);
  return out;
}

std::string runs_csv(const Journal& journal) {
  std::string csv =
      "experiment,set,stand_in,n,p,strength,multiplier,algorithm,trial,seed,tolerance,status,cpu_seconds,"
      "epochs,"
      "relative_gap,primal,screened,nonzeros,rmse\n";
  for (const Record& r : journal.records())
    csv += fmt::format(
        "{},{},{},{},{},p_{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(r.key.experiment), r.key.set,
        find_paper_set(r.key.set).simulated() ? "yes" : "no", r.n, r.p, r.key.strength, r.multiplier,
        csv_text(r.key.algorithm), r.key.trial, r.seed, r.tolerance, csv_text(r.status), r.cpu_seconds,
        r.epochs, r.gap, r.primal, r.screened, r.nonzeros, r.rmse == r.rmse ? fmt::format("{}", r.rmse) : "");
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

std::string table3_csv(const Journal& journal, const std::vector<std::string>& sets) {
  std::string csv = "set,algorithm,n_training,p,status,relative_gap,rmse,paper_rmse\n";
  for (const std::string& set : sets)
    for (const Algorithm& a : table3_algorithms())
      if (const Record* r = table3_record(journal, set, a.name))
        csv += fmt::format("{},{},{},{},{},{},{},{}\n", set, a.name, r->n, r->p, csv_text(r->status), r->gap,
                           r->rmse, find_paper_set(set).paper_rmse);
  return csv;
}

}  // namespace tyto::cli
