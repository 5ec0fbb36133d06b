#pragma once

#include <string>
#include <vector>

#include "tyto/select/criteria.h"
#include "tyto/select/cv.h"
#include "tyto/select/noise.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto {

// A coefficient that is not zero, on the data's own scale. Coefficients of one cluster have the same
// magnitude in the problem that was solved; dividing by the scales hides that, so the number is kept.
// Clusters are numbered from 0, the largest magnitude first; a coefficient that was not penalised is in none.
struct Coefficient {
  Index column;
  double value;
  Index cluster;       // -1: none
  std::string name;    // empty where the data has no names
  Index of_class = 0;  // of several classes: whose linear predictor it is in, by number
};

// Both ends of a relaxed fit, in the order of the coefficients, which are their mixture. The certificate is
// about the penalised one.
struct RelaxedCoefficients {
  double gamma = 1;
  double penalized_intercept = 0, relaxed_intercept = 0;
  std::vector<double> penalized, relaxed;
};

// How alike the features of a cluster are: |r_ij| over the pairs of its members, where r_ij is their
// correlation in the data (of weighted rows, where rows have weights). Equal magnitudes alone do not say
// that: two coefficients may also tie by coincidence.
struct ClusterCorrelation {
  static constexpr double kCoincidental = 0.5;  // a mean below it: a tie by coincidence
  static constexpr Index kMostMembers = 500;    // that are compared; of more, so many at even distances

  double mean = 0, least = 0;

  // Rounding of |r| does not count.
  bool coincidental() const { return mean < kCoincidental * (1 - 1e-9); }
};

// What is kept of a fit: enough to predict, and to verify the certificate from the data alone.
struct Model {
  Index n = 0, p = 0;
  RegressionOptions options;
  double alpha = 0;
  std::string solver, screening, status;
  double tolerance = 0, primal = 0, dual = 0, gap = 0, relative_gap = 0;
  double rounding = 0;                    // of the gap: see Certificate
  bool from_moments = false;              // the certificate is of moments; the data was not read again
  std::vector<double> intercepts = {0};   // of each of several classes; else one
  std::vector<Coefficient> coefficients;  // of increasing columns, and classes
  std::string response_name;
  std::vector<double> classes;      // the labels, where the response had them; of two, the second is mu's
  std::vector<std::string> labels;  // the same where they are words; then the classes are 0, 1, ...
  // How the data was read, so that new data is read alike.
  std::string target, response_file;
  std::string weights_column, weights_file;  // of the rows
  std::string offset_column, offset_file;    // of the linear predictor
  std::string event_column, event_file;      // whether a time is that of an event
  std::vector<std::string> dropped;
  Missing missing = Missing::kRefuse;
  std::vector<OneHot> one_hot;  // columns of words, as features
  std::vector<double> fill;     // of each coefficient, what missing values became: see Missing::kMean
  // By cross-validation: has the least error; has the largest strength whose error is within one standard
  // error of that.
  bool best = false, one_se = false;
  std::vector<CriterionChoice> chosen_by;      // criteria that chose this strength of a path
  std::optional<RelaxedCoefficients> relaxed;  // where a relaxed fit was asked for
  std::optional<Noise> noise;                  // where alpha comes from it
  // Of each cluster, nothing for those of one feature; empty where it was not computed.
  std::vector<std::optional<ClusterCorrelation>> correlations;

  Index clusters() const;
  double intercept() const { return intercepts[0]; }  // of a model of one linear predictor
  bool has_several_classes() const { return classes.size() > 2; }
  std::string class_word(Index number) const;  // its label, as text
  bool has_offset() const { return !offset_column.empty() || !offset_file.empty(); }
};

Model make_model(const Dataset& data, const RegressionOptions& options, const Regression& regression,
                 const Fit& fit, const FitOptions& fit_options);
// Makes the coefficients of a penalised fit those of its relaxed fit, and keeps both.
void relax(Model& model, const Regression& regression, const Relaxation& relaxation);
// One for each strength of a path that was fitted, relaxed where its step is.
std::vector<Model> make_models(const Dataset& data, const RegressionOptions& options,
                               const Regression& regression, const Path& path, const FitOptions& fit_options);
// The same for the path that cross-validation chose, which must be complete.
std::vector<Model> make_models(const Dataset& data, const RegressionOptions& options,
                               const CrossValidation& cv, const FitOptions& fit_options);

// Fills in the correlations of models that were fitted to this data.
void correlate_clusters(const Dataset& data, std::vector<Model>& models);

// What makes these models, or the choice among them, doubtful: a sentence each. A choice at the end of its
// path, or of nearly as many degrees of freedom as rows; a level of the noise that did not settle.
std::vector<std::string> warnings(const std::vector<Model>& models);
std::vector<std::string> warnings(const std::vector<Model>& models, std::size_t step);  // of one of them

// Features are found by name where the model and the data both have names, else by position; then the width
// must agree. Throws InvalidArgument that says what does not fit.
// The linear predictor, with the data's offset, as a column; for squared error and huber that is the
// prediction. Of several classes each has one.
Eigen::MatrixXd predict(const Model& model, const Dataset& data);
// The mean that it stands for: a probability of the second class, or of each of several; an expected count.
Eigen::MatrixXd mean_response(const Model& model, Eigen::MatrixXd predictor);
// The label of the most likely class.
std::vector<std::string> predicted_class(const Model& model, const Eigen::MatrixXd& predictor);
// The response of new data as the model's loss takes it: classes as 0, 1, ... Throws InvalidArgument for a
// class that the model does not know.
Vector encoded_response(const Model& model, const Dataset& data);

std::string to_json(const Model& model);                  // versioned; numbers keep all their digits
std::string to_json(const Model& model, const Fit& fit);  // the same with how the solver got there
std::string coefficients_csv(const Model& model);         // column,name,coefficient,cluster
// The same for a path; what its strengths have in common is written once.
std::string to_json(const std::vector<Model>& models);
std::string to_json(const std::vector<Model>& models, const Path& path,
                    const std::vector<Criteria>& criteria);
std::string coefficients_csv(const std::vector<Model>& models);  // step,alpha,column,...
// The same for a cross-validation: the path on all rows, the choice and the errors.
std::string to_json(const std::vector<Model>& models, const CrossValidation& cv);
std::string model_json(const std::vector<Model>& models, const CrossValidation& cv);  // without the course

// What to_json wrote: one model, or those of a path or a cross-validation, the strongest penalty first.
// Throws DataError.
std::vector<Model> load_models(const std::string& path);
// Which of them has this multiplier, given with six digits or more. Throws InvalidArgument.
std::size_t find_alpha(const std::vector<Model>& models, double alpha);

}  // namespace tyto
