#pragma once

#include <string>
#include <vector>

#include "tyto/moments/moments.h"

// What a first pass sums where there are too many columns for all their products, or where the loss needs
// others: of each column alone, and with the response.
namespace tyto {

// Of the columns of [X y], with row i counting w_i times.
struct ColumnMoments {
  Index rows = 0;  // of positive weight
  double weight = 0;
  Means mean = {};      // p + 1
  Vector square = {};   // sum_i w_i (a_ij - mean_j)^2
  Vector product = {};  // p: sum_i w_i (x_ij - mean_j) (y_i - mean_y)

  void merge(const ColumnMoments& other);
};

struct ColumnSet {
  ColumnMoments moments = {};
  // Responses that rows of positive weight have: the two smallest and the largest, each once. They say
  // whether there are two classes.
  std::vector<double> responses = {};
  bool sparse = true;  // all of the data is stored so
  std::vector<std::string> names = {};
  std::string response_name = {};
  RowFingerprint fingerprint = {};

  bool empty() const { return moments.mean.size() == 0; }
  Index features() const { return moments.product.size(); }
  // Throws InvalidArgument where the columns or their names differ.
  void merge(const ColumnSet& other);
};

class ColumnSum {
 public:
  // Throws InvalidArgument for numbers that are not finite, for an offset, and where there is no response.
  void add(const Dataset& rows, int threads = 1);
  ColumnSet total() const { return sum_.total(); }

 private:
  PairwiseSum<ColumnSet> sum_;
};

}  // namespace tyto
