#pragma once

#include <cpp11.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/select/options.h"

// From R's objects to the library's, and back. All of it runs on R's thread.
namespace tyto::r {

// A double matrix or a dgCMatrix, whose memory is borrowed and kept as long as the design lives; or what
// read_data() opened.
Design borrow(SEXP x);
Design opened(SEXP x);

Vector vector(SEXP values);
std::vector<Index> whole_numbers(SEXP values);
double number(SEXP value);
std::string word(SEXP value);
std::vector<std::string> words(SEXP values);

SEXP found(const cpp11::list& list, const char* name);  // R's NULL where there is none of that name

// The data with the row weights, the offset and the labels that are among the options.
Dataset dataset(SEXP x, SEXP y, const cpp11::list& options);

Task task_named(const std::string& name);  // "fit", "path" or "cv"
// Options by the names of the library's table, with _ for -; beside them `offset` and `foldid`.
EstimateOptions read_options(const cpp11::list& given, Task task);
cpp11::list write_options(EstimateOptions options);  // those that model files keep

// One column of a table of structs, as a vector of R.
template <class Row, class Get>
cpp11::writable::doubles column(const std::vector<Row>& rows, Get get) {
  cpp11::writable::doubles values(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    values[static_cast<R_xlen_t>(k)] = static_cast<double>(get(rows[k]));
  return values;
}

template <class Row, class Get>
cpp11::writable::strings text_column(const std::vector<Row>& rows, Get get) {
  cpp11::writable::strings values(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    values[static_cast<R_xlen_t>(k)] = cpp11::r_string(std::string(get(rows[k])));
  return values;
}

}  // namespace tyto::r
