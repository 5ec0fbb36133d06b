#pragma once

#include <cstdint>
#include <random>

#include "tyto/problem/problem.h"

namespace tyto {

// Random inputs whose bits depend on the seed alone, not on the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  Index below(Index bound) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(bound)); }
  Index between(Index least, Index most) { return least + below(most - least + 1); }
  bool chance(double probability) { return uniform() < probability; }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // in [0, 1)
  double uniform(double least, double most) { return least + (most - least) * uniform(); }
  double normal();

 private:
  std::mt19937_64 engine_;
};

Vector random_vector(Random& random, Index size);
Eigen::MatrixXd random_matrix(Random& random, Index rows, Index cols);
Vector random_weights(Random& random, Index size);    // falling, with ties and zeros at times; w_1 > 0
IndexSet random_columns(Random& random, Index cols);  // strictly increasing, may be none

// Multiples of 1/8 in [-8, 8]: the same numbers in float and in double.
Eigen::MatrixXd random_float_exact(Random& random, Index rows, Index cols, double density);

Problem dense_problem(Eigen::MatrixXd x, Vector y, Vector weights);

// Gaussian design, a few non-zero coefficients and noise; weights are `shape` times strength * alpha_max.
Problem simulated_problem(Random& random, Index rows, Index cols, const Vector& shape, double strength);

}  // namespace tyto
