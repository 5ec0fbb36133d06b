#include "tyto/verify/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/random.h"
#include "tyto/base/error.h"
#include "tyto/base/json.h"
#include "tyto/select/model.h"
#include "tyto/solve/fit.h"

namespace tyto {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  Eigen::MatrixXd x;
  Vector y, weights;

  Dataset data(bool sparse = false) const {
    const Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t> entries = x.sparseView();
    Dataset result{sparse ? Design::sparse(entries) : Design::dense(x), y};
    result.row_weights = weights;
    return result;
  }
};

// y is x_2, with noise: column 2 refutes every model that leaves it out.
Case make_case(Index n, Index p) {
  Random random(7);
  Case made{random_matrix(random, n, p), {}, {}};
  made.y = 3 * made.x.col(2) + 0.1 * random_vector(random, n);
  return made;
}

Json fitted(const Case& made, RegressionOptions options = {}) {
  const Dataset data = made.data();
  options.observation_weights = made.weights;
  const Regression regression = make_regression(data.design, data.response, options);
  const FitOptions fit_options;
  Model model = make_model(data, options, regression, fit(regression.problem, fit_options), fit_options);
  if (made.weights.size() > 0) model.weights_file = "given";
  return Json::parse(to_json(model));
}

Verification verified(const Json& model, const Dataset& data) {
  return verify_text(model.dump(), "model", data).front();
}

std::string reason(const Json& model, const Case& made) { return verified(model, made.data()).reason; }

std::string refusal(const Json& model, const Dataset& data) {
  try {
    verify_text(model.dump(), "model", data);
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Verify, AcceptsAFit) {
  const Case made = make_case(30, 20);
  const Verification found = verified(fitted(made), made.data());
  EXPECT_TRUE(found.holds) << found.reason;
  EXPECT_GT(found.claimed_rounding, 0);
  EXPECT_LE(found.claimed_gap + found.claimed_rounding, found.tolerance * found.primal);
}

TEST(Verify, RefusesDataThatIsNotFinite) {
  const Case made = make_case(30, 20);
  const Json model = fitted(made);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    Case other = made;
    other.x(4, 3) = bad;
    const std::string want = ": want a finite number, got " + std::string(std::isnan(bad) ? "nan"
                                                                          : bad > 0       ? "inf"
                                                                                          : "-inf");
    EXPECT_EQ(refusal(model, other.data()), "design: column 3, row 4" + want);
    EXPECT_EQ(refusal(model, other.data(true)), "design: column 3, row 4" + want);
    Dataset named = other.data();
    for (int j = 0; j < 20; ++j) named.names.push_back(std::string("x").append(std::to_string(j)));
    EXPECT_EQ(refusal(model, named), "design: column 3 ('x3'), row 4" + want);
    other = made;
    other.y[5] = bad;
    EXPECT_EQ(refusal(model, other.data()), "response: row 5" + want);
    other = made;
    other.weights = Vector::Ones(30);
    const Json weighted = fitted(other);
    other.weights[6] = bad;
    EXPECT_EQ(refusal(weighted, other.data()), "observation-weights: row 6" + want);
  }
}

// A NaN compares as false with everything: it must not make a model pass.
TEST(Verify, NanDoesNotHideWhatRefutesAModel) {
  const Case made = make_case(30, 20);
  Json model = fitted(made);
  model["coefficients"] = Json::array(), model["names"] = Json::array();
  model["cluster_of"] = Json::array(), model["intercept"] = made.y.mean();
  model["primal"] = 0.5 * (made.y.array() - made.y.mean()).square().sum();
  model["gap"] = model["relative_gap"] = 0.0;
  EXPECT_EQ(reason(model, made), "the gap is larger than the one that the model states");
  Case other = made;
  other.x.col(2).setConstant(kNan);
  EXPECT_EQ(refusal(model, other.data()), "design: column 2, row 0: want a finite number, got nan");
  other = made;
  other.x(11, 2) = kNan;
  EXPECT_EQ(refusal(model, other.data()), "design: column 2, row 11: want a finite number, got nan");
  other.x = made.x;
  other.x.rightCols(19).setConstant(kNan);
  EXPECT_EQ(refusal(model, other.data()), "design: column 1, row 0: want a finite number, got nan");
}

