#include "tests/support/zoo.h"

namespace tyto {
namespace {

Vector vec(std::initializer_list<double> entries) {
  return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

Eigen::MatrixXd mat(std::initializer_list<std::initializer_list<double>> rows) {
  return Eigen::MatrixXd(rows);
}

}  // namespace

// Optimal is b with J°(X'r) <= 1 and b'X'r = J(b), r = y - Xb: the comments give g = X'r at the solution.
std::vector<ZooProblem> zoo() {
  const Eigen::MatrixXd i2 = Eigen::MatrixXd::Identity(2, 2), i3 = Eigen::MatrixXd::Identity(3, 3);
  const Eigen::MatrixXd hadamard = mat({{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}});
  return {
      // b = prox(y) = (5 - 3, 3 - 2, 0): 1 - 3/2 is clipped.
      {"identity", i3, vec({5, 3, 1}), vec({3, 2, 1.5}), vec({2, 1, 0})},
      // X'X = 4 I, so b = prox of X'y / 4 = (4, -4, 3, 1/2) with w / 4 = (2, 1, 1, 1): (4 - 2, 4 - 1) pools
      // to 5/2, 3 - 1 = 2 stays, 1/2 - 1 is clipped.
      {"orthogonal_clusters", hadamard, hadamard * vec({4, -4, 3, 0.5}), vec({8, 4, 4, 4}),
       vec({2.5, -2.5, 2, 0})},
      // g = (1, 1/2, -1): lasso, strictly inside at the zero.
      {"lasso", mat({{1, 1, 0}, {0, 1, 1}, {0, 0, 1}}), vec({2, -2.5, -2.5}), vec({1, 1, 1}),
       vec({1, 0, -2})},
      // The L-infinity norm clips y at t with (5 - t) + (3 - t) = 4.
      {"linf", i3, vec({5, 3, 1}), vec({4, 0, 0}), vec({2, 2, 1})},
      // Equal columns share: g = (5/2, 5/2, 1), 2 * 5/2 = w_1 + w_2.
      {"duplicates", mat({{1, 1, 1}, {1, 1, -1}}), vec({4.25, 2.25}), vec({3, 2, 1}), vec({1, 1, 0.5})},
      // r = 1/2, g = (1, 1/2), 1 + 1/2 < w_1 + w_2.
      {"one_row", mat({{2, 1}}), vec({3}), vec({1, 0.75}), vec({1.25, 0})},
      // b = (x'y - w) / x'x = (9 - 9/2) / 9.
      {"one_column", mat({{1}, {2}, {2}}), vec({1, 1, 3}), vec({4.5}), vec({0.5})},
      {"zero_response", mat({{1, 2}, {3, 4}}), vec({0, 0}), vec({1, 0.5}), vec({0, 0})},
      // g = (1, 0, 3/4).
      {"zero_column", mat({{2, 0, 0}, {0, 0, 1}}), vec({3, 1.5}), vec({1, 0.75, 0.5}), vec({1.25, 0, 0.75})},
      // g = y: 3/2 <= 3, 3/2 + 3/2 <= 4, though 3/2 > w_2 (the seed's rule keeps both columns for ever).
      {"zero_solution", i2, vec({1.5, 1.5}), vec({3, 1}), vec({0, 0})},
      // Correlated columns tie: g = (3/2, 5/2), sum 4 = w_1 + w_2, largest < w_1.
      {"correlated_pair", mat({{2, 2}, {0, 1}}), vec({4.75, 2}), vec({3, 1}), vec({1, 1})},
      // (3 - 2, 5/2 - 1) pools to 5/4; the last weight is 0, so 1/4 stays.
      {"zero_weight", i3, vec({3, -2.5, 0.25}), vec({2, 1, 0}), vec({1.25, -1.25, 0.25})},
  };
}

std::string name(Storage storage) {
  return storage == Storage::kDense ? "dense" : storage == Storage::kFloat ? "float" : "sparse";
}

Design stored(const Eigen::MatrixXd& x, Storage storage) {
  if (storage == Storage::kDense) return Design::dense(x);
  if (storage == Storage::kFloat) return Design::dense(Eigen::MatrixXf(x.cast<float>()));
  return Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView()));
}

}  // namespace tyto
