#pragma once

#include <span>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

// Rows with the same time. Those that are censored come before those with an event.
struct TimeGroup {
  std::size_t begin, events, end;  // places in the order of time
  double died;                     // weight of its events
};

// The rows of positive weight from the latest time to the earliest: the risk set of a time is all rows up to
// it.
class TimeOrder {
 public:
  TimeOrder() = default;
  TimeOrder(const Vector& time, const Vector& event, const Vector& weights);

  Index size() const { return std::ssize(rows_); }
  std::span<const Index> rows() const { return rows_; }
  Index row(std::size_t place) const { return rows_[place]; }
  const std::vector<TimeGroup>& groups() const { return groups_; }
  const Vector& died() const { return died_; }  // weight of the events up to each place, of complete times

  // (14.8): sqrt(sum over times of d (range of x over the risk set)^2). Rows in order, with the values of x
  // there; in all others it is 0.
  double range_norm(std::span<const Index> rows, std::span<const double> values) const;

 private:
  std::vector<Index> rows_;
  std::vector<Index> place_;  // of each row of the data; -1: none
  std::vector<TimeGroup> groups_;
  Vector died_;
  Index end_of_events_ = 0;  // the place after the risk set of the earliest event
};

}  // namespace tyto
