#pragma once

#include "tyto/base/types.h"

namespace tyto {

// Thresholds of speed: where two ways lead to the same answer, which one is taken, and how much is done at a
// time. No certificate depends on them; the margins that keep results safe are in rounding.h. They are handed
// down from FitOptions, so that a test can reach every branch on small data. Their values are not validated.
// A change of a default carries figures, made by a command under bench/. A share is a part of 1.
struct Tuning {
  // Which columns of X'r a certificate reads (problem/gradient_bounds/drift.h).
  struct Reading {
    Index cache_entries = Index{1} << 20;  // entries: an X of at most so many is simply read
    Index tiny_column = 8;                 // mean entries: sparse columns of at most so many are always read
    Index short_column = 48;               // mean entries: of columns up to that, all contenders are read
    Index short_column_in_cache = 128;     // the same, where X has at most `cache_entries`
    double all_share = 0.75;               // of all columns: if more have to be read, all are
    Index sample = 1024;                   // columns in the sample that tells how many have to be read
    Index sample_stretch = 8;              // columns of X for each in the sample; with fewer, there is none
    double sample_share = 0.8;             // of the sample: if more have to be read, all columns are
    double near_zero_share = 1.0 / 16;     // of all columns: so many contenders are listed from X'y alone
    double wide_level = 0.99;    // of J° of the support: level of the contenders kept for screening
    double narrowing = 0.9;      // share left after a round that drops contenders: if less, another
    double least_factor = 0.25;  // the factor c of (3.2), at least
    double most_factor = 4;      // and at most
  };

  // The subspace of residuals along which X'r is known (problem/gradient_bounds/subspace.h).
  struct Subspace {
    Index directions = 16;          // that are remembered; after that, the older half is dropped
    Index directions_at_once = 2;   // new ones in a pass: two take hardly longer than one
    double apart = 1e-5;            // of its length: a residual that far off the subspace adds a direction
    double worst_error = 1e-8;      // of X'q, over ||x_j||: a direction q made from differences has less
    Index residuals_per_pass = 8;   // that are read in twice the time of one
    double needed_share = 2.0 / 3;  // of the columns needed before: if more still are, no new direction
  };

  // Tries at screening, and what a try costs (problem/screening.h, solve/screening_schedule.h).
  struct Screening {
    static constexpr Index kBlock = 256;  // columns whose bounds are made at a time, on the stack
    double radius_fall = 0.9;             // of the radius at the last try: there is another one at or below
    double slow_round = 0.5;              // share of the bounds: a round of the seed rule that keeps more
    int slow_rounds = 8;      // rounds of the seed rule: after that, a slow one is followed by sorting
    Index sort_at = 16384;    // bounds: at most so many are sorted after any slow round
    Index lazy_epochs = 3;    // epochs before the first try, where columns are read lazily
    double lazy_share = 0.5;  // of the columns: if more would stay, none is dropped there
  };

  // The loop over epochs (solve/path_solver.cc).
  struct Loop {
    double call_seconds = 0.1;    // seconds between calls of the observer within an epoch
    Index patience = 1000;        // epochs without progress before a solver counts as stalled
    Index newton_patience = 20;   // the same for newton, whose epochs are few
    double patience_share = 0.5;  // of all epochs so far: that many without progress never count as stalled
  };

  // Several strengths at once (solve/lookahead.cc).
  struct Lookahead {
    Index ahead = 12;                         // strengths at once: at first, and after some were refused
    Index most_ahead = 24;                    // strengths at once, where none was refused
    Index least_ahead = 2;                    // strengths at once, however many were refused
    Index all_columns = 128;                  // columns: up to that, the solver takes all of X at once
    Index rows_per_column = 2;                // rows for each column: X has more where all of it is taken
    Index residual_entries = Index{1} << 17;  // entries of the residuals at once, where all of X is taken
    double too_hard = 1.01;                   // J° of the guessed X'r: above it, columns are missing
    Index soon = 12;                          // strengths: columns that enter so soon are taken in
    double weight_ratio = 3;                  // present weight over |x_j'r|: with more, none is taken in
    double least_correlation = 0.01;          // of the largest |x_j'r|: with less, none is taken in
  };

