// Solves one problem at one strength or along a path, again and again, and says what each time cost in CPU
// seconds: everything after reading, so column norms, weights and the largest strength too. See README.md.
#include <Eigen/SparseCore>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tyto/all.h"
#include "tyto/base/huge_pages.h"

namespace {

using tyto::Index;
using tyto::Vector;

struct Options {
  std::vector<std::string> files;
  std::string target;  // y.npy beside X.npy; empty for files that hold their response
  std::string coefficients;
  bool sparse = false;  // X stays sparse, as it was read
  tyto::RegressionOptions regression{.strength = 1, .intercept = false, .standardize = false};
  tyto::FitOptions fit;
  std::vector<double> strengths = {0.1};  // falling
  double repeat_seconds = 0;              // repeat until this much is spent ...
  Index max_repeats = 1;                  // ... but not more often
};

struct Answer {
  double alpha_max = 0;
  double unit = 0;                         // of the strengths
  std::vector<tyto::PathStep> steps = {};  // one a strength
  double solve_seconds = 0;                // CPU, without what comes before the first fit
};

std::vector<double> numbers(const std::string& list) {
  std::vector<double> result;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) result.push_back(std::stod(item));
  return result;
}

Options parse(const std::vector<std::string>& args) {
  Options o;
  const std::map<std::string, std::function<void(const std::string&)>> table = {
      {"--target", [&](const std::string& v) { o.target = v; }},
      {"--coefficients", [&](const std::string& v) { o.coefficients = v; }},
      {"--storage", [&](const std::string& v) { o.sparse = v == "sparse"; }},
      {"--loss", [&](const std::string& v) { o.regression.loss = v; }},
      {"--intercept", [&](const std::string& v) { o.regression.intercept = v == "yes"; }},
      {"--weights", [&](const std::string& v) { o.regression.weights = v; }},
      {"--q", [&](const std::string& v) { o.regression.q = std::stod(v); }},
      {"--relative-to", [&](const std::string& v) { o.regression.relative_to = tyto::parse_relative_to(v); }},
      {"--strengths", [&](const std::string& v) { o.strengths = numbers(v); }},
      {"--solver", [&](const std::string& v) { o.fit.solver = v; }},
      {"--screening", [&](const std::string& v) { o.fit.screening = v; }},
      {"--tolerance", [&](const std::string& v) { o.fit.tolerance = std::stod(v); }},
      {"--repeat-seconds", [&](const std::string& v) { o.repeat_seconds = std::stod(v); }},
      {"--max-repeats", [&](const std::string& v) { o.max_repeats = std::stol(v); }},
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("--")) {
      o.files.push_back(args[i]);
      continue;
    }
    const auto option = table.find(args[i]);
    if (option == table.end() || i + 1 == args.size())
      throw tyto::InvalidArgument("unknown option, or no value for it: " + args[i]);
    option->second(args[++i]);
  }
  if (o.files.empty())
    throw tyto::InvalidArgument("usage: tyto_solve FILE [--target FILE] [OPTION VALUE]...");
  return o;
}

