#pragma once

#include "tyto/loss/loss.h"

namespace tyto {

// The second derivative of the multinomial loss by the linear predictors of classes c and e, row by row:
// mu_c (1 - mu_c), or -mu_c mu_e. The curvature of its points is mu, of one class after the other.
Vector class_curvature(const LossPoint& at, Index classes, Index c, Index e);

}  // namespace tyto
