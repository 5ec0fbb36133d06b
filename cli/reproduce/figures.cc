#include "cli/reproduce/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "cli/reproduce/experiments.h"
#include "cli/reproduce/results.h"
#include "cli/reproduce/svg.h"

namespace tyto::cli {
namespace {

constexpr double kPanelWidth = 330, kPanelHeight = 235, kLegend = 66;
constexpr std::size_t kColumns = 3;
constexpr std::array<std::size_t, 10> kBarColours{0, 1, 2, 3, 6, 7, 8, 9, 4, 5};
constexpr std::array<std::size_t, 3> kRuleColours{3, 5, 9};

// One panel: a box to draw in, and what lies around it.
struct Panel {
  double left, top, right, bottom;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

Panel panel(std::size_t number) {
  const std::size_t column = number % kColumns, row = number / kColumns;
  const double x = kPanelWidth * static_cast<double>(column);
  const double y = kLegend + kPanelHeight * static_cast<double>(row);
  return {x + 62, y + 26, x + kPanelWidth - 8, y + kPanelHeight - 36};
}

double total_width(std::size_t panels) {
  return kPanelWidth * static_cast<double>(std::clamp<std::size_t>(panels, 2, kColumns));
}

double total_height(std::size_t panels) {
  const std::size_t rows = (panels + kColumns - 1) / kColumns;
  return kLegend + kPanelHeight * static_cast<double>(rows) + 4;
}

std::string series(std::size_t k) { return fmt::format("s{}", k); }

void title(Svg& svg, const Panel& box, const std::string& set, Index n, Index p) {
  svg.text({box.left - 46, box.top - 10}, "start", "strong", find_paper_set(set).title);
  svg.text({box.right, box.top - 10}, "end", "small", fmt::format("{} x {}", n, p));
}

const Record* any_record(const Journal& journal, const std::string& set) {
  const auto at = std::ranges::find_if(
      journal.records(), [&set](const Record& r) { return r.key.set == set && r.key.experiment != kTable3; });
  return at == journal.records().end() ? nullptr : &*at;
}

void legend(Svg& svg, std::span<const Algorithm> algorithms, std::span<const std::size_t> colours) {
  constexpr std::size_t kInRow = 5;
  for (std::size_t k = 0; k < algorithms.size(); ++k) {
    const double x = 16 + 192 * static_cast<double>(k % kInRow);
    const double y = 8 + 16 * static_cast<double>(k / kInRow);
    svg.rectangle({x, y}, {11, 11}, series(colours[k]));
    svg.text({x + 16, y + 10}, "start", "small", algorithms[k].title);
  }
}

// --- Figure 1 ---

struct Bar {
  double percent, least, most;
  Timing timing;
};

// In percent of the mean of the published APGD at this strength.
std::optional<Bar> bar(const Journal& journal, const std::string& set, int strength, const Algorithm& a) {
  const auto base = timing(journal, set, strength, "published apgd");
  const auto own = timing(journal, set, strength, a.name);
  if (!base || !own) return std::nullopt;
  const double unit = 100 / base->mean;
  return Bar{own->mean * unit, own->least * unit, own->most * unit, *own};
}

// Whole decades that hold all bars, and the level of APGD.
struct LogAxis {
  double from = 10, to = 1000;  // percent

  void include(double value) {
    while (value < from * 1.2) from /= 10;
    while (value > to / 2) to *= 10;
  }
  double place(double value, const Panel& box) const {
    return box.bottom - box.height() * std::log(value / from) / std::log(to / from);
  }
  void draw(Svg& svg, const Panel& box) const {
    for (double tick = from; tick < to * 1.01; tick *= 10) {
      const double y = place(tick, box);
      svg.line({box.left, y}, {box.right, y}, "grid");
      svg.text({box.left - 5, y + 4}, "end", "small",
               fmt::format("{}%", tick < 0.99 ? fmt::format("{:.3g}", tick) : fmt::format("{:.0f}", tick)));
    }
    svg.line({box.left, place(100, box)}, {box.right, place(100, box)}, "level");
    svg.line({box.left, box.bottom}, {box.right, box.bottom}, "axis");
  }
};

void draw_bar(Svg& svg, const Panel& box, const LogAxis& axis, XY place, const Bar& b, std::size_t k) {
  const Algorithm& a = figure1_algorithms()[k];
  const double y = axis.place(b.percent, box), middle = place.x + place.y / 2;
  const std::string tip = fmt::format("{}: {}, {:.3g}% of APGD", a.title, seconds_text(b.timing), b.percent);
  svg.rectangle({place.x, y}, {place.y, box.bottom - y},
                series(kBarColours[k]) + (b.timing.reached ? "" : " missed"), tip);
  if (b.timing.reached) {
    svg.line({middle, axis.place(b.least, box)}, {middle, axis.place(b.most, box)}, "whisker");
    return;
  }
  // An arrow: it goes on beyond.
  svg.polyline({{middle - 4, y - 2}, {middle, y - 8}, {middle + 4, y - 2}}, "whisker");
  svg.vertical_text({middle + 3.5, box.bottom - 5}, "small", "gap " + short_gap(b.timing.gap));
}

void draw_times(Svg& svg, const Journal& journal, const std::string& set, const Panel& box) {
  LogAxis axis;
  for (int i = 1; i <= kStrengths; ++i)
    for (const Algorithm& a : figure1_algorithms())
      if (const auto b = bar(journal, set, i, a)) {
        axis.include(b->least);
        axis.include(b->most);
      }
  axis.draw(svg, box);
  const double group = box.width() / kStrengths;
  const double width = group / (static_cast<double>(figure1_algorithms().size()) + 1);
  for (int i = 1; i <= kStrengths; ++i) {
    const double left = box.left + group * (i - 1);
    svg.text({left + group / 2, box.bottom + 15}, "middle", "", fmt::format("p_{}", i));
    for (std::size_t k = 0; k < figure1_algorithms().size(); ++k)
      if (const auto b = bar(journal, set, i, figure1_algorithms()[k]))
        draw_bar(svg, box, axis, {left + width * (static_cast<double>(k) + 0.5), width - 1}, *b, k);
  }
}

// --- Figure 2 ---

struct EpochAxis {
  double last;

