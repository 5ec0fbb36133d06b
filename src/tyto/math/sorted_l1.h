#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "tyto/base/types.h"

namespace tyto {

// The sorted L1 norm J(b) = sum_i w[i] |b|_(i), where |b|_(1) >= |b|_(2) >= ... are the sorted magnitudes of
// b and w is non-increasing and non-negative. w = (1, ..., 1) gives the lasso, (1, 0, ..., 0) the L-infinity
// norm. Cheap to copy: heads and multiples of the weights share their memory. Where `nonnegative`, J is
// infinite unless b >= 0: then only the positive part of a correlation counts.
class SortedL1 {
 public:
  SortedL1() : SortedL1(Vector()) {}  // of no entries
  explicit SortedL1(
      Vector weights,
      bool nonnegative = false);  // throws InvalidArgument unless w is finite, >= 0 and non-increasing

  Index size() const { return size_; }
  double weight(Index i) const { return multiplier_ * data_->weight[i]; }
  double weight_sum(Index k) const { return multiplier_ * data_->sum[k]; }  // w_1 + ... + w_k
  Vector weights() const { return multiplier_ * data_->weight.head(size_); }

  bool nonnegative() const { return nonnegative_; }
  // What of a correlation pulls at a coefficient that is 0: its magnitude, or its positive part.
  double pull(double g) const { return nonnegative_ ? std::max(g, 0.0) : std::abs(g); }
  // g, or where only positive parts count, those, in `room`.
  const Vector& counted(const Vector& g, Vector& room) const;

  double value(const Vector& beta) const;  // J(beta)
  void prox(Vector& v,
            double step) const;  // v <- argmin_b |b - v|^2 / 2 + step J(b); zeros and ties are exact
  // max_k (|g|_(1) + ... + |g|_(k)) / (w_1 + ... + w_k), of what counts. A number that it is known not to be
  // below saves a look at all of g.
  double dual_norm(const Vector& g, double at_least = 0) const;

  SortedL1 head(Index k) const;              // the norm with w_1, ..., w_k
  SortedL1 scaled(double multiplier) const;  // the norm with multiplier * w
  // How many times `other` this is, if one was made from the other; else nothing.
  std::optional<double> multiple_of(const SortedL1& other) const;
  // J°(v) from that of another multiple of this norm. Nothing, if it is none, or where digits were lost:
  // below 1e-308 or so.
  std::optional<double> dual_norm_from(const SortedL1& other, double other_dual_norm) const;

 private:
  // The weights over a power of two that brings w_1 into [1, 2), so that no product or sum of them underflows
  // or overflows, whatever their unit. The multiplier has the rest.
  struct Data {
    Vector weight, sum;  // sum[k] = w_1 + ... + w_k, k = 0 .. p
  };
  std::shared_ptr<const Data> data_;
  double multiplier_ = 1;
  Index size_ = 0;
  bool nonnegative_ = false;
};

// How many of the largest bounds pay for their weights: with S(k) = sum_{i <= k} (u_(i) - s w_i), the last k
// where S(k) is within `slack` of its maximum over k = 0 .. m. Prox, dual norm and screening are all read off
// this one number: entries behind the maximum are zero in the prox of u, do not raise the dual norm beyond s,
// and are screened by the cumulative rule (MATH.md, section 4). Expected O(m): sorts only where the maximum
// can be. Reorders u so that its k largest entries come first.
struct PayingPrefix {
  Index count;
  double sum;  // u_(1) + ... + u_(count)
};
PayingPrefix paying_prefix(std::span<double> u, const SortedL1& norm, double s, double slack);

// The smallest magnitude in the prefix of what counts of v that pays at s: what is smaller cannot raise J°(v)
// beyond s. Infinity if none pays.
double paying_cut(const Vector& v, const SortedL1& norm, double s);

}  // namespace tyto
