#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tyto/base/tuning.h"
#include "tyto/design/gram_cache.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {

// The columns that a solver works on, each in a slot, in one of two forms (MATH.md, section 7):
//   direct:      the columns themselves, copied; the state is the residual r, and X'r costs the entries of
//                the columns
//   covariance:  their Gram matrix; the state is X'r itself, and no cost depends on n
class WorkingSet {
 public:
  explicit WorkingSet(const Tuning::WorkingSet& tuning = {}) : tuning_(tuning) {}
  // The design that all others are selected from. A ridge is added to inner products, and to X'r where the
  // state is X'r. What is read of it is counted by `work`, which must outlive the set. `gram_cache`: of that
  // design, or null.
  void attach(const Design& full, double ridge, const Work& work,
              std::shared_ptr<GramCache> gram_cache = nullptr);
  void attach(const Design&, double, const Work&&, std::shared_ptr<GramCache> = nullptr) = delete;
  // Makes sure that `columns` of the design are in it. Columns that are in it already stay, unless they are
  // too many; those that the design does not have (any more) are hidden. True if slots have changed their
  // columns.
  bool include(const Design& design, std::span<const Index> columns);
  void locate(const Design& design);  // the same columns, seen from another design
  bool contains(const Design& design, std::span<const Index> columns) const;
  bool contains(std::span<const Index> columns) const { return contains(full_, columns); }

  Index size() const { return std::ssize(raw_); }
  // Slots whose columns the design has, and where.
  std::span<const Index> present() const { return present_; }
  Index column(Index slot) const { return column_[static_cast<std::size_t>(slot)]; }
  bool covariance() const { return covariance_; }
  bool packs() const { return !covariance_ && !full_.is_sparse(); }  // dense columns, in the direct form
  bool better_as_covariance(Index count) const;  // for so many columns, given the form it has now
  Index rows() const { return full_.rows(); }
  Index full_cols() const { return full_.cols(); }
  Index entries() const { return full_.stored_entries(); }
  double ridge() const { return ridge_; }

  // Inner products with slots that have been active, each in its place.
  void activate(std::span<const Index> slots);
  Index place(Index slot) const { return covariance_ ? slot : place_[static_cast<std::size_t>(slot)]; }
  Index active() const { return covariance_ ? size() : std::ssize(active_); }
  // Those of a sum of active slots, each times its factor.
  void products(std::span<const Index> slots, std::span<const double> factors, Vector& out);

  void ascent(const Vector& state, Vector& out) const;  // X'r by slot; in direct form without the ridge
  void move(const Vector& step, Vector& state) const;   // coefficients change by `step`, by slot
  // The sum of slots, each times its factor, in the direct form.
  void sum(std::span<const Index> slots, std::span<const double> factors, Vector& out) const;

 private:
  Work uncounted() const { return Work(work_->threads()); }  // with columns in memory of their own
  Index slot(Index raw) const;                               // of a number in storage, or -1
  void list_from(Index first);
  void keep(const std::vector<Index>& slots);
  void close_ranks(Index slots);
  void append(std::span<const Index> columns, const Design& design);
  void index_rows(Index from);  // active places from there on
  void sparse_products(std::span<const Index> slots, std::span<const double> factors, Vector& out);
  void products_with_sum(std::span<const Index> slots, std::span<const double> factors, Vector& out) const;

  Tuning::WorkingSet tuning_;
  Design full_;
  const Work* work_ = nullptr;
  std::shared_ptr<GramCache> gram_cache_;
  double ridge_ = 0;
  bool covariance_ = false;
  // By slot: numbers in storage, in the full design, and in the design at hand (-1: not there).
  std::vector<Index> raw_, full_column_, column_;
  std::vector<Index> present_;
  std::vector<std::pair<Index, Index>> by_raw_;  // numbers in storage, in order, each with its slot
  Design gathered_;                              // direct and sparse: all columns
  Matrix packed_;                                // direct and dense: the same
  Matrix active_columns_;                        // the same: those that are active
  std::vector<Index> active_, place_;  // direct: slots by place, and places by slot (-1: not active)
  Matrix products_;
  struct Entry {
    Index place;
    double value;
  };
  std::vector<std::vector<Entry>> by_row_;  // direct and sparse: entries of active columns
  Vector sum_, basis_squares_;              // working memory for a sum, all 0 between calls; ||B_d||^2
};

}  // namespace tyto
