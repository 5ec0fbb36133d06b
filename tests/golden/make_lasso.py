"""Writes lasso.h: problems and scikit-learn's answers to them. Run with numpy and scikit-learn installed.

scikit-learn minimises |y - Xb|^2 / (2n) + a |b|_1, which is our problem with all weights n a.
"""

import pathlib

import numpy as np
from sklearn.linear_model import Lasso

# name, n, p, correlation of neighbours, strength (of the smallest that gives zero), intercept
PROBLEMS = [
    ("kTall", 12, 5, 0.0, 0.1, False),
    ("kWide", 8, 12, 0.5, 0.05, False),
    ("kIntercept", 15, 6, 0.8, 0.05, True),
]


def correlated(rng, n, p, rho):
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * x[:, j]
    return x


def array(name, values):
    return f"inline constexpr double {name}[] = {{{', '.join(repr(float(v)) for v in values)}}};"


def problem(seed, name, n, p, rho, strength, intercept):
    rng = np.random.default_rng(seed)
    x = np.round(correlated(rng, n, p, rho), 6)
    y = np.round(x[:, 0] - 2 * x[:, 1] + 0.5 * rng.standard_normal(n) + 3 * intercept, 6)
    xc, yc = (x - x.mean(0), y - y.mean()) if intercept else (x, y)
    alpha = strength * np.abs(xc.T @ yc).max() / n
    model = Lasso(alpha=alpha, fit_intercept=intercept, tol=1e-14, max_iter=10**6).fit(x, y)
    return [
        array(f"{name}X", x.T.ravel()),
        array(f"{name}Y", y),
        array(f"{name}Beta", model.coef_),
        f"inline constexpr Lasso {name}{{{n}, {p}, {str(intercept).lower()}, {float(alpha * n)!r}, "
        f"{float(model.intercept_)!r}, {name}X, {name}Y, {name}Beta}};",
        "",
    ]


HEAD = """// Made by make_lasso.py; do not edit.
// clang-format off
#pragma once

namespace tyto::golden {

struct Lasso {
  int n, p;
  bool intercept;
  double weight, intercept_value;
  const double *x, *y, *beta;  // x by columns
};
"""

lines = [HEAD]
for seed, arguments in enumerate(PROBLEMS):
    lines += problem(seed, *arguments)
lines.append("}  // namespace tyto::golden\n")
pathlib.Path(__file__).with_name("lasso.h").write_text("\n".join(lines))
