#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "convert.h"
#include "tyto/base/error.h"
#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"

namespace tyto::r {
namespace {

// What leads outside of the arrays throws; R does not always look (`validObject` does).
void check_sparse(const SparseView<double, int>& view, R_xlen_t entries) {
  const auto bad = [](const char* what) {
    return InvalidArgument(std::string("x: want a dgCMatrix with ") + what);
  };
  if (view.start[0] != 0 || view.start[view.cols] > entries) throw bad("@p from 0 to the length of @x");
  for (Index j = 0; j < view.cols; ++j) {
    if (view.start[j] > view.start[j + 1]) throw bad("@p that does not fall");
    for (int k = view.start[j]; k < view.start[j + 1]; ++k) {
      if (view.row[k] < 0 || view.row[k] >= view.rows) throw bad("@i below the number of rows");
      if (k > view.start[j] && view.row[k - 1] >= view.row[k]) throw bad("@i that increases in each column");
    }
  }
}

SEXP slot(SEXP object, const char* name) {
  return cpp11::safe[R_do_slot](object, cpp11::safe[Rf_install](name));
}

Design sparse(SEXP x) {
  const SEXP value = slot(x, "x"), row = slot(x, "i"), start = slot(x, "p"), size = slot(x, "Dim");
  const SparseView<double, int> view{REAL(value), INTEGER(row), INTEGER(start), INTEGER(size)[0],
                                     INTEGER(size)[1]};
  if (Rf_xlength(start) != view.cols + 1)
    throw InvalidArgument("x: want a dgCMatrix with a @p for each column");
  check_sparse(view, std::min(Rf_xlength(value), Rf_xlength(row)));
  return Design(sparse_columns(view, std::make_shared<cpp11::sexp>(x)));
}

template <class Scalar>
Design dense(const Scalar* data, SEXP x, std::shared_ptr<const void> owner) {
  return Design(dense_columns(DenseView<Scalar>{data, Rf_nrows(x), Rf_ncols(x)}, std::move(owner)));
}

template <class Scalar>
Design copied(const int* values, SEXP x) {
  auto copy = std::make_shared<std::vector<Scalar>>(static_cast<std::size_t>(Rf_xlength(x)));
  for (std::size_t k = 0; k < copy->size(); ++k)
    (*copy)[k] = std::is_floating_point_v<Scalar> && values[k] == NA_INTEGER ? static_cast<Scalar>(NA_REAL)
                                                                             : static_cast<Scalar>(values[k]);
  return dense(copy->data(), x, copy);
}

// Whole numbers, and TRUE and FALSE, in the narrowest type that holds all of them.
Design whole(SEXP x) {
  const int* values = TYPEOF(x) == LGLSXP ? LOGICAL(x) : INTEGER(x);
  const auto [least, most] = std::minmax_element(values, values + Rf_xlength(x));
  const auto fit = [low = *least, high = *most](auto type) {
    using Limits = std::numeric_limits<decltype(type)>;
    return low >= Limits::min() && high <= Limits::max();
  };
  if (Rf_xlength(x) == 0 || !fit(std::int16_t{})) return copied<double>(values, x);  // as is NA
  return fit(std::int8_t{}) ? copied<std::int8_t>(values, x) : copied<std::int16_t>(values, x);
}

}  // namespace

Design borrow(SEXP x) {
  if (Rf_inherits(x, "owl_data")) return opened(x);
  if (Rf_inherits(x, "dgCMatrix")) return sparse(x);
  if (!Rf_isMatrix(x)) throw InvalidArgument("x: want a matrix of numbers or a dgCMatrix");
  if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) return whole(x);
  if (TYPEOF(x) == RAWSXP) return dense(RAW(x), x, std::make_shared<cpp11::sexp>(x));
  if (TYPEOF(x) != REALSXP) throw InvalidArgument("x: want a matrix of numbers or a dgCMatrix");
  return dense(REAL(x), x, std::make_shared<cpp11::sexp>(x));
}

Dataset dataset(SEXP x, SEXP y, const cpp11::list& options) {
  Dataset data{borrow(x), vector(y)};
  if (const SEXP rows = found(options, "observation_weights"); !Rf_isNull(rows))
    data.row_weights = vector(rows);
  if (const SEXP offset = found(options, "offset"); !Rf_isNull(offset)) data.offset = vector(offset);
  if (const SEXP labels = found(options, "labels"); !Rf_isNull(labels)) data.labels = words(labels);
  return data;
}

}  // namespace tyto::r
