#pragma once

#include <string>
#include <vector>

#include "tyto/select/model.h"
#include "tyto/select/path.h"

namespace tyto::cli {

// What cross-validation found for each strength of a path.
struct ReportedErrors {
  std::string measure;  // what is counted, e.g. "mean squared error"
  std::vector<double> mean = {}, standard_error = {};
  std::vector<std::vector<double>> folds = {};          // of each fold, one error a strength
  std::vector<Comparison> compared = {};                // what was chosen together with the strength
  std::size_t repeats = 1;                              // how often there were folds
  std::size_t best = 0, within_one_standard_error = 0;  // strengths, counted from 0
};

ReportedErrors reported_errors(const CrossValidation& cv);

// What a report is made of. A fit is a path of one strength.
struct Report {
  const std::vector<std::string>& files;
  const Dataset& data;
  const Regression& regression;
  const std::vector<Model>& models;  // one for each step of the path
  const Path& path;
  const ReportedErrors* errors = nullptr;
};

// One page that holds all it needs: data, style, scripts. Whatever names the data has, they stay text.
std::string to_html(const Report& report);

// The page's data, as it stands in it (docs/report.md).
std::string report_json(const Report& report);

}  // namespace tyto::cli
