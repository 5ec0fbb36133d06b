#pragma once

#include <string>

#include "tyto/select/cv.h"
#include "tyto/select/path.h"

namespace tyto::cli {

// Shows a line that is overwritten on standard error while a fit or a path runs, if that is a terminal, and
// turns Ctrl-C into a request to stop: the best result so far is still written. A second Ctrl-C ends the
// program at once.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool operator()(const TracePoint& at);  // false: stop
  bool operator()(const PathProgress& at);
  bool operator()(const CvProgress& at);
  bool operator()(const std::string& where, const TracePoint& at);  // one of many fits

  bool interrupted() const;              // by Ctrl-C
  void status(const std::string& text);  // on the line that is overwritten
  void note(const std::string& text);    // a line that stays, on a terminal or not

 private:
  void show(const std::string& text, double seconds);

  bool quiet_, show_;
  double shown_ = 0;
  bool dirty_ = false;
};

std::string duration(double seconds);  // "40 s", "12 min", "1.5 h"

}  // namespace tyto::cli
