#pragma once

#include <optional>

#include "tyto/moments/columns_alone.h"
#include "tyto/moments/gradients.h"
#include "tyto/select/estimate.h"
#include "tyto/select/local_model.h"

namespace tyto {

// Models for rows that nobody holds in memory, where moments of all columns are not enough (other losses) or
// too many (wide data): as SummedEstimate, it is asked for the next pass and told its sums.
//
//   EstimateByGradients found(columns, options, kPathTask);
//   while (const auto query = found.ask()) found.tell(sum_over_data(*query));
//
// A window of strengths is solved at once, by Newton's method on the columns that matter: each pass judges
// the window's models on all of the data and columns, and sums second derivatives of the working set at a few
// of them (MATH.md, section 15). The first pass is that of the columns.
class EstimateByGradients {
 public:
  // Throws InvalidArgument for what gradients cannot serve: cross-validation, unpenalised columns, relaxed
  // fits, the noise level, other losses than those of loss/rows.h.
  EstimateByGradients(const ColumnSet& columns, const EstimateOptions& options, Task task);

  std::optional<GradientQuery> ask() const;  // nothing once all is done
  // Throws DataError where the rows are not those of the first pass.
  void tell(const GradientSums& sums);

  Index passes() const { return passes_; }  // over the data, the first included
  void took(double seconds, double cpu_seconds);

  Dataset data = {};       // names and sizes; its rows stand for others
  Estimate estimate = {};  // complete once nothing is asked

 private:
  struct Strength {  // of the penalty
    double alpha = 0;
    LocalPoint best = {};  // and what is known there
    double loss = 0, objective = 0;
    Certificate certificate = {};
    LocalSolution trial = {}, target = {};  // what is judged next, on the way to what the model wants
    double share = 1;                       // of that way
    Index passes = 0, solved_on = 0;        // columns known then
    bool judged = false, done = false;
    Status status = Status::kStalled;
  };
  struct Curvature {
    Index step;  // whose model it was taken at
    CoMoments moments;
  };

  void make_stand_in();
  void make_reference();
  void make_strengths();
  std::vector<Index> pending() const;
  std::vector<Index> asked() const;  // those of the pending that the next pass judges
  std::vector<Index> curved(Index models) const;
  bool wants_curvature() const { return !quadratic_ || working_ != known_; }
  GradientQuery query_of(const std::vector<LocalSolution>& models) const;
  void check_same_rows(const GradientSums& sums) const;
  void judge(Strength& at, const GradientSums& sums, Index number, Index solved_on);
  void keep_curvatures(const GradientSums& sums, const std::vector<Index>& asked);
  void advance();
  void finish_steps();
  void widen_window();
  void widen_working_set();
  void solve_window();
  CoMoments curvature_at(Index step) const;
  void append_step(const Strength& at);
  void give_up();
  void finish();
  void add_criteria();

  EstimateOptions options_;
  Task task_;
  ColumnSet columns_;
  std::vector<double> classes_;
  bool quadratic_ = false;
  Vector centre_;  // taken off the columns; 0 where they are sparse
  Vector means_;   // of the columns, less the centre
  double response_mean_ = 0, response_square_ = 0, null_loss_ = 0;
  std::vector<Strength> strengths_;
  Strength reference_;                      // the last that is done, or the model without columns
  Index first_ = 0, end_ = 0, window_ = 0;  // strengths that are looked at together
  IndexSet working_, known_;                // columns; those whose second derivatives are known
  std::vector<Curvature> curvatures_;       // of the known columns
  Index passes_ = 1;
  bool done_ = false;
};

}  // namespace tyto
