#include "tyto/loss/time_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"

namespace tyto {

TimeOrder::TimeOrder(const Vector& time, const Vector& event, const Vector& weights)
    : place_(static_cast<std::size_t>(time.size()), -1) {
  for (Index i = 0; i < time.size(); ++i)
    if (weights[i] > 0) rows_.push_back(i);
  std::ranges::stable_sort(rows_, [&](Index i, Index k) {
    if (time[i] != time[k]) return time[i] > time[k];
    return event[i] < event[k];
  });
  died_.resize(std::ssize(rows_));
  double total = 0;
  for (std::size_t begin = 0; begin < rows_.size();) {
    TimeGroup group{begin, begin, begin, 0};
    for (; group.end < rows_.size(); ++group.end) {
      const Index row = rows_[group.end];
      if (time[row] != time[rows_[begin]]) break;
      place_[static_cast<std::size_t>(row)] = static_cast<Index>(group.end);
      if (event[row] == 0)
        ++group.events;
      else
        group.died += weights[row];
      died_[static_cast<Index>(group.end)] = total;
    }
    total += group.died;
    died_[static_cast<Index>(group.end) - 1] = total;
    groups_.push_back(group);
    if (group.died > 0) end_of_events_ = static_cast<Index>(group.end);
    begin = group.end;
  }
}

namespace {

// (14.8): the sum over times of d (range of x over the risk set)^2, risk set by risk set.
class RangeSquares {
 public:
  explicit RangeSquares(const Vector& died) : died_(died) {}
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  // The values so far are those of all risk sets up to this place that have not been counted.
  void count_up_to(Index place) {
    const double died = died_[place] - counted_;
    if (died > 0) sum_ += died * (most_ - least_) * (most_ - least_);
    counted_ = died_[place];
  }
  // Raised by what differences of sums of weights may lose.
  double root() const {
    const double lost = rounding::of_product(died_.size()) * counted_;
    return std::sqrt(sum_ + lost * (most_ - least_) * (most_ - least_));
  }

 private:
  const Vector& died_;  // weight of the events up to each place
  double least_ = std::numeric_limits<double>::infinity(), most_ = -least_;
  double counted_ = 0, sum_ = 0;
};

}  // namespace

double TimeOrder::range_norm(std::span<const Index> listed, std::span<const double> values) const {
  const Index n = end_of_events_;
  RangeSquares squares(died_);
  if (std::ssize(listed) == std::ssize(place_)) {  // in order: every row is there
    for (Index place = 0; place < n; ++place) {
      squares.add(values[static_cast<std::size_t>(rows_[static_cast<std::size_t>(place)])]);
      squares.count_up_to(place);
    }
    return squares.root();
  }
  std::vector<std::pair<Index, double>> entries;
  entries.reserve(listed.size());
  for (std::size_t k = 0; k < listed.size(); ++k)
    if (const Index place = place_[static_cast<std::size_t>(listed[k])]; place >= 0 && place < n)
      entries.emplace_back(place, values[k]);
  std::ranges::sort(entries, {}, &std::pair<Index, double>::first);
  Index seen = 0;  // places before the next entry
  for (const auto& [place, value] : entries) {
    if (place > seen) {
      squares.add(0);
      squares.count_up_to(place - 1);
    }
    squares.add(value);
    squares.count_up_to(place);
    seen = place + 1;
  }
  if (seen < n) {
    squares.add(0);
    squares.count_up_to(n - 1);
  }
  return squares.root();
}

}  // namespace tyto
