#include "cli/option_flags.h"

#include <cmath>
#include <concepts>
#include <cstdint>

#include "cli/args.h"

namespace tyto::cli {
namespace {

// One option and the place of its value: a function for each type that there is.
struct Flag {
  CLI::App& app;
  const Option& option;
  std::string name = "--" + option.name;

  // A default that is no number or word is in the help text, in brackets.
  template <class Value>
  void show_default(CLI::Option* flag, const Value& value) const {
    if (option.help.ends_with("]")) return;
    if constexpr (std::floating_point<Value>)
      if (!std::isfinite(value)) return;
    flag->capture_default_str();
  }

  void operator()(bool& value) const {
    if (!value) {
      app.add_flag(name, value, option.help)->group(option.group);
      return;
    }
    CLI::Option* off = app.add_flag_function(
        "--no-" + option.name, [&value](std::int64_t given) { value = given <= 0; }, option.help);
    off->group(option.group);
    app.add_flag(name)->group("")->excludes(off);  // says what holds anyway
  }
  void operator()(double& value) const { show_default(add(value), value); }
  void operator()(std::string& value) const { show_default(add(value), value); }
  template <std::integral Value>
  void operator()(Value& value) const {
    show_default(add(value), value);
    want_whole_numbers(app, {name.c_str()});
  }
  void operator()(std::optional<double>& value) const { add(value); }
  void operator()(std::optional<Index>& value) const {
    add(value);
    want_whole_numbers(app, {name.c_str()});
  }
  void operator()(std::vector<double>& value) const { list(add(value)); }
  void operator()(std::vector<std::string>& value) const { list(add(value)); }
  void operator()(RelativeTo& value) const {
    word([&value](const std::string& text) {
      value = parse_relative_to(text);
    })->default_str(std::string(tyto::name(value)));
  }
  void operator()(ErrorMeasure& value) const {
    word([&value](const std::string& text) {
      value = parse_error_measure(text);
    })->default_str(std::string(tyto::name(value)));
  }
  void operator()(NoiseOption& value) const {
    word([&value](const std::string& text) { value = parse_noise(text); });
  }
  void operator()(std::vector<Criterion>& value) const {
    const auto parse = [&value](const std::vector<std::string>& texts) {
      value.clear();
      for (const std::string& text : texts) value.push_back(parse_criterion(text));
    };
    list(app.add_option_function<std::vector<std::string>>(name, parse, option.help)->group(option.group));
  }
  void operator()(Vector&) const { throw std::logic_error(option.name + ": no flag can set a vector"); }
  void operator()(IndexSet&) const { throw std::logic_error(option.name + ": no flag can set columns"); }

  CLI::Option* word(const std::function<void(const std::string&)>& parse) const {
    return app.add_option_function<std::string>(name, parse, option.help)->group(option.group);
  }
  template <class Value>
  CLI::Option* add(Value& value) const {
    return app.add_option(name, value, option.help)->group(option.group);
  }
  static void list(CLI::Option* flag) { flag->delimiter(',')->allow_extra_args(false); }
};

}  // namespace

void add_options(CLI::App& app, EstimateOptions& options, Task task,
                 const std::function<void(std::string_view)>& after) {
  for (const Option& option : tyto::options()) {
    if ((option.tasks & task) == 0) continue;
    with_value(option, options, Flag{app, option});
    after(option.name);
  }
}

}  // namespace tyto::cli
