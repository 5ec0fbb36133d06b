#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/loss/loss.h"

namespace tyto {

// What is measured on rows held out. R2 is 1 - (mean squared error) / (variance of the whole response), which
// is defined for folds of one row too.
enum class ErrorMeasure {
  kAuto,  // the mean squared error, or the deviance where the loss is another
  kMse,
  kMae,
  kR2,
  kDeviance,           // mean of twice the loss; for the loss cox see HeldOut
  kMisclassification,  // share of rows of another class than the most likely one
  kBrier,              // mean of (y - mu)^2; this and the next are for two classes
  kAuc,                // area under the ROC curve
  kConcordance,        // Harrell's C: of pairs whose order in time is known, those predicted in that order
};
std::string_view name(ErrorMeasure measure);
std::string in_words(ErrorMeasure measure);
ErrorMeasure parse_error_measure(std::string_view name);
std::vector<std::string> error_measure_names();
bool larger_is_better(ErrorMeasure measure);
// The measure that kAuto stands for. Throws InvalidArgument for one that the loss does not have.
ErrorMeasure resolved(ErrorMeasure measure, std::string_view loss);

// The rows that predictions are compared with.
struct HeldOut {
  const Loss& loss;
  Vector response;  // 0, 1, ..., where it has classes
  Vector weights;
  double variance;  // of the whole response
  // Of the loss cox: which times are those of events, and the weights of other rows, those of the training
  // data. The deviance is what the rows add to that of the others (Verweij & van Houwelingen 1993): a few
  // rows have next to no partial likelihood of their own.
  Vector events = {}, others = {};
};
// Of predictions on the scale of the linear predictor: a column, or one for each of several classes.
double score(ErrorMeasure measure, const HeldOut& rows, const Eigen::MatrixXd& predictor);

// The number of the class that the linear predictors of a row make most likely: of two classes, of one
// number.
Index most_likely(const Eigen::Ref<const Vector>& eta);

// The area under the ROC curve; ties count half. 0.5 where there is one class only.
double area_under_curve(const Vector& labels, const Vector& predictor, const Vector& weights);

// Times to an event, or until the row was last seen.
struct Survival {
  const Vector& time;
  const Vector& events;  // 1 or 0
  const Vector& weights;
};
// Pairs of an event and a row that was there longer, or as long and without an event; equal predictions count
// half. 0.5 where there is no such pair.
double concordance(const Survival& rows, const Vector& predictor);
// Twice the loss cox.
double partial_deviance(const Survival& rows, const Vector& predictor);

}  // namespace tyto
