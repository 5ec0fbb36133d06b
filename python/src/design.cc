// Designs that borrow the memory of NumPy and SciPy arrays, and keep them alive.
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bindings.h"
#include "tyto/base/error.h"
#include "tyto/columns/dense.h"
#include "tyto/columns/sparse.h"
#include "tyto/design/design.h"

namespace tyto::python {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

Index size(std::size_t n) { return static_cast<Index>(n); }

template <class Scalar>
Design dense(const Matrix<Scalar>& x) {
  auto owner = std::make_shared<Matrix<Scalar>>(x);
  const nb::gil_scoped_release no_gil;
  return Design(dense_columns(DenseView<Scalar>{x.data(), size(x.shape(0)), size(x.shape(1))}, owner));
}

// True if the rows of every column increase. What would lead outside of the arrays throws.
template <class StorageIndex>
bool in_order(const Array<StorageIndex>& row, const Array<StorageIndex>& start, Index rows, Index entries) {
  const Index cols = size(start.size()) - 1;
  const auto bad = [](const char* what) {
    return InvalidArgument(std::string("sparse matrix: want ") + what);
  };
  if (cols < 0 || start(0) != 0) throw bad("indptr to begin with 0");
  const StorageIndex end = start(cols);
  if (end > std::min(entries, size(row.size()))) throw bad("indptr to end within indices and data");
  bool increasing = true;
  for (Index j = 0; j < cols; ++j) {
    if (start(j) > start(j + 1) || start(j + 1) > end) throw bad("indptr not to fall");
    for (auto k = start(j); k < start(j + 1); ++k) {
      if (row(k) < 0 || row(k) >= rows) throw bad("indices from 0 to the number of rows less 1");
      increasing &= k == start(j) || row(k - 1) < row(k);
    }
  }
  return increasing;
}

// None where rows are out of order or twice there: then the caller sorts a copy.
template <class Scalar, class StorageIndex>
std::optional<Design> sparse(const Array<Scalar>& value, const Array<StorageIndex>& row,
                             const Array<StorageIndex>& start, Index rows) {
  struct Owner {
    Array<Scalar> value;
    Array<StorageIndex> row, start;
  };
  auto owner = std::make_shared<Owner>(Owner{value, row, start});
  const nb::gil_scoped_release no_gil;
  if (!in_order(row, start, rows, size(value.size()))) return std::nullopt;
  const SparseView<Scalar, StorageIndex> view{value.data(), row.data(), start.data(), rows,
                                              size(start.size()) - 1};
  return Design(sparse_columns(view, owner));
}

template <class Scalar, class StorageIndex>
void add_sparse(nb::class_<Design>& design) {
  design.def_static("sparse", &sparse<Scalar, StorageIndex>, nb::arg("data").noconvert(),
                    nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("rows"));
}

}  // namespace

void add_design(nb::module_& module) {
  nb::class_<Design> design(module, "Design");
  design.def_static("dense", &dense<double>, nb::arg("x").noconvert())
      .def_static("dense", &dense<float>, nb::arg("x").noconvert())
      .def_static("dense", &dense<std::int8_t>, nb::arg("x").noconvert())
      .def_static("dense", &dense<std::uint8_t>, nb::arg("x").noconvert())
      .def_static("dense", &dense<std::int16_t>, nb::arg("x").noconvert())
      .def_prop_ro("rows", &Design::rows)
      .def_prop_ro("cols", &Design::cols);
  add_sparse<double, std::int32_t>(design);
  add_sparse<double, std::int64_t>(design);
  add_sparse<float, std::int32_t>(design);
  add_sparse<float, std::int64_t>(design);
}

}  // namespace tyto::python
