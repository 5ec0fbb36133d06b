#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tyto/base/types.h"

namespace tyto::cli {

// Where in the paper a run belongs.
inline constexpr const char* kFigure1 = "figure1";
inline constexpr const char* kFigure2 = "figure2";
inline constexpr const char* kTable3 = "table3";
inline constexpr const char* kTune = "tune";    // the grid search for SPGD
inline constexpr const char* kReset = "reset";  // the momentum reset that the paper prints
inline constexpr const char* kStop = "stop";    // beyond their stopping rule
inline constexpr const char* kWarm = "warm";    // the screening rate from warm starts

inline constexpr const char* kFormat = "tyto-reproduce-2";

struct RunKey {
  std::string experiment, set;
  int strength = 1;  // i of p_i
  std::string algorithm;
  int trial = 1;             // of Table 3: the number of the split
  std::string setting = "";  // of a grid search, or a warm start
  bool operator<(const RunKey& other) const {
    return std::tie(experiment, set, strength, algorithm, trial, setting) <
           std::tie(other.experiment, other.set, other.strength, other.algorithm, other.trial, other.setting);
  }
};

// One run and what came of it.
struct Record {
  RunKey key = {};
  Index n = 0, p = 0;
  double multiplier = 0, tolerance = 0;
  std::uint64_t seed = 0;
  std::string status = {};
  double cpu_seconds = 0;
  Index epochs = 0;
  double gap = 0, primal = 0;  // the gap is relative to the primal
  Index screened = 0, nonzeros = 0;
  double rmse = std::numeric_limits<double>::quiet_NaN();  // Table 3 only
  // Where the stopping rule of the published code held first: its epoch, or -1, and the relative gap there.
  Index published_epoch = -1;
  double published_gap = 0;
  struct Point {
    Index epoch;
    double gap;
    Index active;
  };
  std::vector<Point> trace = {};  // where the number of columns changed, and the end: the screening rate only

  bool reached() const { return status == "converged"; }
};

// Finished runs, on disk as soon as they are known: one line of JSON each, after a line with the settings. A
// line that was cut short is dropped when the file is opened again. A state of other settings is not opened:
// throws InvalidArgument, unless `fresh`. Nobody else may write to the file meanwhile.
class Journal {
 public:
  explicit Journal(std::string path);  // to be read only, whatever its settings; throws DataError
  Journal(std::string path, const nlohmann::json& settings, bool fresh);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const nlohmann::json& settings() const { return settings_; }
  const std::vector<Record>& records() const { return records_; }
  const Record* find(const RunKey& key) const;  // until the next one is added
  double seconds() const { return seconds_; }   // of CPU, of all runs
  void add(Record record);

 private:
  void lock();
  // Takes what is there; returns how many bytes of it are whole.
  std::size_t load(const std::string& text);
  void take_over();
  void append(const std::string& line);
  void keep(Record record);

  std::string path_;
  int file_ = -1;
  nlohmann::json settings_;
  std::vector<Record> records_;
  double seconds_ = 0;
  std::map<RunKey, std::size_t> places_;
};

}  // namespace tyto::cli
