#include "convert.h"

#include <algorithm>
#include <type_traits>

#include "tyto/base/error.h"

namespace tyto::r {
namespace {

InvalidArgument wrong(const char* want) { return InvalidArgument(std::string("options: want ") + want); }

void set(bool& field, SEXP value) {
  if (TYPEOF(value) != LGLSXP || Rf_xlength(value) != 1) throw wrong("TRUE or FALSE");
  field = LOGICAL(value)[0] != 0;
}
void set(std::string& field, SEXP value) { field = word(value); }
void set(Vector& field, SEXP value) { field = vector(value); }
// Whole numbers or numbers, and those that may be missing.
template <class Number>
void set(Number& field, SEXP value) {
  if constexpr (std::is_enum_v<Number>) {
    if constexpr (std::is_same_v<Number, RelativeTo>)
      field = parse_relative_to(word(value));
    else
      field = parse_error_measure(word(value));
  } else {
    field = static_cast<Number>(number(value));
  }
}
template <class Number>
void set(std::optional<Number>& field, SEXP value) {
  field = static_cast<Number>(number(value));
}
void set(std::vector<double>& field, SEXP values) {
  const Vector all = vector(values);
  field.assign(all.begin(), all.end());
}
void set(std::vector<Index>& field, SEXP values) { field = whole_numbers(values); }
void set(std::vector<std::string>&, SEXP) {}  // columns by name: R hands over their numbers
void set(std::vector<Criterion>& field, SEXP values) {
  field.clear();
  for (const std::string& name : words(values)) field.push_back(parse_criterion(name));
}
void set(NoiseOption& field, SEXP value) {
  if (TYPEOF(value) == STRSXP)
    field = parse_noise(word(value));
  else
    field.sigma = number(value);
}

SEXP value_of(bool value) { return cpp11::as_sexp(value); }
SEXP value_of(double value) { return cpp11::as_sexp(value); }
SEXP value_of(const std::string& value) { return cpp11::as_sexp(value); }
SEXP value_of(const std::vector<Index>& values) {
  return column(values, [](Index value) { return value; });
}
template <class Value>
SEXP value_of(const Value&) {
  return R_NilValue;
}

}  // namespace

SEXP found(const cpp11::list& list, const char* name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k)
    if (std::string_view(CHAR(STRING_ELT(names, k))) == name) return list[k];
  return R_NilValue;
}

Vector vector(SEXP values) {
  if (TYPEOF(values) != REALSXP) throw wrong("numbers");
  return Eigen::Map<const Vector>(REAL(values), Rf_xlength(values));
}

std::vector<Index> whole_numbers(SEXP values) {
  const Vector all = vector(values);
  std::vector<Index> whole;
  for (const double value : all) whole.push_back(static_cast<Index>(value));
  return whole;
}

double number(SEXP value) {
  if (TYPEOF(value) != REALSXP || Rf_xlength(value) != 1) throw wrong("a number");
  return REAL(value)[0];
}

std::vector<std::string> words(SEXP values) {
  if (TYPEOF(values) != STRSXP) throw wrong("words");
  std::vector<std::string> all;
  for (R_xlen_t k = 0; k < Rf_xlength(values); ++k)
    all.emplace_back(cpp11::safe[Rf_translateCharUTF8](STRING_ELT(values, k)));
  return all;
}

std::string word(SEXP value) {
  if (Rf_xlength(value) != 1) throw wrong("one word");
  return words(value).front();
}

Task task_named(const std::string& name) {
  if (name == "fit") return kFitTask;
  if (name == "path") return kPathTask;
  return kCvTask;
}

EstimateOptions read_options(const cpp11::list& given, Task task) {
  EstimateOptions all;
  for (const Option& option : options()) {
    if ((option.tasks & task) == 0 && option.tasks != kNoTask) continue;
    const SEXP value = found(given, underscored(option.name).c_str());
    if (!Rf_isNull(value)) with_value(option, all, [&](auto& field) { set(field, value); });
  }
  all.cv.seed = all.fit.stochastic.seed;
  if (const SEXP offset = found(given, "offset"); !Rf_isNull(offset)) all.regression.offset = vector(offset);
  if (const SEXP folds = found(given, "foldid"); !Rf_isNull(folds))
    all.cv.given = renumbered(whole_numbers(folds));
  return all;
}

cpp11::list write_options(EstimateOptions all) {
  using namespace cpp11::literals;
  cpp11::writable::list values;
  for (const Option& option : options()) {
    if (*option.model.name == 0) continue;
    with_value(option, all, [&](const auto& field) {
      const cpp11::sexp value = value_of(field);
      if (!Rf_isNull(value)) values.push_back(cpp11::named_arg(underscored(option.name).c_str()) = value);
    });
  }
  return values;
}

}  // namespace tyto::r