  // A quarter beyond the last column that was screened: nothing happens after that.
  void include(const ScreeningCurve& curve) {
    if (curve.points.empty()) return;
    const Index left = curve.points.back().active;
    const auto at = std::ranges::find(curve.points, left, &Record::Point::active);
    last =
        std::max(last, std::min(static_cast<double>(curve.end_epoch), 1.25 * static_cast<double>(at->epoch)));
  }
  double place(double epoch, const Panel& box) const {
    return box.left + box.width() * std::min(epoch, last) / last;
  }
  double step() const {  // 1, 2 or 5 times a power of ten, for three to seven ticks
    double size = std::pow(10, std::floor(std::log10(last)));
    if (last / size < 1.5) return size / 5;
    return last / size < 3 ? size / 2 : last / size < 7 ? size : 2 * size;
  }
  void draw(Svg& svg, const Panel& box) const {
    for (double tick = 0; tick < last * 1.001; tick += step()) {
      svg.line({place(tick, box), box.top}, {place(tick, box), box.bottom}, "grid");
      svg.text({place(tick, box), box.bottom + 14}, "middle", "small", fmt::format("{:.0f}", tick));
    }
    for (const int percent : {0, 25, 50, 75, 100}) {
      const double y = box.bottom - box.height() * percent / 100;
      svg.line({box.left, y}, {box.right, y}, percent == 0 ? "axis" : "grid");
      svg.text({box.left - 5, y + 4}, "end", "small", fmt::format("{}%", percent));
    }
    svg.text({(box.left + box.right) / 2, box.bottom + 28}, "middle", "small", "epochs");
  }
};

void draw_curve(Svg& svg, const Panel& box, const EpochAxis& axis, const ScreeningCurve& curve,
                std::size_t k) {
  std::vector<XY> line;
  for (const Record::Point& at : curve.points) {
    const XY next{axis.place(static_cast<double>(at.epoch), box), box.bottom - box.height() * curve.rate(at)};
    if (!line.empty()) line.push_back({next.x, line.back().y});
    line.push_back(next);
  }
  const Record::Point& end = curve.points.back();
  svg.polyline(
      line, "curve " + series(kRuleColours[k]) + (k > 0 ? " dashed" : " thick"),
      fmt::format("{}: {:.1f}% of {} inactive columns after {} epochs, gap {}", figure2_algorithms()[k].title,
                  100 * curve.rate(end), curve.inactive, curve.end_epoch, short_gap(curve.end_gap)));
}

void draw_rates(Svg& svg, const Journal& journal, const std::string& set, const Panel& box) {
  EpochAxis axis{5};
  for (const Algorithm& a : figure2_algorithms())
    if (const auto curve = screening_curve(journal, set, a.name)) axis.include(*curve);
  axis.draw(svg, box);
  for (std::size_t k = 0; k < figure2_algorithms().size(); ++k) {
    const auto curve = screening_curve(journal, set, figure2_algorithms()[k].name);
    if (curve && !curve->points.empty()) draw_curve(svg, box, axis, *curve, k);
  }
}

template <class Draw>
std::string panels(Svg svg, const Journal& journal, const std::vector<std::string>& sets, Draw draw) {
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const Record* record = any_record(journal, sets[k]);
    if (record == nullptr) continue;
    title(svg, panel(k), sets[k], record->n, record->p);
    draw(svg, journal, sets[k], panel(k));
  }
  return svg.finish();
}

}  // namespace

std::string figure1(const Journal& journal, const std::vector<std::string>& sets) {
  Svg svg(total_width(sets.size()), total_height(sets.size()), "Figure 1: CPU time as a percentage of APGD",
          "Grouped bars on a logarithmic axis for each data set and three strengths. The numbers are in the "
          "table of means and in runs.csv.");
  legend(svg, figure1_algorithms(), kBarColours);
  svg.text({16, 52}, "start", "small",
           "CPU time to a relative gap of 1e-6, in percent of the published APGD; log axis; bars: means, "
           "lines: least to most. Pale with an arrow: not reached at the cap, and the gap it got to.");
  return panels(svg, journal, sets, draw_times);
}

std::string figure2(const Journal& journal, const std::vector<std::string>& sets) {
  Svg svg(total_width(sets.size()), total_height(sets.size()),
          "Figure 2: screening rate in the stochastic setting",
          "For each data set, the percentage of inactive columns that SPGD has screened, by epoch, with the "
          "paper's rule and with the cumulative rule. The numbers are in screening.csv.");
  legend(svg, figure2_algorithms(), kRuleColours);
  svg.text({16, 52}, "start", "small",
           "Screened columns in percent of the columns that are 0 in the solution; SPGD from 0 at p_1, until "
           "a little after the last one.");
  return panels(svg, journal, sets, draw_rates);
}

}  // namespace tyto::cli
