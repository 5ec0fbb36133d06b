#pragma once

#include <optional>

#include "tyto/moments/evidence.h"
#include "tyto/select/estimate.h"
#include "tyto/select/evidence.h"

namespace tyto {

// Models for rows that nobody holds in memory, from sums over them (MATH.md, section 15). It is asked for the
// next pass over the data, and told what that summed; it reads nothing itself and knows no engine:
//
//   SummedEstimate found(moments, options, kPathTask);
//   while (const auto query = found.ask()) found.tell(sum_over_data(*query));
//
// All that estimate.h can do with squared error works. Certificates are of the rows that the moments stand
// for until they were told, and of the data after that.
class SummedEstimate {
 public:
  // Fits the models. Throws InvalidArgument for options that moments cannot serve: other losses, errors on
  // rows held out that are not squares. For kCvTask the moments are by fold.
  SummedEstimate(const MomentSet& moments, const EstimateOptions& options, Task task);

  // What the next pass sums; nothing once every certificate is of the data and met its tolerance, or cannot.
  std::optional<EvidenceQuery> ask() const;
  // Judges the models by it; those that miss the tolerance are corrected and asked about again. Throws
  // DataError where the rows are not those of the moments.
  void tell(const EvidenceSums& sums);

  Index passes() const { return passes_; }  // over the data, that of the moments included
  bool from_data() const { return passes_ > 1; }
  void took(double seconds, double cpu_seconds);  // all passes: what the answer states
  std::vector<Model>& models();  // those of the estimate, or of the path that cross-validation chose

  Dataset data = {};       // the rows that stand for others
  Estimate estimate = {};  // of kFitTask and kPathTask
  CvEstimate cv = {};      // of kCvTask

 private:
  const Regression& regression() const;
  Path& path();
  void check_same_rows(const EvidenceSums& sums) const;
  void judge(std::size_t step, const SummedCertificate& found);
  void correct(std::size_t step, const Vector& correlation);
  Vector response_with(const Problem& problem, const Vector& beta, const Vector& correlation);
  void count_pass();

  EstimateOptions options_;
  Task task_;
  CoMoments moments_;  // of all rows
  RowFingerprint fingerprint_;
  std::vector<std::size_t> pending_;  // steps whose certificate is still to be had from the data
  Matrix factor_;                     // of X'X of the problem, for corrections
  Index passes_ = 1;
};

}  // namespace tyto
