#include "tyto/select/cv_state.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/json.h"
#include "tyto/base/version.h"
#include "tyto/data/atomic_file.h"
#include "tyto/select/option_json.h"

namespace tyto {
namespace {

// The last field: of all bytes before it.
constexpr std::string_view kChecksum = ",\n \"checksum\": \"";
constexpr const char* kBeginAnew = "; remove the file to begin anew";
constexpr std::string_view kBeginning = "{\"format\": \"";
constexpr std::size_t kShown = 40;  // characters of somebody else's words
constexpr const char* kFormat = "tyto-cv-state-3";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// FNV-1a over whole words: tells data apart, and is no defence against forgery.
class Fingerprint {
 public:
  void add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3;
    hash_ ^= hash_ >> 29;
  }
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
  print.add(raw.rows());
  print.add(raw.cols());
  print.add(response);
  const auto expected = raw.expect();
  for (Index j = 0; j < raw.cols(); ++j) {
    raw.for_each_entry(j, [&](Index row, double value) {
      if (value == 0) return;
      print.add(row);
      print.add(value);
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

// Those of a part that are not there yet, under their names on the command line.
template <class Part>
void add_settings(const Part& part, Json& json) {
  for_each_option_of<Part>([&](const Option& option, auto field) {
    if ((option.tasks & kCvTask) != 0 && option.changes_results && !json.contains(option.name))
      json[option.name] = option_json(part.*field);
  });
}

// Everything that the numbers depend on, in the words of the options. Those that are not what the table says
// come first.
Json setting(const Design& raw, const Vector& response, const RegressionOptions& regression,
             const CvOptions& cv, const FitOptions& options) {
  const StochasticOptions& s = options.stochastic;
  Json json{{"version", version()},
            {"data", data_fingerprint(raw, response)},
            {"weights", regression.weight_values.size() == 0 ? regression.weights
                                                             : fingerprint(regression.weight_values)},
            {"q", cv.qs.empty() ? std::vector<double>{regression.q} : cv.qs},
            {"slope", cv.slopes.empty() ? std::vector<double>{regression.slope} : cv.slopes},
            {"observation_weights", fingerprint(regression.observation_weights)},
            {"offset", fingerprint(regression.offset)},
            {"events", fingerprint(regression.events)},
            {"unpenalized", regression.unpenalized},
            {"folds", cv.given.empty() ? Json(cv.folds) : Json("given " + fingerprint(cv.given))},
            {"seed", cv.seed},
            {"steps", cv.path.alphas.empty() ? Json(cv.path.steps) : Json(cv.path.alphas)},
            {"solver", find_solver(options.solver).name},
            {"spgd", {s.batch, s.inner_steps, s.step_size, s.seed}}};
  add_settings(regression, json);
  add_settings(cv, json);
  add_settings(cv.path, json);
  add_settings(options, json);
  return json;
}

Status parse_status(const std::string& text) {
  for (const Status status : {Status::kConverged, Status::kEpochLimit, Status::kStalled})
    if (name(status) == text) return status;
  throw DataError("expected a status of a finished fit, got '" + text.substr(0, kShown) + "'");
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

Index count(const Json& json, const char* field) {
  if (!json.at(field).is_number_unsigned())
    throw DataError(std::string("expected a whole number as ") + field + " of a fold" + kBeginAnew);
  return json[field].get<Index>();
}

FoldScore parse(const Json& json) {
  FoldScore score;
  score.shape = count(json, "shape");
  score.repeat = count(json, "repeat");
  score.fold = count(json, "fold");
  score.rows = count(json, "rows");
  score.weight = json.at("weight");
  score.passes = json.at("passes");
  score.errors = numbers(json.at("errors"));
  score.relative_gaps = numbers(json.at("relative_gaps"));
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
                                            : "--" + hyphenated(key) + " " + got.dump().substr(0, kShown) +
                                                  ", not " + value.dump().substr(0, kShown);
      throw DataError("holds folds of another run: of " + why +
                      "; give the options of that run, or another file");
    }
}

}  // namespace

std::string with_checksum(const std::string& text) {
  Fingerprint print;
  for (const char c : text) print.add(std::uint64_t{static_cast<unsigned char>(c)});
  return text + std::string(kChecksum) + print.text() + "\"}\n";
}

CvState::CvState(std::string path, const Design& raw, const Vector& response,
                 const RegressionOptions& regression, const CvOptions& cv, const FitOptions& options)
    : path_(std::move(path)),
      setting_(setting(raw, response, regression, cv, options).dump()),
      limits_{std::max<Index>({1, std::ssize(cv.qs), std::ssize(cv.slopes)}), cv.repeats,
              cv.given.empty() ? cv.folds : std::ranges::max(cv.given) + 1, raw.rows(),
              std::max<Index>(1, std::ssize(cv.gammas))} {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  const std::string text = read_whole(path_);
  check_json_depth(text, path_);
  try {
    load(text);
  } catch (const nlohmann::json::exception&) {
    if (text.starts_with(kBeginning))
      throw DataError(path_ + ": expected a whole file, got one that was damaged or cut off" + kBeginAnew);
    throw DataError(path_ + ": expected folds of a cross-validation (" + kFormat + "), got something else");
  } catch (const DataError& error) {
    throw DataError(path_ + ": " + error.what());
  }
}

void CvState::load(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat)
    throw DataError(std::string("expected format ") + kFormat + ", got " +
                    json["format"].dump().substr(0, kShown) + kBeginAnew);
  if (const std::size_t end = text.rfind(kChecksum);
      end == std::string::npos || text != with_checksum(text.substr(0, end)))
    throw DataError(
        std::string("expected a file that fits its checksum, got one that was damaged or edited") +
        kBeginAnew);
  compare(json.at("setting"), Json::parse(setting_));
  for (const Json& score : json.at("folds")) check_and_add(parse(score));
}

// With the right checksum, these are only ever wrong where somebody means them to be.
void CvState::check_and_add(FoldScore score) {
  const auto wrong = [](const std::string& what) { return DataError("expected " + what + kBeginAnew); };
  if (score.shape >= limits_.shapes || score.repeat >= limits_.repeats || score.fold >= limits_.folds)
    throw wrong("folds of this run, got others");
  if (score.rows < 1 || score.rows > limits_.rows) throw wrong("folds of some of the rows, got others");
  if (!(score.weight >= 0 && std::isfinite(score.weight))) throw wrong("a finite weight >= 0 of each fold");
  if (!(score.passes >= 0 && std::isfinite(score.passes))) throw wrong("finite passes >= 0 of each fold");
  const auto strengths = score.statuses.size();
  if (strengths == 0 || score.relative_gaps.size() != strengths ||
      score.errors.size() != strengths * static_cast<std::size_t>(limits_.gammas))
    throw wrong("an error, a gap and a status for each strength of a fold");
  const auto same = [&](const FoldScore& s) {
    return s.shape == score.shape && s.repeat == score.repeat && s.fold == score.fold;
  };
  if (std::ranges::any_of(finished_, same)) throw wrong("each fold once");
  finished_.push_back(std::move(score));
}

void CvState::add(const FoldScore& score) {
  finished_.push_back(score);
  dirty_ = true;
  if (now() - last_saved_ >= 10 * cost_) save();
}

void CvState::save() {
  if (!dirty_) return;
  const double start = now();
  std::string text =
      std::string(kBeginning) + kFormat + "\",\n \"setting\": " + setting_ + ",\n \"folds\": [";
  for (const FoldScore& score : finished_)
    text += (&score == &finished_.front() ? "\n  " : ",\n  ") + to_json(score).dump();
  write_atomically(path_, with_checksum(text + "\n ]"));
  last_saved_ = now();
  cost_ = last_saved_ - start;
  dirty_ = false;
}

}  // namespace tyto
