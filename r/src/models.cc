// Models as lists of R, in both directions: a vector for each field, an entry for each strength; their
// coefficients as the columns of a compressed sparse matrix, with rows counted from 0.
#include <cmath>
#include <limits>

#include "answers.h"
#include "convert.h"
#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"
#include "tyto/verify/verify.h"

namespace tyto::r {
namespace {

using namespace cpp11::literals;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

cpp11::list coefficients_list(const std::vector<Model>& models) {
  std::vector<double> row, value, cluster, start{0}, penalized, relaxed;
  for (const Model& model : models) {
    for (const Coefficient& one : model.coefficients) {
      row.push_back(static_cast<double>(one.column));
      value.push_back(one.value);
      cluster.push_back(static_cast<double>(one.cluster));
    }
    start.push_back(static_cast<double>(row.size()));
    if (!model.relaxed) continue;
    penalized.insert(penalized.end(), model.relaxed->penalized.begin(), model.relaxed->penalized.end());
    relaxed.insert(relaxed.end(), model.relaxed->relaxed.begin(), model.relaxed->relaxed.end());
  }
  const auto itself = [](double number) { return number; };
  return cpp11::writable::list({"i"_nm = column(row, itself), "x"_nm = column(value, itself),
                                "p"_nm = column(start, itself), "cluster"_nm = column(cluster, itself),
                                "penalized"_nm = column(penalized, itself),
                                "relaxed"_nm = column(relaxed, itself)});
}

// The names of the columns that have a coefficient, as often as they have one.
cpp11::strings names_of(const std::vector<Model>& models) {
  cpp11::writable::strings names;
  for (const Model& model : models)
    for (const Coefficient& one : model.coefficients) names.push_back(cpp11::r_string(one.name));
  return names;
}

double or_none(const std::optional<RelaxedCoefficients>& relaxed, double RelaxedCoefficients::*field) {
  return relaxed ? (*relaxed).*field : kNone;
}

// What all of them have in common.
cpp11::list setting_list(const Model& model) {
  EstimateOptions options;
  options.regression = model.options;
  options.fit = {model.tolerance, model.solver, model.screening};
  const auto itself = [](double number) { return number; };
  const Vector& shape = model.options.weight_values;
  return cpp11::writable::list(
      {"n"_nm = static_cast<double>(model.n), "p"_nm = static_cast<double>(model.p),
       "options"_nm = write_options(options),
       "weight_values"_nm = column(std::vector<double>(shape.begin(), shape.end()), itself),
       "classes"_nm = column(model.classes, itself), "labels"_nm = cpp11::as_sexp(model.labels),
       "response"_nm = model.response_name,
       "weighted"_nm = !model.weights_file.empty() || !model.weights_column.empty(),
       "shifted"_nm = model.has_offset()});
}

// The strength of a list from R at place k.
class Place {
 public:
  Place(const cpp11::list& list, R_xlen_t k) : list_(list), k_(k) {}
  double number(const char* name) const {
    const SEXP values = found(list_, name);
    if (TYPEOF(values) != REALSXP || Rf_xlength(values) <= k_)
      throw InvalidArgument(std::string("model: want a number for each strength as ") + name);
    return REAL(values)[k_];
  }