  // Which columns newton works on, and in which form (solve/newton.cc, solve/working_set.cc).
  struct WorkingSet {
    Index least = 32;               // columns beside the support, at least
    double first_share = 1.0 / 64;  // of dense columns, in a first working set far below alpha_max
    double first_slope = 0.5;       // of that share, for each unit that alpha_max / alpha is above 1
    double share = 1.0 / 256;       // of the columns, in other working sets
    double most_roots = 2;          // times sqrt(p): limit of the two shares of dense columns
    double failure = 0.5;           // gap over the last one: above it, twice as many columns are taken
    double near_weight = 0.9;       // of the weight: a column with smaller |x_j'r| joins no Gram matrix
    Index few_ratio = 32;           // columns of X for each in the set: with more, it is solved to the end
    Index whole_column = 4096;      // rows: a Gram matrix of longer columns is not completed
    double whole_share = 0.4;       // of all columns: a Gram matrix of more is completed
    Index whole_rows = 2;           // rows for each column: with no more, it is not completed
    Index gram_at_first = 2;        // mean entries for each column of the set: if more, a Gram matrix
    Index gram_stays = 1;           // the same, where there is one
    Index gram_enters = 4;          // the same, where columns were copied
    Index crowd_factor = 3;         // times the columns wanted, plus `crowd_base`: more are too many
    Index crowd_base = 64;          // columns
    Index crowd_gram = 4;           // times the Gram matrix: larger than X, it is too large to stay
  };

  // How exactly newton solves a working set, round by round (solve/newton.cc).
  struct Descent {
    int rounds = 100;            // rounds in an epoch, at most
    int least_rounds = 2;        // rounds before an epoch may be stopped early
    int free_rounds = 1;         // rounds before a gap that rises or falls slowly changes the cuts
    double goal_share = 0.5;     // of the gap that is tolerated: a working set is solved to that
    double gap_share = 0.0005;   // of the present gap: no smaller one is asked for, but of a small set
    double far = 0.05;           // of the objective: a point with a larger gap is far from the solution
    double far_share = 0.03;     // of the present gap: small enough far away, once rounds are very slow
    double fast = 0.3;           // gap over that of the last round: below it, more clusters may be cut
    double slow = 0.5;           // above it, far away, clusters are cut into all their parts
    double very_slow = 0.6;      // above it, far away, the working set is left
    double stuck = 0.8;          // above it (far away: above `fast`), clusters are solved more exactly
    double worse = 1.5;          // above it, fewer clusters are cut
    double least_cuts = 0.1;     // of all clusters: at least that share may be cut
    double precision = 1e-2;     // of the target: the cluster problem is solved to that at first
    double target_share = 0.01;  // of the gap: no smaller target for a cluster problem
    double rough = 30;           // times the precision, far away
    double sharper = 0.1;        // times the precision, after a round that was stuck
    double sharpest = 1e-4;      // times the precision, at least, where no cluster is cut
  };

  // Clusters that are cut, and the matrix H of the cluster problem (solve/clusters.h,
  // solve/cluster_system.h).
  struct Pattern {
    Index cuts = 4;                // clusters that may be cut in any round
    Index leaving = 16;            // new clusters that leave zero in a round
    Index most_leaving = 512;      // the same, after rounds in which those that left stayed away
    double leaving_share = 0.5;    // of all clusters: so many may leave zero in any case
    double joined_share = 0.75;    // of the columns that left zero: if more stay away, more may leave
    Index follow_clusters = 48;    // clusters: a pattern of at most so many is moved by one Newton step
    Index sums_rows = 2;           // columns for each row: above it, H comes from the sums of clusters
    double spare_rows = 1.0 / 16;  // of the clusters: rows of H to spare, when it grows
    double most_spare = 1.0 / 8;   // of the clusters, plus `most_spare_rows`: H with more shrinks
    Index most_spare_rows = 32;    // rows
  };

  // Coordinate descent and Newton's method on clusters (solve/cluster_problem.h, solve/pattern_newton.h).
  struct Clusters {
    Index newton_first = 150;       // groups: up to that, Newton's method goes first
    int rounds = 30;                // of sweeps and Newton's method, at most
    double sweeps = 16;             // sweeps that cost as much as Newton's method, for few groups
    double groups_per_sweep = 6;    // groups: for each so many, one sweep more
    double pace_sweeps = 2;         // sweeps before their pace tells how many more it takes
    double most_sweeps = 2;         // times the sweeps that cost as much: the most in a round
    Index late_ties = 256;          // groups: from there on, two that meet merge only if they still tie later
    int newton_steps = 10;          // steps at most, for few groups
    Index groups_per_step = 32;     // groups: for each so many, one step more
    Index crossings_per_group = 4;  // changes of places along one step; then another direction
  };