TEST(Verify, FailsWhereTheObjectiveOverflows) {
  const Case made = make_case(10, 4);
  Json model = fitted(made);
  Case other = made;
  other.y *= 1e200;
  EXPECT_EQ(reason(model, other), "the objective or the dual value is not a finite number");
  other = made;
  other.x.col(2) *= 1e200;
  EXPECT_EQ(reason(model, other), "the objective or the dual value is not a finite number");
  other = made;
  other.x.col(0) *= 1e306;  // a column that the model does not use: its units are no matter
  model = fitted(made);
  EXPECT_NE(refusal(model, other.data()), "");
  EXPECT_TRUE(std::isfinite(verified(model, other.data()).gap));
}

// Unpenalised columns 1 and 1 + 1e-11 v count as one, so that v can lower the objective but not the dual.
TEST(Verify, FailsWhereTheGapIsNegative) {
  Case made = make_case(20, 3);
  const Vector v = made.y.array() - made.y.mean();
  made.x.col(0) = 1e-11 * v.array() + 1;
  const Vector used = 1e11 * (made.x.col(0).array() - 1);
  RegressionOptions options;
  options.unpenalized = {0}, options.standardize = false;
  Json model = fitted(made, options);
  const double intercept = made.y.mean() - 1e11;
  model["intercept"] = intercept, model["coefficients"] = {{0, 1e11}};
  model["cluster_of"] = {-1}, model["names"] = Json::array();
  double primal = 0;
  for (Index i = 0; i < 20; ++i) {
    const long double r = static_cast<long double>(made.y[i]) - intercept - 1e11L * made.x(i, 0);
    primal += 0.5 * static_cast<double>(r * r);
  }
  model["primal"] = primal, model["gap"] = 0.0, model["rounding"] = 0.0;
  ASSERT_LT(primal, 1e-3 * v.squaredNorm()) << used[0];
  const Verification found = verified(model, made.data());
  EXPECT_FALSE(found.holds);
  EXPECT_LT(found.gap, 0);
  EXPECT_EQ(found.reason.substr(0, 38), "the gap is negative beyond rounding: -");
}

TEST(Verify, RoundingIsPartOfTheClaim) {
  const Case made = make_case(30, 20);
  const Json model = fitted(made);
  Json other = model;
  other.erase("rounding");  // as older versions wrote it
  EXPECT_EQ(reason(other, made), "");
  // A gap of 1e-8 of the objective, stated as 0, and as rounding.
  other = model;
  other["coefficients"][0][1] = model["coefficients"][0][1].get<double>() * (1 + 1e-5);
  const Verification moved = verified(other, made.data());
  ASSERT_GT(moved.gap, 1e-11 * moved.primal);
  ASSERT_LT(moved.gap, 1e-6 * moved.primal);
  other["primal"] = moved.primal, other["gap"] = 0.0, other["rounding"] = 0.0;
  EXPECT_EQ(reason(other, made), "the gap is larger than the one that the model states");
  other["rounding"] = moved.gap;
  EXPECT_EQ(reason(other, made), "");
}

// The model explains nearly all of y: what is allowed for rounding must not be in proportion to ||y||^2.
TEST(Verify, FindsAGapThatIsFarBelowTheResponse) {
  Case made = make_case(40, 6);
  made.y = 3 * made.x.col(0) - 2 * made.x.col(1);
  RegressionOptions options;
  options.intercept = options.standardize = false;
  options.relative_to = RelativeTo::kAbsolute, options.strength = 1e-12;
  const Json model = fitted(made, options);
  EXPECT_EQ(reason(model, made), "");
  ASSERT_LT(model["primal"].get<double>(), 1e-13 * made.y.squaredNorm());
  for (const double off : {1e-8, 1e-7, 1e-6}) {
    Json other = model;
    other["coefficients"][0][1] = model["coefficients"][0][1].get<double>() + off;
    other["primal"] = verified(other, made.data()).primal, other["gap"] = 0.0;
    EXPECT_EQ(reason(other, made), "the gap is larger than the one that the model states") << off;
  }
}

