#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/reproduce/page.h"
#include "cli/reproduce/results.h"

namespace tyto::cli {
namespace {

// Of one algorithm over another, on all strengths of some sets: the range, and what can only be bounded.
std::string gains(const PageContents& c, const std::vector<std::string>& sets, std::string_view slow,
                  std::string_view fast) {
  std::vector<Gain> all;
  for (const std::string& set : sets)
    for (int i = 1; i <= kStrengths; ++i) {
      const auto a = timing(c.journal, set, i, slow), b = timing(c.journal, set, i, fast);
      if (a && b) all.push_back(gain(*a, *b));
    }
  if (all.empty()) return "no data set of this kind was run";
  const auto unknown = std::erase_if(all, [](const Gain& g) { return g.kind == Gain::kUnknown; });
  if (all.empty()) return "unknown: neither reached the tolerance within the cap";
  const auto [least, most] = std::ranges::minmax_element(all, {}, &Gain::ratio);
  const std::string left_out =
      unknown == 0 ? "" : fmt::format("; {} unknown: neither reached the tolerance", unknown);
  return text(*least) + " to " + text(*most) + left_out;
}

// The sets of a shape, the stand-ins among them or not.
std::vector<std::string> with_shape(const PageContents& c, bool wide) {
  std::vector<std::string> sets;
  for (const std::string& set : c.sets) {
    const auto at = std::ranges::find(c.journal.records(), set, [](const Record& r) { return r.key.set; });
    if (at != c.journal.records().end() && (at->p > 10 * at->n) == wide) sets.push_back(set);
  }
  return sets;
}

std::string same_errors(const PageContents& c) {
  int same = 0, lines = 0, missed = 0;
  for (const std::string& set : c.sets) {
    std::set<std::string> printed;
    for (const Algorithm& a : table3_algorithms()) {
      const Record* r = table3_record(c.journal, set, a.name);
      if (r == nullptr) continue;
      if (r->reached())
        printed.insert(fmt::format("{:.4f}", r->rmse));
      else
        ++missed;
    }
    if (printed.empty()) continue;
    ++lines, same += printed.size() == 1 ? 1 : 0;
  }
  std::string out = fmt::format("identical to four digits on {} of {} data sets", same, lines);
  if (missed > 0) out += fmt::format("; {} runs did not reach 1e-10 at the cap and are left out", missed);
  return out;
}

std::string rates(const PageContents& c, std::string_view algorithm_name) {
  double least = 2, most = -1;
  for (const std::string& set : c.sets)
    if (const auto curve = screening_curve(c.journal, set, algorithm_name); curve && !curve->points.empty()) {
      const double rate = curve->rate(curve->points.back());
      least = std::min(least, rate), most = std::max(most, rate);
    }
  return most < 0 ? "not run" : fmt::format("{:.1f}% to {:.1f}%", 100 * least, 100 * most);
}

}  // namespace

std::vector<Claim> claims(const PageContents& c) {
  const std::vector<std::string> wide = with_shape(c, true), tall = with_shape(c, false);
  return {
      {"Screening speeds up APGD where n << d", "4x to 8x", gains(c, wide, "apgd", "apgd+seed")},
      {"Screening speeds up SPGD where n << d", "5x to 22x", gains(c, wide, "spgd", "spgd+seed")},
      {"SPGD + Screening over APGD elsewhere", "4x to 40x", gains(c, tall, "apgd", "spgd+seed")},
      {"Screening speeds up APGD elsewhere", "always faster", gains(c, tall, "apgd", "apgd+seed")},
      {"Screening speeds up SPGD elsewhere", "always faster", gains(c, tall, "spgd", "spgd+seed")},
      {"The cumulative rule speeds up APGD, all sets", "not in the paper",
       gains(c, c.sets, "apgd", "apgd+safe")},
      {"Newton over APGD, all sets", "not in the paper", gains(c, c.sets, "apgd", "newton")},
      {"Inactive columns screened at the end, the paper's rule", "almost all", rates(c, "spgd+seed")},
      {"Inactive columns screened at the end, the cumulative rule", "not in the paper",
       rates(c, "spgd+safe")},
      {"The same RMSE with and without screening", "identical", same_errors(c)},
  };
}

}  // namespace tyto::cli
