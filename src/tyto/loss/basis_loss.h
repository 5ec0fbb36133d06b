#pragma once

#include "tyto/base/error.h"
#include "tyto/loss/loss.h"

namespace tyto {

// A loss that is minimised over its coordinates along B by Newton's method, with steps that are cut where
// they are long or raise the loss.
class BasisLoss : public Loss {
 public:
  Index rows() const override { return data_.response.size(); }
  const Vector& response() const override { return data_.response; }
  const Eigen::MatrixXd& basis() const override { return data_.basis; }
  LossPoint at(const Vector& fitted, const Vector& guess) const override;

 protected:
  struct Reach {
    double farthest;      // |eta| beyond it is no minimum
    double longest_step;  // in eta, of Newton's method
  };
  BasisLoss(LossData data, Reach reach) : data_(std::move(data)), reach_(reach) {}

  // The loss at given coordinates along the basis.
  virtual LossPoint evaluated(const Vector& fitted, Vector coordinates) const = 0;
  // The second derivative by the fitted values times a change of them.
  virtual Vector times_curvature(const LossPoint& at, const Vector& change) const = 0;
  // Coordinates to begin with, where there is no guess or it is a bad one.
  virtual Vector start(const Vector& fitted) const = 0;

  double root(Index i) const { return data_.roots.size() > 0 ? data_.roots[i] : 1; }
  double weight(Index i) const { return root(i) * root(i); }
  double offset(Index i) const { return data_.offset.size() > 0 ? data_.offset[i] : 0; }
  double longest_step() const { return reach_.longest_step; }
  // The linear predictor; 0 in rows of weight 0.
  Vector predictor(const Vector& fitted, const Vector& coordinates) const;
  static InvalidArgument no_minimum();

  LossData data_;

 private:
  Eigen::MatrixXd information(const LossPoint& point) const;  // B'HB
  double slope(const LossPoint& point) const;
  double slope_error(const LossPoint& point) const;
  bool solved(const LossPoint& point) const;
  LossPoint minimised(const Vector& fitted, Vector c) const;
  void shorten(Vector& direction) const;
  LossPoint corrected(LossPoint point) const;

  Reach reach_;
};

}  // namespace tyto
