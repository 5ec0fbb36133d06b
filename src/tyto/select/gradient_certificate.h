#pragma once

#include <memory>
#include <string>

#include "tyto/moments/gradients.h"
#include "tyto/problem/problem.h"

namespace tyto {

// What sums over rows say about one model.
struct SummedPoint {
  Certificate certificate;
  Vector gradient;  // X'r on the scale of the problem, for the best dual point near r; without the ridge
};

// Model `number` of a query.
struct SummedModel {
  const GradientSums& sums;
  Index number;
  const Vector& means;  // of the columns less the centre
  bool intercept;
  double response_square;  // of the encoded response
  double rows;             // of the data
};
// Its coefficients are `beta` on the scale of `problem`, whose loss stands for that of the data (MATH.md,
// section 15).
SummedPoint certify(const Problem& problem, const Vector& beta, const std::string& loss,
                    const SummedModel& model);
// What criteria have to know of the loss.
std::shared_ptr<const Loss> loss_of_sums(const std::string& loss, const SummedModel& model);

}  // namespace tyto
