#include <nanobind/eigen/dense.h>

#include <string_view>
#include <type_traits>

#include "bindings.h"
#include "tyto/select/options.h"

namespace tyto::python {
namespace {

// How an argument of this type is checked in Python; empty: it has a way of its own.
template <class Value>
constexpr std::string_view kKind = std::is_same_v<Value, bool>                    ? "flag"
                                   : std::is_same_v<Value, std::string>           ? "word"
                                   : std::is_integral_v<Value>                    ? "whole"
                                   : std::is_same_v<Value, std::optional<Index>>  ? "whole"
                                   : std::is_same_v<Value, double>                ? "number"
                                   : std::is_same_v<Value, std::optional<double>> ? "number"
                                                                                  : "";

// As a word, where it is one of an enum; a noise level and criteria are set in other ways.
template <class Part, class Value>
void add_attribute(nb::class_<Part>& bound, const std::string& attribute, Value Part::*field) {
  if constexpr (std::is_enum_v<Value>)
    bound.def_prop_rw(
        attribute.c_str(), [field](const Part& part) { return std::string(name(part.*field)); },
        [field](Part& part, const std::string& text) {
          if constexpr (std::is_same_v<Value, RelativeTo>)
            part.*field = parse_relative_to(text);
          else
            part.*field = parse_error_measure(text);
        });
  else if constexpr (!std::is_same_v<Value, NoiseOption> && !std::is_same_v<Value, std::vector<Criterion>>)
    bound.def_rw(attribute.c_str(), field);
}

// A part of the options with an attribute for each row of their table. `arguments` are those that Python's
// users give: (attribute, argument, kind, range, whether None is allowed, whether it is multiplied with n).
template <class Part>
nb::class_<Part> bind(nb::module_& module, const char* name) {
  nb::class_<Part> bound(module, name);
  bound.def(nb::init<>());
  nb::list arguments;
  for_each_option_of<Part>([&]<class Value>(const Option& option, Value Part::*field) {
    const std::string attribute = underscored(option.name);
    if (!nb::hasattr(bound, attribute.c_str())) add_attribute(bound, attribute, field);
    const Argument& given = option.argument;
    if (*given.name != 0)
      arguments.append(nb::make_tuple(attribute, given.name, std::string(kKind<Value>), given.range,
                                      given.optional, given.per_row));
  });
  bound.attr("arguments") = nb::tuple(arguments);
  return bound;
}

}  // namespace

void add_options(nb::module_& module) {
  bind<RegressionOptions>(module, "RegressionOptions")
      .def_rw("offset", &RegressionOptions::offset)
      .def_rw("events", &RegressionOptions::events);
  bind<FitOptions>(module, "FitOptions");
  bind<PathOptions>(module, "PathOptions");
  bind<CvOptions>(module, "CvOptions").def_rw("path", &CvOptions::path).def_rw("given", &CvOptions::given);
  // What else may be asked for. The parts above are handed over beside it.
  bind<EstimateOptions>(module, "EstimateOptions")
      .def_prop_rw(
          "sigma", [](const EstimateOptions& o) { return o.noise.sigma; },
          [](EstimateOptions& o, double sigma) { o.noise.sigma = sigma; })
      .def_prop_rw(
          "estimate_sigma", [](const EstimateOptions& o) { return o.noise.estimate; },
          [](EstimateOptions& o, bool estimate) { o.noise.estimate = estimate; });
}

}  // namespace tyto::python
