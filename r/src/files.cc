// Data files, and columns of what they hold.
#include <cpp11/external_pointer.hpp>

#include <memory>
#include <utility>

#include "binding/reading.h"
#include "convert.h"
#include "look.h"
#include "tyto/base/error.h"
#include "tyto/data/text.h"

namespace tyto::r {
namespace {

using namespace cpp11::literals;

using binding::check_columns;
using binding::parsed;

std::optional<std::string> word_or_none(const cpp11::list& list, const char* name) {
  const SEXP value = found(list, name);
  if (Rf_isNull(value)) return {};
  return word(value);
}

std::vector<std::string> words_or_none(const cpp11::list& list, const char* name) {
  const SEXP values = found(list, name);
  return Rf_isNull(values) ? std::vector<std::string>() : words(values);
}

Index number_or_none(const cpp11::list& list, const char* name) {
  const SEXP value = found(list, name);
  return Rf_isNull(value) ? 0 : static_cast<Index>(number(value));
}

ReadOptions reading(const cpp11::list& given) {
  ReadOptions options;
  options.format = word_or_none(given, "format").value_or("");
  options.target = word_or_none(given, "target");
  options.response = word_or_none(given, "response");
  options.weights = word_or_none(given, "weights");
  options.offset = word_or_none(given, "offset");
  options.text_labels = true;  // of what is fitted nobody knows yet
  options.target_optional = LOGICAL(found(given, "no_target"))[0] != 0;
  options.drop = words_or_none(given, "drop");
  for (const std::string& column : words_or_none(given, "one_hot")) options.one_hot.push_back({column, {}});
  options.missing = parsed(kMissingWords, "missing", word(found(given, "missing")));
  options.header = parsed(binding::kHeaderWords, "header", word(found(given, "header")));
  options.decimal = parsed(binding::kDecimalWords, "decimal", word(found(given, "decimal")));
  options.features = number_or_none(given, "features");
  options.memory = number_or_none(given, "memory");
  return options;
}

cpp11::writable::strings utf8(const std::vector<std::string>& all) {
  return text_column(all, [](const std::string& one) { return valid_utf8(one); });
}

SEXP or_null(const Vector& values) {
  if (values.size() == 0) return R_NilValue;
  return column(std::vector<double>(values.begin(), values.end()), [](double value) { return value; });
}

}  // namespace

Design opened(SEXP x) {
  const SEXP pointer = found(cpp11::list(x), "pointer");
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == nullptr)
    throw InvalidArgument("x: want data that was opened in this session: read_data() again");
  return *cpp11::external_pointer<Design>(pointer);
}

SEXP entry_open(SEXP files, SEXP given) {
  const std::vector<std::string> names = words(files);
  const ReadOptions options = reading(cpp11::list(given));
  if (options.memory > 0 && !reads_columns(names, options))
    throw InvalidArgument("memory: want NULL for " + printable(names[0]) + ", which is read as a whole");
  const Dataset data = run([names, options](Watch&) { return read(names, options); }, On::kOwnThread);
  const cpp11::external_pointer<Design> pointer(new Design(data.design));
  const cpp11::writable::doubles size(
      {static_cast<double>(data.design.rows()), static_cast<double>(data.design.cols())});
  return cpp11::writable::list(
      {"pointer"_nm = static_cast<SEXP>(pointer), "dim"_nm = size, "storage"_nm = data.design.storage(),
       "names"_nm = utf8(data.names), "y"_nm = or_null(data.response),
       "response_name"_nm = valid_utf8(data.response_name), "labels"_nm = utf8(data.labels),
       "sample_weight"_nm = or_null(data.row_weights), "offset"_nm = or_null(data.offset),
       "dropped_rows"_nm = column(data.dropped_rows, [](Index row) { return row; }),
       "warnings"_nm = utf8(data.warnings)});
}

SEXP entry_columns(SEXP x, SEXP columns) {
  const Design design = borrow(x);
  const std::vector<Index> places = whole_numbers(columns);
  check_columns(design, places);
  cpp11::writable::doubles_matrix<> values(static_cast<int>(design.rows()), static_cast<int>(places.size()));
  design.pack(places, 0, design.rows(), REAL(static_cast<SEXP>(values)));
  return values;
}

SEXP entry_product(SEXP x, SEXP columns, SEXP coefficients) {
  const Design design = borrow(x);
  const std::vector<Index> places = whole_numbers(columns);
  check_columns(design, places);
  const int models = Rf_ncols(coefficients);
  const Eigen::Map<const Eigen::MatrixXd> beta(REAL(coefficients), std::ssize(places), models);
  if (Rf_nrows(coefficients) != std::ssize(places))
    throw InvalidArgument("coefficients: want a row for each column");
  cpp11::writable::doubles_matrix<> values(static_cast<int>(design.rows()), models);
  for (int k = 0; k < models; ++k) {
    Vector sum;
    design.multiply(places, beta.col(k), sum);
    std::copy(sum.begin(), sum.end(), REAL(static_cast<SEXP>(values)) + k * design.rows());
  }
  return values;
}

}  // namespace tyto::r