  // Where newton hands over to apgd (solve/newton.cc).
  // Proximal Newton steps, for losses whose curvature changes.
  struct Proximal {
    Index least = 64;                     // columns beside the support, at least
    Index least_tall = 32;                // the same where X has more rows than columns
    double gram_share = 0.3;              // of the working set: a larger support is solved by a Gram matrix
    double failure = 0.5;                 // gap over the last one: above it, twice as many columns are taken
    Index most_entries = Index{1} << 27;  // of a working set: of more, a first-order method goes on
    double far = 0.01;               // of the objective: a point with a larger gap is far from the solution
    double far_share = 0.1;          // of the present gap: far away, the working set is solved to that
    double gap_share = 0.005;        // the same near the solution
    double goal_share = 0.3;         // of the gap that is tolerated: no smaller one is asked for
    double kept_share = 0.25;        // of the other columns wanted: a working set that has these is kept
    double chord_share = 0.2;        // of the last gap: above it, the curvature is taken anew
    int most_steps = 60;             // Newton steps in an epoch
    double model_share = 0.02;       // of the gap on the working set: the model is solved to that
    double target_share = 0.3;       // of the target: no smaller gap of the model is asked for
    int model_rounds = 20;           // of the solver for squared error, in a step
    double model_stuck = 0.8;        // gap of the model over that of the last round: above it, it is left
    double least_curvature = 1e-12;  // of the largest one: rows that have less count as if they had that
    double descent_share = 1e-4;     // of the fall that the slope promises
    int most_cuts = 40;              // halvings of a step
  };
  struct Fallback {
    Index clusters = 2500;         // clusters: more are too many
    Index some_clusters = 500;     // clusters: more are too many where
    Index cubes_per_entry = 2000;  // their number cubed is above so many times the entries of X
    Index sparse_support = 1000;   // columns: a larger support of sparse columns is too large where
    double sparse_share = 0.25;    // it is above this share of all columns
  };

  // apgd (solve/apgd.cc).
  struct Gradient {
    double lipschitz_growth = 1.2;  // times L, at least, where a step was too long
    double lipschitz_decay = 0.5;   // times L, when columns leave
  };

  // spgd (solve/spgd.cc).
  struct Stochastic {
    Index prox_rows = 8;            // rows that take as long as a proximal step
    double epoch_share = 0.5;       // of the rows: so many are drawn between two full gradients
    double gather_share = 0.25;     // of the rows: an epoch that draws more keeps a copy of all rows
    int power_steps = 6;            // steps of the power method for lambda_max(X'X)
    int few_power_steps = 2;        // the same, where it goes on from an older direction
    double spectral_margin = 1.05;  // times its result, which comes from below
    // One batch an epoch (solve/spgd_gram.cc).
    Index least_width = 32;       // columns in the working set beside the support, at least
    Index rows_per_column = 8;    // of the working set, in the first batch
    Index most_columns = 3000;    // in the working set: with more, mini-batches
    double slow = 0.3;            // gap over that of the last epoch: above it, batch and working set grow
    double goal_share = 0.5;      // of the gap that is tolerated: the model is solved to that
    double gap_share = 0.02;      // of the present gap: no smaller one is asked for
    int model_steps = 5000;       // proximal steps in an epoch, at most
    int model_tries = 3;          // of more curvature, before all rows are taken
    double most_curvature = 1.5;  // of the data over that of the model, along a step
  };

  // Sums over rows (moments/). They fix the bits of a sum, so that no option changes them.
  struct Moments {
    Index most_chunk_rows = 4096;          // rows that are summed before anything is merged
    Index fewest_chunk_rows = 256;         // the same of wide tables
    Index chunk_numbers = Index{1} << 22;  // numbers of a chunk, at most, but for the fewest rows
    Index chunks_at_once = 4;              // that are read from a file before they are summed
    int corrections = 3;                   // passes, at most, for strengths that miss the tolerance
  };

  // Columns that are read from files (columns/column_reader.cc).
  struct Files {
    int threads = 16;                          // that read: requests under way
    Index most_request = Index{1} << 19;       // bytes of a request, at most, but for a long column
    Index least_request = Index{1} << 16;      // the same where memory is short
    Index scattered_request = Index{1} << 16;  // bytes of columns that are read one by one
    Index requests_in_memory = 64;             // of that size in the memory: else they are smaller
    Index ring_bytes = Index{1} << 26;         // bytes that a pass goes through
    Index least_ring = 64;                     // frames of the ring
    Index ring_share = 4;                      // frames for each of the ring, at least
    Index most_pinned = 32;                    // columns that a thread uses at once
  };

  Reading reading;
  Subspace subspace;
  Screening screening;
  Loop loop;
  Lookahead lookahead;
  WorkingSet working_set;
  Descent descent;
  Pattern pattern;
  Clusters clusters;
  Proximal proximal = {};
  Fallback fallback;
  Gradient gradient;
  Moments moments = {};
  Stochastic stochastic;
};

// A share of a count, rounded down.
inline Index share_of(double share, Index count) {
  return static_cast<Index>(share * static_cast<double>(count));
}
// Whether `part` is more than that share of `count`.
inline bool above_share(Index part, double share, Index count) {
  return static_cast<double>(part) > share * static_cast<double>(count);
}

}  // namespace tyto
