#include "tyto/select/cv_state.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/version.h"
#include "tyto/data/atomic_file.h"

namespace tyto {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "tyto-cv-state-2";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// FNV-1a over whole words: tells data apart, and is no defence against forgery.
class Fingerprint {
 public:
  void add(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3, hash_ ^= hash_ >> 29; }
  void add(Index number) { add(static_cast<std::uint64_t>(number)); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(const Vector& v) {
    add(v.size());
    for (const double x : v) add(x);
  }
  std::string text() const { return std::to_string(hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::string data_fingerprint(const Design& raw, const Vector& response) {
  Fingerprint print;
  print.add(raw.rows()), print.add(raw.cols()), print.add(response);
  for (Index j = 0; j < raw.cols(); ++j) {
    raw.for_each_entry(j, [&](Index row, double value) {
      if (value != 0) print.add(row), print.add(value);
    });
    print.add(j);
  }
  return print.text();
}

template <class Numbers>
std::string fingerprint(const Numbers& numbers) {
  Fingerprint print;
  for (const auto number : numbers) print.add(number);
  return print.text();
}

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Everything that the numbers depend on, in the words of the options.
Json setting(const Design& raw, const Vector& response, const RegressionOptions& regression,
             const CvOptions& cv, const FitOptions& options) {
  const StochasticOptions& s = options.stochastic;
  return {{"version", version()},
          {"data", data_fingerprint(raw, response)},
          {"weights",
           regression.weight_values.size() == 0 ? regression.weights : fingerprint(regression.weight_values)},
          {"gamma", cv.gammas},
          {"q", cv.qs.empty() ? std::vector<double>{regression.q} : cv.qs},
          {"slope", cv.slopes.empty() ? std::vector<double>{regression.slope} : cv.slopes},
          {"intercept", regression.intercept},
          {"standardize", regression.standardize},
          {"observation_weights", fingerprint(regression.observation_weights)},
          {"unpenalized", regression.unpenalized},
          {"ridge", regression.ridge},
          {"nonnegative", regression.nonnegative},
          {"folds", cv.given.empty() ? Json(cv.folds) : Json("given " + fingerprint(cv.given))},
          {"repeats", cv.repeats},
          {"seed", cv.seed},
          {"error", name(cv.error)},
          {"steps", cv.path.steps},
          {"ratio", cv.path.ratio},
          {"max-explained", maybe(cv.path.max_explained)},
          {"min-change", maybe(cv.path.min_change)},
          {"max-nonzeros", maybe(cv.path.max_nonzeros)},
          {"max-clusters", maybe(cv.path.max_clusters)},
          {"tolerance", options.tolerance},
          {"solver", find_solver(options.solver).name},
          {"screening", options.screening},
          {"max-epochs", options.max_epochs},
          {"spgd", {s.batch, s.inner_steps, s.step_size, s.seed}}};
}

Status parse_status(const std::string& text) {
  for (const Status status : {Status::kConverged, Status::kEpochLimit, Status::kStalled})
    if (name(status) == text) return status;
  throw DataError("expected a status of a finished fit, got '" + text.substr(0, 40) + "'");
}

Json to_json(const FoldScore& score) {
  Json statuses = Json::array();
  for (const Status status : score.statuses) statuses.push_back(name(status));
  return {{"shape", score.shape},
          {"repeat", score.repeat},
          {"fold", score.fold},
          {"rows", score.rows},
          {"weight", score.weight},
          {"passes", score.passes},
          {"errors", score.errors},
          {"relative_gaps", score.relative_gaps},
          {"statuses", std::move(statuses)}};
}

// JSON has no infinite numbers: they are null there, and NaN when they come back.
std::vector<double> numbers(const Json& json) {
  std::vector<double> result;
  for (const Json& number : json)
    result.push_back(number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>());
  return result;
}

FoldScore parse(const Json& json) {
  FoldScore score;
  score.shape = json.at("shape"), score.repeat = json.at("repeat"), score.fold = json.at("fold");
  score.rows = json.at("rows"), score.weight = json.at("weight"), score.passes = json.at("passes");
  score.errors = numbers(json.at("errors")), score.relative_gaps = numbers(json.at("relative_gaps"));
  for (const Json& status : json.at("statuses")) score.statuses.push_back(parse_status(status));
  return score;
}

std::string hyphenated(std::string key) {
  std::ranges::replace(key, '_', '-');
  return key;
}

void compare(const Json& found, const Json& wanted) {
  for (const auto& [key, value] : wanted.items())
    if (const Json got = found.value(key, Json()); got != value) {
      const std::string why = key == "data" ? "other data"
                                            : "--" + hyphenated(key) + " " + got.dump().substr(0, 40) +
                                                  ", not " + value.dump().substr(0, 40);
      throw DataError("holds folds of another run: of " + why +
                      "; give the options of that run, or another file");
    }
}

}  // namespace

CvState::CvState(std::string path, const Design& raw, const Vector& response,
                 const RegressionOptions& regression, const CvOptions& cv, const FitOptions& options)
    : path_(std::move(path)), setting_(setting(raw, response, regression, cv, options).dump()) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  const std::string text = read_whole(path_);
  try {
    load(text);
  } catch (const nlohmann::json::exception&) {
    throw DataError(path_ + ": expected folds of a cross-validation (" + kFormat + "), got something else");
  } catch (const DataError& error) {
    throw DataError(path_ + ": " + error.what());
  }
}

void CvState::load(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat) throw DataError(std::string("expected format ") + kFormat);
  compare(json.at("setting"), Json::parse(setting_));
  for (const Json& score : json.at("folds")) finished_.push_back(parse(score));
}

void CvState::add(const FoldScore& score) {
  finished_.push_back(score), dirty_ = true;
  if (now() - last_saved_ >= 10 * cost_) save();
}

void CvState::save() {
  if (!dirty_) return;
  const double start = now();
  std::string text =
      std::string("{\"format\": \"") + kFormat + "\",\n \"setting\": " + setting_ + ",\n \"folds\": [";
  for (const FoldScore& score : finished_)
    text += (&score == &finished_.front() ? "\n  " : ",\n  ") + to_json(score).dump();
  write_atomically(path_, text + "\n ]}\n");
  last_saved_ = now(), cost_ = last_saved_ - start, dirty_ = false;
}

}  // namespace tyto
