// Fits problems that are given as lines of text and prints what a user would be told of each: for
// exact_oracle.py, which judges the answers in exact arithmetic. Numbers are hexadecimal both ways, so that
// none is rounded.
//
// A line: id storage solver rule intercept standardize nonnegative relative_to tolerance max_epochs ridge,
// then lists that begin with their length: strengths, unpenalised columns, weights of the rows, weights of
// the penalty, the response, and the columns of X one after the other. Several strengths are fitted as a
// path. An answer: id step status alpha primal gap rounding intercept, the coefficients on the data's scale,
// and the scales that the penalised columns were divided by. Or: id "refused" why.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/select/path.h"
#include "tyto/select/regression.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

struct Task {
  std::string id, storage;
  RegressionOptions regression;
  FitOptions fit;
  std::vector<double> strengths;
  Vector y;
  Eigen::MatrixXd x;
};

template <class T>
T next(std::istream& in) {
  T value;
  if (!(in >> value)) throw InvalidArgument("line: want more entries");
  return value;
}

double next_number(std::istream& in) { return std::strtod(next<std::string>(in).c_str(), nullptr); }

std::vector<double> next_numbers(std::istream& in) {
  std::vector<double> numbers(next<std::size_t>(in));
  for (double& number : numbers) number = next_number(in);
  return numbers;
}

Vector next_vector(std::istream& in) {
  const std::vector<double> numbers = next_numbers(in);
  return Eigen::Map<const Vector>(numbers.data(), std::ssize(numbers));
}

Task parse(const std::string& line) {
  std::istringstream in(line);
  Task task;
  task.id = next<std::string>(in);
  task.storage = next<std::string>(in);
  task.fit.solver = next<std::string>(in);
  task.fit.screening = next<std::string>(in);
  task.regression.intercept = next<bool>(in);
  task.regression.standardize = next<bool>(in);
  task.regression.nonnegative = next<bool>(in);
  task.regression.relative_to = parse_relative_to(next<std::string>(in));
  task.fit.tolerance = next_number(in);
  task.fit.max_epochs = next<Index>(in);
  task.regression.ridge = next_number(in);
  task.strengths = next_numbers(in);
  task.regression.strength = task.strengths.at(0);
  for (const double column : next_numbers(in))
    task.regression.unpenalized.push_back(static_cast<Index>(column));
  task.regression.observation_weights = next_vector(in);
  task.regression.weights = "given";
  task.regression.weight_values = next_vector(in);
  task.y = next_vector(in);
  const Vector entries = next_vector(in);
  task.x = Eigen::Map<const Eigen::MatrixXd>(entries.data(), task.y.size(), entries.size() / task.y.size());
  return task;
}

Design stored(const Eigen::MatrixXd& x, const std::string& storage) {
  if (storage == "dense") return Design::dense(x);
  if (storage == "float") return Design::dense(Eigen::MatrixXf(x.cast<float>()));
  if (storage == "sparse")
    return Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x.sparseView(0, 0)));
  throw InvalidArgument("storage: want dense, float or sparse, got '" + storage + "'");
}

void print(const Task& task, std::size_t step, const Regression& regression, const Fit& fit) {
  const Certificate& c = fit.certificate;
  const auto [coefficients, intercepts] = regression.on_data_scale(fit.solution.beta);
  std::printf("%s %zu %s %a %a %a %a %a", task.id.c_str(), step, std::string(name(fit.status)).c_str(),
              regression.alpha, c.primal, c.gap, c.rounding, intercepts[0]);
  for (const double b : dense(coefficients)) std::printf(" %a", b);
  for (const double s : regression.problem.design.scales()) std::printf(" %a", s);
  std::printf("\n");
}

void answer(const Task& task) {
  const Regression regression = make_regression(stored(task.x, task.storage), task.y, task.regression);
  if (task.strengths.size() == 1) return print(task, 0, regression, fit(regression.problem, task.fit));
  std::vector<double> alphas;
  for (const double strength : task.strengths)
    alphas.push_back(regression.alpha * (strength / task.strengths[0]));
  Problem unit = regression.problem;
  unit.penalty = regression.shape;
  const Path path = fit_path(unit, alphas, {}, task.fit);
  for (std::size_t k = 0; k < path.steps.size(); ++k)
    print(task, k, regression.at(path.steps[k].alpha), path.steps[k].expanded());
}

}  // namespace
}  // namespace tyto

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // what was answered is out before anything can go wrong
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string id = line.substr(0, line.find(' '));
    try {
      tyto::answer(tyto::parse(line));
    } catch (const tyto::InvalidArgument& wrong) {
      std::printf("%s refused %s\n", id.c_str(), wrong.what());
    }
  }
  return std::ferror(stdout) != 0;
}
