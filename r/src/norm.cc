// The penalty by itself, the shapes of its weights, and the library's tables.
#include "convert.h"
#include "look.h"
#include "tyto/base/error.h"
#include "tyto/base/version.h"
#include "tyto/loss/loss.h"
#include "tyto/math/sorted_l1.h"
#include "tyto/math/weights.h"

namespace tyto::r {
namespace {

using namespace cpp11::literals;

Vector checked(const SortedL1& norm, SEXP values) {
  Vector v = vector(values);
  if (v.size() != norm.size())
    throw InvalidArgument("v: want " + std::to_string(norm.size()) + " numbers, as many as weights, got " +
                          std::to_string(v.size()));
  if (!v.allFinite()) throw InvalidArgument("v: want finite numbers, got NaN or infinity");
  return v;
}

SEXP numbers(const Vector& v) {
  cpp11::writable::doubles values(v.size());
  std::copy(v.begin(), v.end(), values.begin());
  return values;
}

// How an argument of this type is checked in R; empty: it has a way of its own.
template <class Value>
constexpr const char* kKind = std::is_same_v<Value, bool>                    ? "flag"
                              : std::is_same_v<Value, std::string>           ? "word"
                              : std::is_integral_v<Value>                    ? "whole"
                              : std::is_same_v<Value, std::optional<Index>>  ? "whole"
                              : std::is_same_v<Value, double>                ? "number"
                              : std::is_same_v<Value, std::optional<double>> ? "number"
                                                                             : "";

}  // namespace

SEXP entry_prox(SEXP weights, SEXP v, SEXP step) {
  const SortedL1 norm(vector(weights));
  const double length = number(step);
  if (!(length >= 0 && std::isfinite(length)))
    throw InvalidArgument("step: want a finite number >= 0, got " + std::to_string(length));
  Vector result = checked(norm, v);
  norm.prox(result, length);
  return numbers(result);
}

SEXP entry_norm(SEXP weights, SEXP v) {
  const SortedL1 norm(vector(weights));
  return cpp11::as_sexp(norm.value(checked(norm, v)));
}

SEXP entry_dual_norm(SEXP weights, SEXP v) {
  const SortedL1 norm(vector(weights));
  return cpp11::as_sexp(norm.dual_norm(checked(norm, v)));
}

SEXP entry_weights(SEXP name, SEXP n, SEXP p, SEXP q, SEXP slope) {
  return numbers(make_weights(
      word(name), {static_cast<Index>(number(n)), static_cast<Index>(number(p)), number(q), number(slope)}));
}

SEXP entry_means(SEXP loss, SEXP predictor) {
  const auto mean = find_loss(word(loss)).mean;
  Vector means = vector(predictor);
  for (double& value : means) mean({&value, 1});
  return numbers(means);
}

SEXP entry_tables() {
  std::vector<LossRow> rows(losses().begin(), losses().end());
  cpp11::writable::list arguments;
  for (const Option& option : options()) {
    const Argument& given = option.argument;
    if (*given.name == 0) continue;
    EstimateOptions defaults;
    const char* kind = "";
    with_value(option, defaults, [&]<class Value>(const Value&) { kind = kKind<Value>; });
    arguments.push_back(cpp11::writable::list(
        {"option"_nm = underscored(option.name), "argument"_nm = given.name, "kind"_nm = kind,
         "range"_nm = given.range, "optional"_nm = given.optional, "per_row"_nm = given.per_row}));
  }
  return cpp11::writable::list(
      {"version"_nm = std::string(version()), "weights"_nm = cpp11::as_sexp(weight_names()),
       "losses"_nm = text_column(rows, [](const LossRow& row) { return row.name; }),
       "labels"_nm = column(rows, [](const LossRow& row) { return row.labels != LossRow::Labels::kNone; }),
       "arguments"_nm = arguments});
}

SEXP entry_wait() {
  wait_for_left();
  return R_NilValue;
}

}  // namespace tyto::r
