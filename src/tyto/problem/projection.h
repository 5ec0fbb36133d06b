#pragma once

#include <span>

#include "tyto/design/design.h"

namespace tyto {

// The intercept and the unpenalised columns, which the design projects out of the problem, and the way back
// to their coefficients (13.2): T c = o_y - sum_j o_j b_j / s_j, with o the coordinates along the basis.
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

  struct Coefficients {
    Vector values;  // c, of the intercept first
    // How far the fitted values, times the roots of the row weights, may be from those of the problem:
    double error;      // along the basis, since c is rounded to double precision
    double magnitude;  // in any direction, over epsilon
  };
  // For b with these non-zeros, in these columns of the design.
  Coefficients coefficients(const Design& design, std::span<const Index> columns, const Vector& values) const;

 private:
  Eigen::MatrixXd triangle_;
  Vector magnitudes_;
  Response response_;
};

}  // namespace tyto
