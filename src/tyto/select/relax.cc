#include "tyto/select/relax.h"

#include <fmt/core.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <optional>

#include "tyto/base/error.h"
#include "tyto/math/linear_algebra.h"
#include "tyto/solve/clusters.h"

namespace tyto {
namespace {

// Least squares of y on Z, where a column of Z is the signed sum of the columns of a cluster, scaled to
// length 1; with the problem's ridge. Coefficients of Z are called c.
class PatternSystem {
 public:
  PatternSystem(const Problem& problem, std::span<const Index> columns, const Pattern& pattern,
                const Work& work)
      : design_(problem.design.select(columns)),
        work_(work),
        y_(problem.loss->response()),
        cluster_of_(design_.cols()),
        signs_(design_.cols()),
        ridges_(std::ssize(pattern)) {
    clusters_ = std::ssize(pattern);
    for (Index k = 0; k < clusters_; ++k)
      ridges_[k] = problem.ridge * static_cast<double>(pattern[static_cast<std::size_t>(k)].size());
    for (Index k = 0; k < clusters_; ++k) {
      const Cluster& cluster = pattern[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < cluster.columns.size(); ++i) {
        cluster_of_[cluster.columns[i]] = k;
        signs_[cluster.columns[i]] = cluster.signs[i];
      }
    }
    hessian_ = design_.is_sparse() ? from_products() : from_sums();
    hessian_ += ridges_.asDiagonal();
    scale();
  }

  // The trace of the matrix that makes fitted values of y.
  double freedom() const {
    Matrix factor = hessian_;
    if (ridges_.isZero(0) || !cholesky(factor)) return static_cast<double>(clusters_);
    const Matrix inverse =
        factor.triangularView<Eigen::Lower>().solve(Matrix::Identity(clusters_, clusters_));
    const double lost = inverse.colwise().squaredNorm().dot(ridges_);
    return static_cast<double>(clusters_) - lost;
  }

  struct Solution {
    Vector beta, residual;
    Index rank;
  };
  Solution solve() const {
    std::optional<Vector> c = by_cholesky();
    Index rank = clusters_;
    if (!c) c = by_orthogonal(rank);
    return {beta(*c), residual(*c), rank};
  }

 private:
  Matrix sums() const {  // Z before it is scaled
    Matrix z = Matrix::Zero(design_.rows(), clusters_);
    Vector one(design_.rows());
    for (Index j = 0; j < design_.cols(); ++j) {
      design_.pack({&j, 1}, 0, design_.rows(), one.data());
      z.col(cluster_of_[j]) += signs_[j] * one;
    }
    return z;
  }

  Matrix from_sums() const {
    Matrix hessian(clusters_, clusters_);
    gram(sums(), 0, hessian);
    return hessian;
  }

  // Sparse columns stay sparse: a cluster at a time.
  Matrix from_products() const {
    Matrix hessian(clusters_, clusters_);
    Vector sum, correlation;
    for (Index k = 0; k < clusters_; ++k) {
      design_.multiply((cluster_of_.array() == k).select(signs_, 0.0), sum, work_);
      design_.transpose_multiply(sum, correlation, work_);
      hessian.col(k) = by_cluster(correlation);
    }
    return hessian;
  }

  Vector by_cluster(const Vector& correlation) const {  // signed sums
    Vector sum = Vector::Zero(clusters_);
    for (Index j = 0; j < design_.cols(); ++j) sum[cluster_of_[j]] += signs_[j] * correlation[j];
    return sum;
  }

  void scale() {
    factors_ = hessian_.diagonal().unaryExpr([](double h) { return h > 0 ? 1 / std::sqrt(h) : 0.0; });
    hessian_ = factors_.asDiagonal() * hessian_ * factors_.asDiagonal();
    ridges_.array() *= factors_.array().square();
  }

  Vector beta(const Vector& c) const {
    return Vector::NullaryExpr(
        design_.cols(), [&](Index j) { return signs_[j] * (factors_[cluster_of_[j]] * c[cluster_of_[j]]); });
  }

  Vector residual(const Vector& c) const {
    Vector eta;
    design_.multiply(beta(c), eta, work_);
    return y_ - eta;
  }

  // Z'(y - Zc) less the ridge, from the data.
  Vector gradient(const Vector& c) const {
    Vector correlation;
    design_.transpose_multiply(residual(c), correlation, work_);
    return by_cluster(correlation).cwiseProduct(factors_) - ridges_.cwiseProduct(c);
  }

