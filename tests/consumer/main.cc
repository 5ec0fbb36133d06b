#include <tyto/tyto.h>

#include <cstdio>

int main() {
  const tyto::Simulated made = tyto::simulate({.rows = 40, .cols = 60, .groups = 3, .group_size = 5});
  const tyto::Regression regression = tyto::make_regression(made.data.design, made.data.response, {});
  const tyto::Fit fit = tyto::fit(regression.problem);
  const tyto::Model model = tyto::make_model(made.data, {}, regression, fit, {});
  std::printf("%s %s %zu %g\n", tyto::version(), model.status.c_str(), model.coefficients.size(),
              model.relative_gap);
}
