#include "tyto/select/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/unit/select/cv_runs.h"
#include "tyto/base/error.h"
#include "tyto/select/estimate.h"
#include "tyto/select/option_json.h"

namespace tyto {
namespace {

TEST(Options, EachStandsOnceForATask) {
  for (const Task task : {kFitTask, kPathTask, kCvTask}) {
    std::set<std::string> names;
    for (const Option& option : options())
      EXPECT_TRUE((option.tasks & task) == 0 || names.insert(option.name).second) << option.name;
    EXPECT_GE(names.size(), 15U);
  }
  std::set<std::string> fields, arguments;
  for (const Option& option : options()) {
    EXPECT_FALSE(option.help.empty()) << option.name;
    const std::string field = option.model.name, argument = option.argument.name;
    EXPECT_TRUE(field.empty() || fields.insert(field).second) << option.name;
    EXPECT_TRUE(argument.empty() || arguments.insert(argument).second) << option.name;
  }
}

template <class Part>
std::set<std::string> names_of() {
  std::set<std::string> names;
  for_each_option_of<Part>([&](const Option& option, auto) { names.insert(option.name); });
  return names;
}

// A value that differs from the default, for every type that models keep.
bool other(bool value) { return !value; }
double other(double value) { return value / 2 + 0.125; }
std::string other(const std::string& value) { return value + "2"; }
IndexSet other(const IndexSet&) { return {1, 4}; }

template <class Part>
void expect_kept_by_models() {
  Part changed;
  for_each_option_of<Part>([&](const Option& option, auto field) {
    if constexpr (requires { other(changed.*field); })
      if (*option.model.name != 0) changed.*field = other(changed.*field);
  });
  Json json;
  write_options(changed, json);
  Part back;
  read_options(json, back);
  int kept = 0;
  for_each_option_of<Part>([&](const Option& option, auto field) {
    if (*option.model.name == 0) return;
    ++kept;
    EXPECT_TRUE(back.*field == changed.*field) << option.name;
    EXPECT_FALSE(back.*field == Part().*field) << option.name;
    Json without = json;
    without.erase(option.model.name);
    Part partial;
    if (option.model.required) {
      EXPECT_THROW(read_options(without, partial), Json::exception) << option.name;
    } else {
      EXPECT_NO_THROW(read_options(without, partial)) << option.name;
    }
    EXPECT_TRUE(option.model.required || partial.*field == Part().*field) << option.name;
  });
  EXPECT_GE(kept, 3);
}

TEST(Options, ModelsKeepThemAndGiveThemBack) {
  expect_kept_by_models<RegressionOptions>();
  expect_kept_by_models<FitOptions>();
  EXPECT_TRUE(names_of<RegressionOptions>().contains("ridge"));
}

// The ends of an interval, and whether they are in it.
struct Interval {
  double low, high;
  bool with_low, with_high;
};
Interval parsed(const std::string& text) {
  const std::size_t comma = text.find(',');
  return {std::stod(text.substr(1, comma - 1)), std::stod(text.substr(comma + 1)), text.front() == '[',
          text.back() == ']'};
}

// What the library says of a value: first of the options alone, then with data.
std::string verdict(const EstimateOptions& options) {
  const cv_runs::Data data = cv_runs::simulated(30, 5);
  try {
    validate(options, kPathTask);
    estimate_path({Design::dense(data.x), data.y}, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

// The ranges that other languages check are those of the library: it refuses what is outside, and takes what
// is inside.
TEST(Options, RangesAreTheLibrarys) {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  int checked = 0;
  for (const Option& option : options()) {
    if (*option.argument.range == 0) continue;
    const Interval range = parsed(option.argument.range);
    EstimateOptions given;
    given.regression.weights = option.name == "q" ? "bh" : "oscar";
    given.regression.loss = option.name == "huber-delta" ? "huber" : "gaussian";
    given.cv.path.steps = 3;
    with_value(option, given, [&]<class Value>(Value& value) {
      if constexpr (std::is_same_v<Value, double>) {
        ++checked;
        const double inside = range.high < kMost ? (range.low + range.high) / 2 : range.low + 1;
        for (const double good :
             {range.with_low ? range.low : inside, range.with_high ? range.high : inside}) {
          value = good;
          EXPECT_EQ(verdict(given), "") << option.name << " " << good;
        }
        const double above = range.with_high ? std::nextafter(range.high, kMost) : range.high;
        for (const double bad : {std::nextafter(range.low, -kMost), above}) {
          if (option.name == "max-seconds" && bad == kMost) continue;  // no limit
          value = bad;
          EXPECT_EQ(verdict(given).find(option.name + ": want "), 0U) << option.name << " " << bad;
        }
      }
    });
  }
  EXPECT_GE(checked, 6);
}

TEST(Options, LevelOfTheNoise) {
  EXPECT_EQ(parse_noise("2.5").sigma, 2.5);
  EXPECT_FALSE(parse_noise("2.5").estimate);
  EXPECT_TRUE(parse_noise("estimate").estimate);
  EXPECT_FALSE(NoiseOption().asked());
  for (const char* text : {"", "0", "-1", "nan", "inf", "2.5x", "Estimate"})
    EXPECT_THROW(parse_noise(text), InvalidArgument) << text;
}

}  // namespace
}  // namespace tyto
