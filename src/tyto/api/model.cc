#include "tyto/model.h"

#include <utility>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/select/model.h"
#include "tyto/verify/verify.h"

namespace tyto {

OwlModel::OwlModel(Model model) : model_(std::make_shared<const Model>(std::move(model))) {}

double OwlModel::alpha() const { return model_->alpha; }
double OwlModel::intercept() const { return model_->intercept(); }

Eigen::VectorXd OwlModel::intercepts() const {
  return Vector::Map(model_->intercepts.data(), std::ssize(model_->intercepts));
}

Eigen::VectorXd OwlModel::coefficients() const {
  const auto classes = std::ssize(model_->intercepts);
  Vector all = Vector::Zero(model_->p * classes);
  for (const Coefficient& c : model_->coefficients) all[c.column * classes + c.of_class] = c.value;
  return all;
}

std::vector<OwlCoefficient> OwlModel::nonzeros() const {
  std::vector<OwlCoefficient> result;
  for (const Coefficient& c : model_->coefficients)
    result.push_back({c.column, c.value, c.cluster, c.of_class});
  return result;
}

OwlCertificate OwlModel::certificate() const {
  const Model& m = *model_;
  return {m.status, m.primal, m.dual, m.gap, m.rounding};
}

std::string OwlModel::to_json() const { return tyto::to_json(*model_); }

Eigen::VectorXd predict(const OwlModel& model, const Features& x) {
  if (model.model().has_several_classes())
    throw InvalidArgument(
        "predict: want a model of one linear predictor, got one of several classes: see predictors");
  return predictors(model, x);
}

Eigen::MatrixXd predictors(const OwlModel& model, const Features& x) {
  return predict(model.model(), Dataset{x.design(), {}});
}

OwlVerification verify(const OwlModel& model, const Features& x, const Eigen::VectorXd& y,
                       const Eigen::VectorXd& observation_weights, const Eigen::VectorXd& events) {
  Dataset data{x.design(), y};
  data.row_weights = observation_weights;
  data.events = events;
  const bool weighted = model.model().options.observation_weights.size() > 0 ||
                        !model.model().weights_column.empty() || !model.model().weights_file.empty();
  if (weighted != (observation_weights.size() > 0))
    throw InvalidArgument(weighted ? "observation_weights: want those of the fit, got none"
                                   : "observation_weights: want none, as the model was fitted without");
  const Verification found = verify_text(model.to_json(), "model", data).front();
  return {found.holds, found.reason, found.primal, found.gap};
}

void save(const OwlModel& model, const std::string& file) { write_atomically(file, model.to_json()); }

std::vector<OwlModel> load(const std::string& file) {
  std::vector<OwlModel> result;
  for (Model& model : load_models(file)) result.emplace_back(std::move(model));
  return result;
}

}  // namespace tyto
