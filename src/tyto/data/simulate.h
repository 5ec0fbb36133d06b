#pragma once

#include <cstdint>

#include "tyto/data/dataset.h"

namespace tyto {

// The first groups * group_size columns carry the signal, the others none. A column of group g is
// sqrt(c) z_g + sqrt(1 - c) e with a latent z_g of its group; the others follow x_j = rho x_{j-1} + sqrt(1 -
// rho^2) e. All z and e are independent standard normal. y = X truth + noise.
struct SimulateOptions {
  Index rows = 100, cols = 1000;
  Index groups = 10, group_size = 5;
  double correlation = 0.9;  // c, between columns of a group
  double rho = 0;            // between neighbours among the other columns
  double snr = 3;            // variance of X truth over variance of the noise; infinity: no noise
  double density = 1;        // below 1: a sparse matrix, entries are there with this probability
  std::uint64_t seed = 1;
};

struct Simulated {
  Dataset data;  // names g1_1, g1_2, ... and x51, x52, ...; the response is y
  Vector truth;  // p; equal within a group, alternating in sign and falling from 2 to 1 over the groups
};

// The same for a seed on every platform, up to the rounding of log, sin and cos. Throws InvalidArgument.
Simulated simulate(const SimulateOptions& options);

}  // namespace tyto
