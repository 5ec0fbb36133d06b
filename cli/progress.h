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

 private:
  void show(const std::string& text, double seconds);

  bool show_;
  double shown_ = 0;
  bool dirty_ = false;
};

}  // namespace tyto::cli
