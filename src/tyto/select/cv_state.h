#pragma once

#include <string>
#include <vector>

#include "tyto/select/cv.h"

namespace tyto {

std::string with_checksum(const std::string& text);  // the file, from all that comes before its checksum

// The finished folds of a cross-validation, in a file, so that a run that was ended goes on from there. The
// file also says what was run; folds of another run are refused, and so is a file that was damaged or edited:
// it ends with a checksum.
class CvState {
 public:
  // Reads the file where there is one. Throws DataError if it holds something else, or folds of other data or
  // options.
  CvState(std::string path, const Design& raw, const Vector& response, const RegressionOptions& regression,
          const CvOptions& cv, const FitOptions& options);

  const std::vector<FoldScore>& finished() const { return finished_; }
  // Remembers a fold. The file is written at once, unless writing would take a tenth of the time.
  void add(const FoldScore& score);
  void save();  // what is not written yet

 private:
  struct Limits {  // of the numbers in the file
    Index shapes, repeats, folds, rows, gammas;
  };
  void load(const std::string& text);
  void check_and_add(FoldScore score);

  std::string path_, setting_;
  Limits limits_;
  std::vector<FoldScore> finished_;
  bool dirty_ = false;
  double last_saved_ = 0, cost_ = 0;  // seconds
};

}  // namespace tyto
