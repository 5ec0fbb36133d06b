#pragma once

#include <span>

#include "tyto/design/design.h"

namespace tyto {

// The intercept and the unpenalised columns, which the design projects out of the problem, and the way back
// to their coefficients (13.2): T c = o_y - sum_j o_j b_j / s_j, with o the coordinates along the basis. Of
// several classes each has its own, which are only known up to what they have in common: their mean is 0.
class Projection {
 public:
  using Coordinates = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  struct Response {
    Coordinates along;  // o_y
    double norm;        // before unpenalised columns were projected out, which leaves errors of that size
  };
  // `triangle`: T, the intercept (if there is one) and the unpenalised columns as coordinates of the basis.
  // `magnitudes`: what rounding errors of these coordinates are proportional to, of the unpenalised columns.
  Projection(Eigen::MatrixXd triangle, Vector magnitudes, Response response);

  double response_norm() const { return response_.norm; }
  double response_squares(const Design& design) const;  // of what was projected out of the response

  struct Coefficients {
    Vector values;  // c, of the intercept first; of one class after the other
    // How far the fitted values, times the roots of the row weights, may be from those of the problem:
    double error;      // along the basis, since c is rounded to double precision
    double magnitude;  // in any direction, over epsilon
  };
  // For b with these non-zeros, in these columns of the design. `along`: the coordinates of the linear
  // predictor, where a loss has found them (0 for classes that it leaves out); empty: those of the response.
  Coefficients coefficients(const Design& design, std::span<const Index> columns, const Vector& values,
                            const Vector& along = {}) const;

 private:
  // The right-hand side of the system, of one class, and the size of what it was added up from.
  struct Side {
    Coordinates rest;
    Vector spread;
  };
  void centre(Coordinates& rest, Vector& spread, Index classes) const;
  // Adds the errors to the result.
  void solve(Side side, const Design& design, double of_sum, Eigen::Ref<Vector> values,
             Coefficients& result) const;

  Eigen::MatrixXd triangle_;
  Vector magnitudes_;
  Response response_;
};

}  // namespace tyto
