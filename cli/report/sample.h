#pragma once

#include <vector>

#include "tyto/select/path.h"

namespace tyto::cli {

struct Member {
  Index column;
  bool positive;
};

// Features of equal magnitude on the problem's scale.
struct Group {
  double magnitude = 0;
  Index size = 0, positive = 0;
  std::vector<Member> listed = {};  // all of them, unless there are too many for a page
};

// The groups of one of `strengths` models, the largest magnitude first, as many as a page has room for.
std::vector<Group> listed_groups(const SparseBeta& beta, std::size_t strengths);

// The columns whose coefficient is largest anywhere on the path, the largest first: those that are drawn.
IndexSet drawn_columns(const Path& path);
Index entered(const Path& path);  // columns that are not 0 somewhere on the path
// The columns that are listed or drawn, increasing.
IndexSet mentioned(const std::vector<std::vector<Group>>& listed, const IndexSet& drawn);

// The response, as the model has it: a column; of several classes, the probabilities of each.
Eigen::MatrixXd fitted(const Dataset& data, const Regression& regression, const PathStep& step);
// What is observed and predicted in each row. Of several classes: 1, and the probability of the row's own.
Vector observed(const Dataset& data, const Regression& regression);
Vector predicted(const Dataset& data, const Regression& regression, const PathStep& step);
// All rows; of very many the ones that the last model misses most and others at random, increasing.
IndexSet drawn_rows(const Dataset& data, const Regression& regression, const Path& path);

}  // namespace tyto::cli
