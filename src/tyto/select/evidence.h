#pragma once

#include "tyto/moments/evidence.h"
#include "tyto/select/model.h"

namespace tyto {

// What a model's certificate is about: its penalised coefficients, on the scale of the data.
LinearModel penalized(const Model& model);

// A certificate from sums over the data.
struct SummedCertificate {
  Certificate certificate;
  Vector correlation;  // X'r on the scale of the problem, without the ridge
};
// Of model k of a query, fitted by `regression`, which has its multiplier and its columns; its numbers of
// rows are not used. Scales are those of the data that was summed (MATH.md, section 15).
SummedCertificate certify(const Regression& regression, const Model& model, const EvidenceSums& sums,
                          Index k);

}  // namespace tyto
