#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/noise.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

// The user's options, in one table. The command line makes its flags and help of it, model files their
// fields, Python its arguments and their checks.
namespace tyto {

// The level of the noise that takes the place of a strength: given, or to be estimated, or neither.
struct NoiseOption {
  std::optional<double> sigma = {};
  bool estimate = false;

  bool asked() const { return sigma || estimate; }
};
// A number > 0 or "estimate". Throws InvalidArgument.
NoiseOption parse_noise(const std::string& text);

// Everything that a user may ask of estimate(), estimate_path() and estimate_cv().
struct EstimateOptions {
  RegressionOptions regression = {};          // what to fit
  FitOptions fit = {};                        // how
  CvOptions cv = {};                          // the folds; cv.path is the grid, of a path as well
  NoiseOption noise = {};                     // of one fit: instead of a strength; of a path: for Cp
  std::optional<double> gamma = {};           // relaxes a fit, or all fits of a path: see Relaxation
  std::vector<Criterion> choose = {};         // criteria that choose a strength of a path
  bool criteria = true;                       // whether those of a path are computed
  bool correlations = false;                  // whether those within clusters are: see ClusterCorrelation
  std::vector<std::string> unpenalized = {};  // columns by name or number, beside those of the regression
  Vector start = {};                          // of one fit: coefficients on the data's scale; empty: 0
};

// What can be asked for; bits, as an option may belong to several.
enum Task : unsigned { kNoTask = 0, kFitTask = 1, kPathTask = 2, kCvTask = 4 };

// Throws InvalidArgument for options that no data could be estimated with.
void validate(const EstimateOptions& options, Task task);

// The field that an option sets, in any of the parts of EstimateOptions.
using OptionField =
    std::variant<bool RegressionOptions::*, double RegressionOptions::*, std::string RegressionOptions::*,
                 RelativeTo RegressionOptions::*, Vector RegressionOptions::*, IndexSet RegressionOptions::*,
                 double FitOptions::*, std::string FitOptions::*, Index FitOptions::*, int FitOptions::*,
                 double StochasticOptions::*, Index StochasticOptions::*, std::uint64_t StochasticOptions::*,
                 double PathOptions::*, Index PathOptions::*, std::optional<double> PathOptions::*,
                 std::optional<Index> PathOptions::*, std::vector<double> PathOptions::*, Index CvOptions::*,
                 ErrorMeasure CvOptions::*, std::vector<double> CvOptions::*,
                 std::optional<double> NoiseOption::*, NoiseOption EstimateOptions::*,
                 std::optional<double> EstimateOptions::*, std::vector<Criterion> EstimateOptions::*,
                 bool EstimateOptions::*, std::vector<std::string> EstimateOptions::*>;

// The field of a model file.
struct ModelField {
  const char* name = "";  // empty: models do not keep it
  bool required = true;   // false: newer than the first model files; where it is missing it has its default
};

// The argument in languages that hand over values, not text.
struct Argument {
  const char* name = "";   // empty: there is none, or it is set in some way of its own
  const char* range = "";  // of numbers, as usual: "(0, 1]"
  bool optional = false;   // None, NULL: leave it as it is
  bool per_row = false;    // is multiplied with the number of rows: there, the loss is the mean over rows
};

struct Option {
  std::string name;  // the flag is --name, or --no-name where it is on by default; messages begin with it
  unsigned tasks;    // that take it
  OptionField field;
  std::string help;  // ends with the default in brackets where that is not the number or word itself
  ModelField model = {};
  Argument argument = {};
  bool changes_results = true;  // beyond what the tolerance allows
  // What beside it makes it do nothing, "oscar weights"; empty where it has an effect.
  std::string (*without_effect)(const EstimateOptions&) = nullptr;
  const char* group = "";  // the heading in help texts
};

// All of them, in the order of the help text. Some stand there twice: tasks that take several values, to
// choose from, have a row of their own.
const std::vector<Option>& options();

// A sentence for each option that was given and does nothing beside the others: "--q has no effect with oscar
// weights".
std::vector<std::string> without_effect(const EstimateOptions& options, Task task,
                                        const std::function<bool(const std::string& name)>& given);

std::string underscored(std::string name);  // "max_epochs" of "max-epochs"

template <class T>
struct MemberPointer;
template <class Part, class Value>
struct MemberPointer<Value Part::*> {
  using part = Part;
  using value = Value;
};

// Calls use(option, &Part::field) for each row whose field is in that part.
template <class Part, class Use>
void for_each_option_of(Use use) {
  for (const Option& option : options())
    std::visit(
        [&](auto field) {
          if constexpr (std::is_same_v<typename MemberPointer<decltype(field)>::part, Part>)
            use(option, field);
        },
        option.field);
}

// The part of the options that a field is in.
template <class Part>
Part& part_of(EstimateOptions& options) {
  if constexpr (std::is_same_v<Part, EstimateOptions>) return options;
  if constexpr (std::is_same_v<Part, RegressionOptions>) return options.regression;
  if constexpr (std::is_same_v<Part, FitOptions>) return options.fit;
  if constexpr (std::is_same_v<Part, StochasticOptions>) return options.fit.stochastic;
  if constexpr (std::is_same_v<Part, CvOptions>) return options.cv;
  if constexpr (std::is_same_v<Part, PathOptions>) return options.cv.path;
  if constexpr (std::is_same_v<Part, NoiseOption>) return options.noise;
}

// Calls use(value) with the value of this option: a reference to the field.
template <class Use>
void with_value(const Option& option, EstimateOptions& options, Use use) {
  std::visit([&](auto field) { use(part_of<typename MemberPointer<decltype(field)>::part>(options).*field); },
             option.field);
}

}  // namespace tyto
