#pragma once

#include <memory>

#include "tyto/problem/gradient_bounds/gradient_bounds.h"

namespace tyto {

// All of X'r, read at every point. What was read last is not read again where the point is the same: of all
// columns, as where one fit ends and the next begins, and of those that screening left.
class EagerBounds final : public GradientBounds {
 public:
  // What is read is counted by `work`, which must outlive this object. X'r at b = 0 is not read where the
  // problem knows it.
  EagerBounds(const Problem& problem, const Work& work);
  EagerBounds(const Problem&, const Work&&) = delete;
  EagerBounds(const EagerBounds&) = delete;
  EagerBounds& operator=(const EagerBounds&) = delete;

  void move_to(const Vector& r) override { residual_ = r; }
  DualNormAt evaluate_dual_norm(const Problem& problem, const Vector& beta, IndexSet support,
                                const Selection& columns) override;
  const Vector& values(const Problem&, const Vector&, const Selection&) override { return *last_->values; }
  bool exact(Index) const override { return true; }
  const Contenders& contenders() const override { return none_; }

 private:
  // X'r of some columns at a point.
  struct Reading {
    std::shared_ptr<const Vector> values = nullptr;
    Vector residual = {};
    Vector beta = {};  // where there is a ridge
    Selection columns = {};
    DualNormMemo dual_norm = {};
  };
  bool holds(const Reading& reading, const Problem& problem, const Vector& beta,
             const Selection& columns) const;

  const Work* work_;
  Index design_columns_;
  Vector residual_;
  Reading whole_, part_;
  Reading* last_ = &whole_;
  Contenders none_;
};

}  // namespace tyto
