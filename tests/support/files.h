#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto {

Eigen::MatrixXd dense_copy(const Design& x);  // the raw values

std::string compressed(std::string_view contents, std::string_view extension);  // gz, bz2, xz or zst

// An .npy file of the given type ("<f8", ...) and shape, whose data are the bytes given.
std::string npy_file(std::string_view type, std::string_view shape, std::string_view bytes,
                     bool fortran_order = false, int version = 1);
template <class Element>
std::string bytes_of(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

}  // namespace tyto
