#include "tyto/loss/multinomial.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/loss/basis_loss.h"
#include "tyto/loss/row_loss.h"

namespace tyto {
namespace {

constexpr double kFarthest = 700;   // exp overflows
constexpr double kLongestStep = 3;  // the curvature may change by exp of it

using Classes =
    Eigen::Map<const Eigen::MatrixXd>;  // rows x classes, of a vector of one class after the other

// What a row of class y says, eta being the linear predictors of its classes.
struct ClassRow {
  double value;  // f = log(sum_k exp(eta_k)) - eta_y
  double rest;   // 1 - mu_y, as a sum: a difference would lose it
};
// Leaves the probabilities mu in place of eta.
ClassRow probabilities(std::span<double> eta, std::size_t y) {
  const double most = *std::ranges::max_element(eta);
  const double below = most - eta[y];
  double others = 0;  // of classes other than y
  for (std::size_t k = 0; k < eta.size(); ++k) {
    eta[k] = std::exp(eta[k] - most);
    if (k != y) others += eta[k];
  }
  const double sum = others + eta[y];
  const double value = below == 0 ? std::log1p(others) : std::log(sum) + below;
  for (double& mu : eta) mu /= sum;
  return {value, others / sum};
}

void check(const LossData& data) {
  std::vector<double> seen(static_cast<std::size_t>(data.classes));
  for (Index i = 0; i < data.response.size(); ++i) {
    const double y = data.response[i];
    if (!(y >= 0 && y < static_cast<double>(data.classes) && y == std::floor(y)))
      throw InvalidArgument(
          fmt::format("response: row {}: want a class from 0 to {}, got {}", i, data.classes - 1, y));
    const double root = data.roots.size() > 0 ? data.roots[i] : 1;
    seen[static_cast<std::size_t>(y)] += root * root;
  }
  if (data.classes < 2) throw InvalidArgument("response: want at least two classes, got one");
  const auto none = std::ranges::find(seen, 0.0);
  if (none != seen.end())
    throw InvalidArgument(fmt::format("response: want rows of every class, got none of class {} of {}",
                                      none - seen.begin(), data.classes));
  if (data.offset.size() > 0)
    throw InvalidArgument("offset: want none with the loss multinomial: it would shift all classes alike");
}

// The data of n rows as that of the rows of all classes. Directions of the last class are left out: along
// those that all classes have in common the loss does not change.
LossData for_classes(const LossData& data) {
  const Index n = data.response.size();
  const Index directions = data.basis.cols();
  LossData all;
  all.classes = data.classes;
  all.response = Vector::Zero(n * data.classes);
  for (Index i = 0; i < n; ++i) all.response[static_cast<Index>(data.response[i]) * n + i] = 1;
  all.roots = data.roots.replicate(data.classes, 1);
  all.basis = Eigen::MatrixXd::Zero(n * data.classes, directions * (data.classes - 1));
  for (Index c = 0; c + 1 < data.classes; ++c)
    if (directions > 0) all.basis.block(c * n, c * directions, n, directions) = data.basis;
  return all;
}

// f = log(sum_k exp(eta_k)) - eta_y with a linear predictor for each class: multinomial logistic regression.
class Multinomial final : public BasisLoss {
 public:
  explicit Multinomial(const LossData& data)
      : BasisLoss(for_classes(data), {kFarthest, kLongestStep}),
        classes_(data.classes),
        own_basis_(data.basis),
        of_row_(static_cast<std::size_t>(data.response.size())) {
    for (std::size_t i = 0; i < of_row_.size(); ++i)
      of_row_[i] = static_cast<std::size_t>(data.response[static_cast<Index>(i)]);
    LossPoint null = at(Vector::Zero(rows()), {});
    if (!std::isfinite(null.value)) throw no_minimum();
    null_ = std::move(null.coordinates);
  }

  std::string_view name() const override { return "multinomial"; }
  double row_value(double y, std::span<const double> eta) const override {
    std::vector<double> room(eta.begin(), eta.end());
    return probabilities(room, static_cast<std::size_t>(y)).value;
  }
  // Pinsker's inequality: 2 (q_k - q*_k)^2 <= d(q, q*) for each class k.
  double curvature_bound(const LossPoint&, double, double) const override { return 0.25; }

  // R = diag(sqrt(mu)) (I - 1 mu') of a row: R'R = diag(mu) - mu mu'.
  bool mixes_rows() const override { return true; }
  void apply_root(const LossPoint& at, Eigen::MatrixXd& columns) const override {
    const Classes mu(at.curvature.data(), rows() / classes_, classes_);
    const Eigen::MatrixXd roots = mu.cwiseSqrt();
    for (Index j = 0; j < columns.cols(); ++j) {
      Eigen::Map<Eigen::MatrixXd> column(columns.col(j).data(), mu.rows(), classes_);
      const Vector mean = mu.cwiseProduct(column).rowwise().sum();
      column = roots.cwiseProduct(column.colwise() - mean);
    }
  }

