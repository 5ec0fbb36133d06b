#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

// What a sequence of weights may depend on.
struct WeightContext {
  Index n = 0, p = 0;  // the size of the problem
  double q = 0.1;      // target false discovery rate of `bh` and `gaussian`, in (0, 1]
  double slope = 1;    // of `oscar`, >= 0: the first weight is nearly 1 + slope, the last 1
};

// The shape of the weights w_1 >= ... >= w_p by name; throws InvalidArgument for an unknown name or a bad q.
Vector make_weights(std::string_view name, const WeightContext& context);
std::vector<std::string> weight_names();
bool is_weight_name(std::string_view name);

}  // namespace tyto
