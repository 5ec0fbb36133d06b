#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

// What a loss says at a point. Its rows are those of a design (of several classes: one class after the
// other), which are times the roots d_i of the row weights v_i: the linear predictor is eta_i = offset_i +
// (fitted + B c)_i / d_i, with B the directions that the design projects out of its columns (the intercept
// and unpenalised columns). c is free.
struct LossPoint {
  Vector residual;  // r: minus the gradient by the fitted values, orthogonal to B
  // f''(y_i, eta_i); empty where it is 1 in every row. Of a loss that mixes rows, a diagonal that is at least
  // its second derivative.
  Vector curvature = {};
  Vector eta = {};          // where the loss needs it again
  Vector coordinates = {};  // c, which minimises the loss given the fitted values
  double value = 0;         // the loss, at least 0: what no eta could avoid is taken off
  // r'y, where a point of squared error is known by its sums over rows alone; then r is empty.
  std::optional<double> response_product = {};
  // What rounding errors are proportional to (MATH.md, section 14).
  double fitted_magnitude = 0;    // of the fitted values, besides X b itself
  double residual_magnitude = 0;  // of r
  double value_magnitude = 0;     // of the value, besides those of the fitted values
};

// What the duality gap depends on besides the loss.
struct GapTerms {
  double norm;          // J(b)
  double product;       // b'(X'r - ridge b)
  double ridge_square;  // ridge ||b||^2
  double dual_norm;     // J°(X'r - ridge b)
  bool nonnegative;     // only positive parts count in J°
};

// The best multiple of r as a dual point.
struct DualPoint {
  double scale, gap, dual;
};

// The gap of a quadratic loss (2.6): rr = ||r||^2, ry = r'y, norm = J(b), product = b'X'r, bound = J°(X'r).
struct Gap {
  double scale, gap;
};
Gap quadratic_gap(double rr, double ry, double norm, double product, double bound, bool nonnegative);

// sum_i v_i f(y_i, eta_i) as a function of the fitted values, minimised over c. One is bound to a response,
// row weights, an offset and B when it is made; it never changes.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view name() const = 0;
  virtual Index rows() const = 0;
  // `guess`: c of a point nearby, or empty.
  virtual LossPoint at(const Vector& fitted, const Vector& guess = {}) const = 0;
  // D is concave and theta = scale r feasible for any scale with scale * J° <= 1.
  virtual DualPoint best_dual(const LossPoint& at, const GapTerms& terms) const;
  // How much the dual value falls where the scale becomes scale / (1 + excess).
  virtual double dual_fall(const LossPoint& at, const GapTerms& terms, double scale, double excess) const;
  // A bound of the curvature where it matters to the dual ball: the dual optimum is within
  // sqrt(2 * bound * gap) of scale * r. Infinite where there is none.
  virtual double curvature_bound(const LossPoint& at, double scale, double gap) const = 0;
  // The length of a column there, |x_j'(theta - theta*)| <= length * sqrt(2 * bound * gap): ||x_j||, unless
  // the loss has norms of its own. Rows of the data, in order, with the values of a column there; in all
  // others it is 0.
  virtual bool has_column_norms() const { return false; }
  virtual double column_norm(std::span<const Index> rows, std::span<const double> values) const;
  // A root R of the second derivative by the fitted values, R'R: Newton's method replaces the loss around a
  // point by ||R d - u||^2 / 2, up to a constant, with d the change of the fitted values and R'u = r. R is
  // the roots of the point's curvature, unless the loss mixes rows: then it says itself what R is.
  virtual bool mixes_rows() const { return false; }
  virtual void apply_root(const LossPoint& at, Eigen::MatrixXd& columns) const;  // columns <- R columns
  virtual Vector working_residual(const LossPoint& at) const;                    // u
  // f'' is 1 everywhere: the loss is half the sum of squares, and response() is what it compares with.
  virtual bool is_quadratic() const { return false; }
  // The response in rows of the design; of a quadratic loss without what lies along B.
  virtual const Vector& response() const = 0;
  // f, of a row of weight 1 and its linear predictors: one, or that of each class.
  virtual double row_value(double y, std::span<const double> eta) const = 0;
  // How many observations there are to learn from, of rows with this total weight.
  virtual double observations(double weight) const { return weight; }
  // B, where the loss is minimised over c; without columns, if it was projected out of the response.
  virtual const Eigen::MatrixXd& basis() const = 0;

 protected:
  // sum_i v_i d(q_i, mu_i), the first term of the gap; infinite where scale * r leaves the domain.
  virtual double divergence(const LossPoint& at, double scale) const = 0;
  // Its second derivative by the scale, at 1.
  virtual double dual_curvature(const LossPoint& at) const;

 private:
  double gap(const LossPoint& at, const GapTerms& terms, double scale) const;
};

// What a loss is bound to, row by row.
struct LossData {
  Vector response;
  Vector roots = {};           // of the row weights; empty: all are 1
  Vector offset = {};          // added to the linear predictor; empty: 0
  Eigen::MatrixXd basis = {};  // B: orthogonal columns, times the roots
  double huber_delta = 1.35;   // of that loss: where squares end, in units of the response
  Vector events = {};          // of the loss cox: 1 where the time is that of an event; empty: everywhere
  Index classes = 0;           // of several classes: how many; the response is their numbers, from 0
};

// Half the sum of squares of y - fitted: y has been weighted and projected like the columns of the design.
std::shared_ptr<const Loss> gaussian_loss(Vector y);

// A loss as a part of a problem: never null, and cheap to copy. A vector y stands for its squared error.
class SharedLoss {
 public:
  SharedLoss() : SharedLoss(gaussian_loss({})) {}
  SharedLoss(std::shared_ptr<const Loss> loss) : loss_(std::move(loss)) {}  // NOLINT(*-explicit-*)
  template <class Derived>
  SharedLoss(const Eigen::DenseBase<Derived>& y)  // NOLINT(*-explicit-*)
      : loss_(gaussian_loss(Vector(y.derived()))) {}

  const Loss& operator*() const { return *loss_; }
  const Loss* operator->() const { return loss_.get(); }

 private:
  std::shared_ptr<const Loss> loss_;
};

struct LossRow {
  std::string_view name;
  // Throws InvalidArgument for a response that the loss is not defined for, or that has no finite minimum.
  std::shared_ptr<const Loss> (*make)(LossData data);
  void (*mean)(std::span<double> eta);  // what is predicted, in place of the linear predictors of a row
  enum class Labels { kNone, kTwo, kMany };
  Labels labels;   // whether the response may be labels, which stand for 0, 1, ...
  bool intercept;  // false: a constant in the linear predictor changes nothing
  std::string_view summary;
};
std::span<const LossRow> losses();
const LossRow& find_loss(std::string_view name);  // throws InvalidArgument if there is none of that name
std::vector<std::string> loss_names();

}  // namespace tyto