 private:
  const cpp11::list& list_;
  R_xlen_t k_;
};

Model common(const cpp11::list& setting) {
  const EstimateOptions options = read_options(found(setting, "options"), kFitTask);
  Model model;
  model.n = static_cast<Index>(number(found(setting, "n")));
  model.p = static_cast<Index>(number(found(setting, "p")));
  model.options = options.regression;
  model.options.weight_values = vector(found(setting, "weight_values"));
  model.options.relative_to = RelativeTo::kAbsolute;
  model.solver = options.fit.solver;
  model.screening = options.fit.screening;
  model.tolerance = options.fit.tolerance;
  const Vector classes = vector(found(setting, "classes"));
  model.classes.assign(classes.begin(), classes.end());
  model.labels = words(found(setting, "labels"));
  model.response_name = word(found(setting, "response"));
  if (LOGICAL(found(setting, "weighted"))[0] != 0) model.weights_file = "given";
  if (LOGICAL(found(setting, "shifted"))[0] != 0) model.offset_file = "given";
  return model;
}

// The entries from begin to end of the coefficients are those of one model.
void take_coefficients(const cpp11::list& coefficients, Index begin, Index end, Model& model) {
  const Vector row = vector(found(coefficients, "i")), value = vector(found(coefficients, "x"));
  const Vector cluster = vector(found(coefficients, "cluster"));
  const SEXP names = found(coefficients, "names");
  if (end > row.size() || end > value.size() || end > cluster.size())
    throw InvalidArgument("model: want a column, a value and a cluster for each coefficient");
  for (Index k = begin; k < end; ++k) {
    const bool named = TYPEOF(names) == STRSXP && Rf_xlength(names) > k;
    const std::string name = named ? cpp11::safe[Rf_translateCharUTF8](STRING_ELT(names, k)) : "";
    model.coefficients.push_back(
        {static_cast<Index>(row[k]), value[k], static_cast<Index>(cluster[k]), name});
  }
  if (!model.relaxed) return;
  const Vector penalized = vector(found(coefficients, "penalized"));
  const Vector relaxed = vector(found(coefficients, "relaxed"));
  if (end > penalized.size() || end > relaxed.size())
    throw InvalidArgument("model: want both ends of each relaxed coefficient");
  model.relaxed->penalized.assign(penalized.begin() + begin, penalized.begin() + end);
  model.relaxed->relaxed.assign(relaxed.begin() + begin, relaxed.begin() + end);
}

void take_numbers(const Place& at, Model& model) {
  model.alpha = at.number("alpha");
  model.options.strength = model.alpha;
  model.primal = at.number("primal");
  model.dual = at.number("dual");
  model.gap = at.number("gap");
  model.relative_gap = model.primal > 0 ? model.gap / model.primal : model.gap;
  model.rounding = at.number("rounding");
  model.intercepts = {at.number("intercept")};
  model.best = at.number("best") != 0;
  model.one_se = at.number("one_se") != 0;
  if (const double gamma = at.number("gamma"); !std::isnan(gamma))
    model.relaxed =
        RelaxedCoefficients{gamma, at.number("penalized_intercept"), at.number("relaxed_intercept"), {}, {}};
  if (const double sigma = at.number("sigma"); !std::isnan(sigma)) model.noise = Noise{sigma};
}

}  // namespace

cpp11::writable::list models_list(const std::vector<Model>& models) {
  if (models.front().has_several_classes())
    throw InvalidArgument("model: want one of two classes or of numbers, got one of several classes");
  const auto numbers = [&](auto get) { return column(models, get); };
  return {
      "setting"_nm = setting_list(models.front()),
      "alpha"_nm = numbers([](const Model& m) { return m.alpha; }),
      "status"_nm = text_column(models, [](const Model& m) { return m.status; }),
      "primal"_nm = numbers([](const Model& m) { return m.primal; }),
      "dual"_nm = numbers([](const Model& m) { return m.dual; }),
      "gap"_nm = numbers([](const Model& m) { return m.gap; }),
      "rounding"_nm = numbers([](const Model& m) { return m.rounding; }),
      "intercept"_nm = numbers([](const Model& m) { return m.intercept(); }),
      "best"_nm = numbers([](const Model& m) { return m.best; }),
      "one_se"_nm = numbers([](const Model& m) { return m.one_se; }),
      "gamma"_nm = numbers([](const Model& m) { return or_none(m.relaxed, &RelaxedCoefficients::gamma); }),
      "penalized_intercept"_nm = numbers(
          [](const Model& m) { return or_none(m.relaxed, &RelaxedCoefficients::penalized_intercept); }),
      "relaxed_intercept"_nm =
          numbers([](const Model& m) { return or_none(m.relaxed, &RelaxedCoefficients::relaxed_intercept); }),
      "sigma"_nm = numbers([](const Model& m) { return m.noise ? m.noise->sigma : kNone; }),
      "sigma_status"_nm = text_column(models,
                                      [](const Model& m) {
                                        return m.noise && m.noise->status
                                                   ? std::string(name(*m.noise->status))
                                                   : std::string("given");
                                      }),
      "coefficients"_nm = coefficients_list(models)};
}

std::vector<Model> models_from(const cpp11::list& list) {
  const cpp11::list setting(found(list, "setting")), coefficients(found(list, "coefficients"));
  const std::vector<std::string> status = words(found(list, "status"));
  const Vector start = vector(found(coefficients, "p"));
  if (start.size() != std::ssize(status) + 1)
    throw InvalidArgument("model: want coefficients for each strength");
  std::vector<Model> models;
  for (std::size_t k = 0; k < status.size(); ++k) {
    Model model = common(setting);
    model.status = status[k];
    take_numbers(Place(list, static_cast<R_xlen_t>(k)), model);
    const auto place = static_cast<Index>(k);
    take_coefficients(coefficients, static_cast<Index>(start[place]), static_cast<Index>(start[place + 1]),
                      model);
    models.push_back(std::move(model));
  }
  return models;
}

// `one`: the file of a single model, else that of a path.
SEXP entry_write(SEXP list, SEXP file, SEXP one) {
  const std::vector<Model> models = models_from(cpp11::list(list));
  const bool single = LOGICAL(one)[0] != 0;
  write_atomically(word(file), single ? to_json(models.front()) : to_json(models));
  return R_NilValue;
}

SEXP entry_read(SEXP file) {
  const std::vector<Model> models = load_models(word(file));
  cpp11::writable::list list = models_list(models);
  list.push_back("names"_nm = names_of(models));
  return list;
}

SEXP entry_verify(SEXP x, SEXP y, SEXP rows, SEXP list) {
  const std::string text = to_json(models_from(cpp11::list(list)));
  const Dataset data = dataset(x, y, cpp11::list(rows));
  const std::vector<Verification> found = verify_text(text, "model", data);
  return cpp11::writable::list(
      {"objective"_nm = column(found, [](const Verification& v) { return v.primal; }),
       "dual"_nm = column(found, [](const Verification& v) { return v.dual; }),
       "gap"_nm = column(found, [](const Verification& v) { return v.gap; }),
       "holds"_nm = column(found, [](const Verification& v) { return v.holds; }),
       "reason"_nm = text_column(found, [](const Verification& v) { return v.reason; })});
}

}  // namespace tyto::r
