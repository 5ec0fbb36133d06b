#pragma once

#include <vector>

#include "tyto/data/dataset.h"
#include "tyto/select/model.h"
#include "tyto/select/options.h"

// From a user's words to models: the one workflow that the command line, Python and R share.
namespace tyto {

// One fit, or the fits of a path.
struct Estimate {
  Regression regression;           // of one fit: at its multiplier
  Path path;                       // how they were found; one fit is a path of one step
  std::vector<Model> models;       // one for each step
  std::vector<Criteria> criteria;  // of a path, for each step, where they were asked for

  const Fit& fit() const { return path.steps.front().fit; }  // of the first step; without its solution
};

struct CvEstimate {
  CrossValidation cv;
  std::vector<Model> models;  // of the path that was chosen; none where not all folds could be fitted
};

// The options, with what they name in this data filled in: unpenalised columns by number, and the weights and
// the offset of the rows where the data has any. Throws InvalidArgument.
EstimateOptions completed(EstimateOptions options, const Dataset& data);

// Notes in the models which strengths the criteria choose that were asked for.
void mark_choices(const EstimateOptions& options, Estimate& found);

// These standardise, find the strength, fit, relax, judge by criteria, and make models. The caller's mistakes
// throw InvalidArgument; how the computation ended is in the answer.
Estimate estimate(const Dataset& data, const EstimateOptions& options, const Observer& observer = {});
Estimate estimate_path(const Dataset& data, const EstimateOptions& options,
                       const PathObserver& observer = {});
CvEstimate estimate_cv(const Dataset& data, const EstimateOptions& options, const CvHooks& hooks = {});

}  // namespace tyto