  // The normal equations, refined with gradients from the data. None where they are too ill-conditioned.
  std::optional<Vector> by_cholesky() const {
    constexpr double kLeastPivot = 1e-6, kEpsilon = 8 * std::numeric_limits<double>::epsilon();
    constexpr int kRounds = 6;
    Matrix factor = hessian_;
    if (clusters_ > design_.rows() || !cholesky(factor)) return {};
    if (clusters_ > 0 && factor.diagonal().minCoeff() < kLeastPivot) return {};
    Vector c = Vector::Zero(clusters_);
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      Vector step = gradient(c);
      const double error = step.norm();
      if (error <= kEpsilon * y_.norm() || (round > 1 && error > before / 2)) break;
      before = error;
      cholesky_solve(factor, step);
      c += step;
    }
    return c;
  }

  // The shortest c of those that solve least squares.
  Vector by_orthogonal(Index& rank) const {
    constexpr double kDependent = 1e-12;
    const Index rows = design_.rows(), more = ridges_.isZero(0) ? 0 : clusters_;  // a ridge is more rows
    Matrix z = Matrix::Zero(rows + more, clusters_);
    z.topRows(rows) = sums() * factors_.asDiagonal();
    z.bottomRows(more).diagonal() = ridges_.head(more).cwiseSqrt();
    Vector y = Vector::Zero(rows + more);
    y.head(rows) = y_;
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
    decomposition.setThreshold(kDependent);
    decomposition.compute(z);
    rank = decomposition.rank();
    Vector c = decomposition.solve(y);
    c += decomposition.solve(Vector(y - z * c));
    return c;
  }

  Design design_;
  const Work& work_;
  const Vector& y_;
  Eigen::Matrix<Index, Eigen::Dynamic, 1> cluster_of_;
  Vector signs_;
  Index clusters_ = 0;
  Vector ridges_;   // of c
  Matrix hessian_;  // Z'Z and the ridges
  Vector factors_;  // of the scaling
};

IndexSet support(const SparseBeta& beta) {
  return {beta.innerIndexPtr(), beta.innerIndexPtr() + beta.nonZeros()};
}
Vector values(const SparseBeta& beta) { return Eigen::Map<const Vector>(beta.valuePtr(), beta.nonZeros()); }

LeastSquares solve(const Problem& problem, std::span<const Index> columns, const Pattern& pattern,
                   const Work& work) {
  const PatternSystem::Solution solution = PatternSystem(problem, columns, pattern, work).solve();
  LeastSquares result{SparseBeta(problem.design.cols()), solution.residual.norm(), solution.rank};
  result.beta.reserve(std::ssize(columns));
  for (std::size_t k = 0; k < columns.size(); ++k)
    result.beta.insertBack(columns[k]) = solution.beta[static_cast<Index>(k)];
  return result;
}

}  // namespace

LeastSquares relax(const Problem& problem, const SparseBeta& beta, const Work& work) {
  return solve(problem, support(beta), pattern_of(values(beta)), work);
}

double pattern_freedom(const Problem& problem, const SparseBeta& beta, const Work& work) {
  const Pattern pattern = pattern_of(values(beta));
  if (problem.ridge == 0) return static_cast<double>(pattern.size());
  return PatternSystem(problem, support(beta), pattern, work).freedom();
}

LeastSquares least_squares(const Problem& problem, std::span<const Index> columns, const Work& work) {
  Pattern pattern(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) pattern[k].add(static_cast<Index>(k), 1);
  return solve(problem, columns, pattern, work);
}

SparseBeta mixed(const SparseBeta& penalized, const SparseBeta& relaxed, double gamma) {
  SparseBeta result = penalized;
  for (Index k = 0; k < result.nonZeros(); ++k)
    result.valuePtr()[k] = (1 - gamma) * relaxed.valuePtr()[k] + gamma * penalized.valuePtr()[k];
  return result;
}

InvalidArgument no_relaxed_fit(const std::string& loss) {
  return InvalidArgument("gamma: want none with the loss " + loss +
                         ": relaxed fits are for gaussian, without a penalty others need not have a minimum");
}

void validate_gamma(double gamma, bool nonnegative) {
  if (nonnegative)
    throw InvalidArgument("gamma: want none with nonnegative: relaxed coefficients may be below 0");
  if (!(gamma >= 0 && gamma <= 1))
    throw InvalidArgument(fmt::format("gamma: want a number in [0, 1], got {}", gamma));
}

}  // namespace tyto