 protected:
  // The curvature of a point is mu; r'H^-1 r = sum r_k^2 / mu_k, since the r_k of a row add up to 0.
  LossPoint evaluated(const Vector& fitted, Vector coordinates) const override {
    const Index n = own_rows();
    LossPoint point{Vector(rows()), Vector(rows()), predictor(fitted, coordinates), std::move(coordinates)};
    double squares = 0;
    double fitted_squares = 0;
    std::vector<double> mu(static_cast<std::size_t>(classes_));
    for (Index i = 0; i < n; ++i) {
      const double d = root(i);
      double farthest = 0;
      for (Index c = 0; c < classes_; ++c) {
        const double eta = point.eta[c * n + i];
        mu[static_cast<std::size_t>(c)] = eta;
        farthest = std::max(farthest, std::abs(eta));
        fitted_squares += d * d * eta * eta;
      }
      const std::size_t y = of_row_[static_cast<std::size_t>(i)];
      const ClassRow row = probabilities(mu, y);
      point.value += d * d * row.value;
      for (Index c = 0; c < classes_; ++c) {
        const auto k = static_cast<std::size_t>(c);
        const double r = k == y ? row.rest : -mu[k];
        point.residual[c * n + i] = d * r;
        point.curvature[c * n + i] = mu[k];
        squares += std::pow(d * r * (1 + 2 * farthest), 2);
      }
    }
    point.residual_magnitude = std::sqrt(squares);
    point.fitted_magnitude = std::sqrt(fitted_squares);
    point.value_magnitude = point.value;
    return point;
  }

  // (q_k - mu_k) / mu_k is s - 1 for classes other than y.
  double divergence(const LossPoint& at, double scale) const override {
    const Index n = own_rows();
    const double step = 1 - scale;
    const double of_others = relative_entropy(-step);
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const double v = weight(i);
      if (v == 0) continue;
      const Index own = static_cast<Index>(of_row_[static_cast<std::size_t>(i)]) * n + i;
      const double mu = at.curvature[own];
      const double rest = residual_of(at, i);
      const double ratio = rest / mu;
      const double of_own = ratio < kMostRatio ? mu * relative_entropy(step * ratio)
                                               : far_entropy(step * rest, log_probability(at, i));
      sum += v * (of_own + rest * of_others);
    }
    return sum;
  }

  // The null model; at first the shares of the classes, as far as the basis has them.
  Vector start(const Vector&) const override {
    if (null_.size() > 0) return null_;
    const Index n = own_rows();
    Vector share = Vector::Zero(classes_);
    for (Index i = 0; i < n; ++i)
      share[static_cast<Index>(of_row_[static_cast<std::size_t>(i)])] += weight(i);
    Vector c(data_.basis.cols());
    for (Index k = 0; k < c.size(); ++k) {
      const Index own = k / own_basis_.cols();
      const auto direction = own_basis_.col(k % own_basis_.cols());
      double product = 0;
      for (Index i = 0; i < n; ++i) product += direction[i] * root(i);
      c[k] = product / direction.squaredNorm() * std::log(share[own] / share[classes_ - 1]);
    }
    return c;
  }

  Vector times_curvature(const LossPoint& point, const Vector& v) const override {
    const Classes mu(point.curvature.data(), own_rows(), classes_);
    const Classes values(v.data(), own_rows(), classes_);
    const Vector mean = mu.cwiseProduct(values).rowwise().sum();
    const Eigen::MatrixXd result = mu.cwiseProduct(values.colwise() - mean);
    return result.reshaped();
  }

 private:
  static constexpr double kMostRatio = 1e250;

  Index own_rows() const { return std::ssize(of_row_); }

  // 1 - mu of a row's own class: the sum over the others.
  double residual_of(const LossPoint& at, Index i) const {
    double sum = 0;
    for (Index c = 0; c < classes_; ++c)
      if (static_cast<std::size_t>(c) != of_row_[static_cast<std::size_t>(i)])
        sum += at.curvature[c * own_rows() + i];
    return sum;
  }
  // log mu of a row's own class, where mu itself is nearly 0.
  double log_probability(const LossPoint& at, Index i) const {
    std::vector<double> eta;
    for (Index c = 0; c < classes_; ++c) eta.push_back(at.eta[c * own_rows() + i]);
    return -probabilities(eta, of_row_[static_cast<std::size_t>(i)]).value;
  }
  // q log(q / mu) - q
  static double far_entropy(double q, double log_mu) {
    if (q < 0) return std::numeric_limits<double>::infinity();
    return q > 0 ? q * (std::log(q) - log_mu) - q : 0;
  }

  Index classes_;
  Eigen::MatrixXd own_basis_;        // of n rows
  std::vector<std::size_t> of_row_;  // the class of each row
  Vector null_;                      // c of the model without columns
};

}  // namespace

Vector class_curvature(const LossPoint& at, Index classes, Index c, Index e) {
  const Classes mu(at.curvature.data(), at.curvature.size() / classes, classes);
  Vector result = -mu.col(c).cwiseProduct(mu.col(e));
  if (c == e) result += mu.col(c);
  return result;
}

std::shared_ptr<const Loss> make_multinomial(LossData data) {
  check(data);
  return std::make_shared<const Multinomial>(data);
}

}  // namespace tyto