TEST(Verify, RoundingBuysNoAcceptance) {
  const Case made = make_case(30, 20);
  Json model = fitted(made);
  model["rounding"] = 1e-5 * model["primal"].get<double>();  // the tolerance is 1e-6
  EXPECT_EQ(reason(model, made),
            "the stated gap and its rounding are larger than the tolerance that the model states");
  model["rounding"] = 1e300;
  EXPECT_EQ(reason(model, made),
            "the stated rounding is larger than the objective, so that the gap says nothing");
  model["status"] = "stalled";
  EXPECT_EQ(reason(model, made),
            "the stated rounding is larger than the objective, so that the gap says nothing");
  model["rounding"] = 1e-5 * model["primal"].get<double>();
  EXPECT_EQ(reason(model, made), "");  // it claims no more than it has
  model["gap"] = -1.0;
  EXPECT_EQ(reason(model, made), "the stated gap is negative beyond rounding: -1");
  model["rounding"] = -1.0;
  EXPECT_EQ(refusal(model, made.data()), "model: rounding: expected a number >= 0, got -1");
  model["rounding"] = 0.0, model["tolerance"] = 1e300;
  EXPECT_EQ(refusal(model, made.data()), "model: tolerance: expected a number in (0, 1), got 1e+300");
}

TEST(Verify, RefusesModelsWithNumbersThatAreNone) {
  const Case made = make_case(30, 20);
  const Json model = fitted(made);
  for (const char* field : {"intercept", "primal", "gap", "rounding", "tolerance", "ridge", "alpha"})
    for (const Json& bad : {Json(), Json(true), Json("1"), Json::array()}) {
      Json other = model;
      other[field] = bad;
      EXPECT_EQ(refusal(other, made.data()),
                std::string("model: ") + field + ": expected a finite number, got " + bad.dump());
    }
  Json other = model;
  other["coefficients"][0][1] = nullptr;
  EXPECT_EQ(refusal(other, made.data()),
            "model: coefficients: expected pairs of a column and a finite number, got null");
  for (const Json& bad : {Json(2.5), Json(1e300), Json(UINT64_MAX), Json()}) {
    other = model, other["p"] = bad;
    EXPECT_EQ(refusal(other, made.data()),
              std::string("model: p: expected a whole number, got ") + bad.dump());
  }
}

// One coefficient given in two parts would be penalised for the last alone.
TEST(Verify, RefusesAColumnThatStandsTwice) {
  const Case made = make_case(30, 20);
  Json model = fitted(made);
  model["coefficients"].push_back(model["coefficients"].back());
  EXPECT_NE(refusal(model, made.data()).find("expected coefficients of increasing columns below p"),
            std::string::npos);
}

TEST(Verify, RefusesDocumentsWithoutAModel) {
  const Case made = make_case(30, 20);
  Json model = fitted(made);
  model["fits"] = Json::array();
  EXPECT_EQ(refusal(model, made.data()), "model: expected at least one strength in fits, got none");
  model["fits"] = {Json::object(), Json::object()};
  EXPECT_EQ(refusal(model, made.data()), "model: expected no fits in the file of one model, got some");
  model["format"] = "tyto-path-1", model["fits"] = 3;
  EXPECT_EQ(refusal(model, made.data()), "model: expected at least one strength in fits, got none");
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_THROW(verify_text(deep, "model", made.data()), DataError);
}

}  // namespace
}  // namespace tyto
