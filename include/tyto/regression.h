#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "tyto/features.h"
#include "tyto/model.h"
#include "tyto/options.h"

namespace tyto {

// Data and what to fit to it. Copies share what they hold, which never changes.
class OwlRegression {
 public:
  struct Parts;
  explicit OwlRegression(Parts parts);  // by make_regression()
  const Parts& parts() const { return *parts_; }

  double alpha_max() const;  // the smallest multiplier of the weights that leaves nothing in the model

 private:
  std::shared_ptr<const Parts> parts_;
};

// Throws InvalidArgument for data or options that cannot be fitted.
OwlRegression make_regression(const Features& x, const Eigen::VectorXd& y, const OwlOptions& options = {});

OwlModel fit(const OwlRegression& regression);

// Models along a grid of strengths, the strongest penalty first.
std::vector<OwlModel> fit_path(const OwlRegression& regression, const OwlPathOptions& options = {});

// The path on all rows, with the errors of its strengths on the rows held out.
struct OwlCv {
  std::vector<OwlModel> models;
  std::vector<double> errors, standard_errors;  // of each model
  std::size_t best = 0;                         // the model with the least error (the largest r2)
  std::size_t one_se = 0;  // the strongest penalty whose error is within one standard error of that
  bool converged = false;  // every fit
};
// Where max_seconds ends it before all folds are done there are no models.
OwlCv cross_validate(const OwlRegression& regression, const OwlCvOptions& options = {});

}  // namespace tyto