Eigen::MatrixXd to_dense(const tyto::Design& design) {
  Eigen::MatrixXd x(design.rows(), design.cols());
  tyto::prefer_huge_pages(x);  // as NumPy does
  x.setZero();
  for (Index j = 0; j < x.cols(); ++j)
    design.for_each_entry(j, [&](Index i, double value) { x(i, j) = value; });
  return x;
}

Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> to_sparse(const tyto::Design& design) {
  std::vector<Eigen::Triplet<double, std::int64_t>> entries;
  for (Index j = 0; j < design.cols(); ++j)
    design.for_each_entry(j, [&](Index i, double value) { entries.emplace_back(i, j, value); });
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x(design.rows(), design.cols());
  x.setFromTriplets(entries.begin(), entries.end());
  return x;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// All that a caller with X and y in memory has to pay for.
Answer solve(const tyto::Design& design, const Vector& y, const Options& o) {
  const tyto::Regression task = tyto::make_regression(design, y, o.regression);
  Answer answer{.alpha_max = task.alpha_max, .unit = task.alpha};
  const double start = cpu_seconds();
  // The strength of the task is 1: its penalty is the unit.
  answer.steps = tyto::fit_path(task.problem, o.strengths, {}, o.fit).steps;
  answer.solve_seconds = cpu_seconds() - start;
  return answer;
}

void write_coefficients(const std::string& file, const Answer& answer) {
  const Index p = answer.steps.front().beta.size();
  std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (" + std::to_string(p) + ", " +
                       std::to_string(answer.steps.size()) + "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ').push_back('\n');
  std::ofstream out(file, std::ios::binary);
  const auto size = header.size();
  out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(size % 256) << static_cast<char>(size / 256)
      << header;
  for (const tyto::PathStep& step : answer.steps) {
    const Vector beta = step.beta;
    out.write(reinterpret_cast<const char*>(beta.data()),
              static_cast<std::streamsize>(p) * static_cast<std::streamsize>(sizeof(double)));
  }
  if (!out.flush()) throw tyto::DataError(file + ": cannot be written");
}

template <class Items, class Write>
void print_list(const char* name, const Items& items, Write write) {
  std::printf(",\n \"%s\": [", name);
  const char* separator = "";
  for (const auto& item : items) {
    std::fputs(separator, stdout);
    write(item);
    separator = ", ";
  }
  std::fputs("]", stdout);
}

struct Times {
  std::vector<double> all, solving;  // CPU seconds, one entry a repetition
};

void print_json(const Options& o, const Answer& answer, const Times& times) {
  const auto number = [](double value) { std::printf("%.17g", value); };
  std::printf("{\"version\": \"%s\", \"solver\": \"%s\", \"alpha_max\": %.17g", tyto::version(),
              o.fit.solver.c_str(), answer.alpha_max);
  print_list("seconds", times.all, number);
  print_list("solve_seconds", times.solving, number);
  print_list("alphas", answer.steps, [&](const tyto::PathStep& s) { number(s.alpha * answer.unit); });
  print_list("status", answer.steps,
             [](const tyto::PathStep& s) { std::printf("\"%s\"", std::string(name(s.fit.status)).c_str()); });
  print_list("primal", answer.steps, [&](const tyto::PathStep& s) { number(s.fit.certificate.primal); });
  print_list("gap", answer.steps, [&](const tyto::PathStep& s) { number(s.fit.certificate.gap); });
  double passes = 0;
  for (const tyto::PathStep& s : answer.steps) passes += s.fit.passes;
  std::printf(",\n \"passes\": %.17g", passes);
  print_list("epochs", answer.steps, [](const tyto::PathStep& s) { std::printf("%td", s.fit.epochs); });
  std::printf("}\n");
}

void run(const Options& o) {
  tyto::ReadOptions reading;
  if (!o.target.empty()) reading.target = o.target;
  const tyto::Dataset data = tyto::read(o.files, reading);
  const Eigen::MatrixXd x = o.sparse ? Eigen::MatrixXd() : to_dense(data.design);
  const auto design = [&] {  // whose norms nobody knows yet
    if (o.sparse) return tyto::Design::sparse(to_sparse(data.design));
    return tyto::Design(tyto::dense_columns(tyto::DenseView<double>{x.data(), x.rows(), x.cols()}, nullptr));
  };
  Answer first;
  Times times;
  double spent = 0;
  do {
    const tyto::Design fresh = design();
    const double start = cpu_seconds();
    Answer answer = solve(fresh, data.response, o);
    times.all.push_back(cpu_seconds() - start);
    times.solving.push_back(answer.solve_seconds);
    if (!(times.all.back() > 0)) throw std::runtime_error("the CPU clock is too coarse to time this");
    spent += times.all.back();
    if (first.steps.empty()) first = std::move(answer);
  } while (spent < o.repeat_seconds && std::ssize(times.all) < o.max_repeats);
  if (!o.coefficients.empty()) write_coefficients(o.coefficients, first);
  print_json(o, first, times);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
