#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/reproduce/journal.h"

namespace tyto::cli {

// The trials of an algorithm at a strength of Figure 1.
struct Timing {
  double mean = 0, least = 0, most = 0;  // CPU seconds
  bool reached = true;
  double gap = 0;  // the largest that was left
};
std::optional<Timing> timing(const Journal& journal, std::string_view set, int strength,
                             std::string_view algorithm);

// How many times faster: `slow` over `fast`, where one of them may have been stopped at the cap.
struct Gain {
  double ratio;
  enum Kind { kExact, kAtLeast, kAtMost, kUnknown } kind;
};
Gain gain(const Timing& slow, const Timing& fast);
std::string text(const Gain& gain);  // "4.2x", ">= 4.2x", "<= 4.2x", "unknown"
std::string seconds_text(const Timing& timing);

// Figure 2: columns with coefficient 0 in an accurate solution, and which part of them has been screened.
struct ScreeningCurve {
  Index columns, inactive;
  std::vector<Record::Point> points;
  Index end_epoch;
  double end_gap;
  bool reached;

  double rate(const Record::Point& at) const {
    return inactive > 0 ? static_cast<double>(columns - at.active) / static_cast<double>(inactive) : 1;
  }
};
std::optional<ScreeningCurve> screening_curve(const Journal& journal, std::string_view set,
                                              std::string_view algorithm);

const Record* table3_record(const Journal& journal, std::string_view set, std::string_view algorithm,
                            int split);
// The errors of the runs that reached the tolerance, over splits.
struct Errors {
  double mean = 0, deviation = 0;
  int splits = 0, missed = 0;
};
Errors errors(const Journal& journal, std::string_view set, std::string_view algorithm);

// The part of the inactive columns that a rule screens at a warm start, and the relative gap there.
struct WarmRate {
  double gap, rate;
};
std::optional<WarmRate> warm_rate(const Journal& journal, std::string_view set, std::string_view algorithm,
                                  std::string_view start);

std::string ratio_text(double ratio);  // "4.2x"

std::string short_gap(double gap);  // "3.1e-7"

std::string runs_csv(const Journal& journal);
std::string screening_csv(const Journal& journal, const std::vector<std::string>& sets);
std::string tuning_csv(const Journal& journal);
std::string table3_csv(const Journal& journal, const std::vector<std::string>& sets);

}  // namespace tyto::cli
