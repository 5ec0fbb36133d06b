#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "tyto/features.h"

namespace tyto {

struct Model;

// How good a fit is, proved: its objective is at most gap + rounding above the optimum.
struct OwlCertificate {
  std::string status;  // converged, epoch_limit, time_limit, interrupted or stalled
  double primal = 0;   // the objective
  double dual = 0;
  double gap = 0;
  double rounding = 0;  // what the gap may be off by in floating point

  bool converged() const { return status == "converged"; }
};

// A coefficient that is not zero, on the data's own scale.
struct OwlCoefficient {
  Eigen::Index column;
  double value;
  // Coefficients of one cluster have the same magnitude once columns are standardised. 0 is the cluster of
  // the largest; -1: not penalised, in none.
  Eigen::Index cluster;
  Eigen::Index of_class = 0;  // of several classes: whose linear predictor it is in, by number
};

// A fitted model. Copies share what they hold, which never changes.
class OwlModel {
 public:
  explicit OwlModel(Model model);  // by the library itself
  const Model& model() const { return *model_; }

  double alpha() const;  // the multiplier of the weights
  double intercept() const;
  Eigen::VectorXd intercepts() const;            // of each of several classes (multinomial); else one
  Eigen::VectorXd coefficients() const;          // of all columns; of several classes: side by side for each
  std::vector<OwlCoefficient> nonzeros() const;  // by column
  OwlCertificate certificate() const;
  std::string to_json() const;  // as 'tyto fit --model' writes it

 private:
  std::shared_ptr<const Model> model_;
};

// Predictions for new rows; throws InvalidArgument unless there are as many columns as the model has.
Eigen::VectorXd predict(const OwlModel& model, const Features& x);

// The linear predictors of new rows as columns: one, or one for each of several classes.
Eigen::MatrixXd predictors(const OwlModel& model, const Features& x);

// The certificate computed again from the data alone, in extended precision and without the solver's code.
struct OwlVerification {
  bool holds = false;
  std::string reason;  // why it does not
  double primal = 0, gap = 0;
};
// With the observation weights, and the events of the loss cox, that the model was fitted with; empty: none.
OwlVerification verify(const OwlModel& model, const Features& x, const Eigen::VectorXd& y,
                       const Eigen::VectorXd& observation_weights = {}, const Eigen::VectorXd& events = {});

// Model files of 'tyto' (docs/formats.md). Both throw DataError.
void save(const OwlModel& model, const std::string& file);
std::vector<OwlModel> load(const std::string& file);  // one, or those of a path, the strongest penalty first

}  // namespace tyto
