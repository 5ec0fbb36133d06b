#pragma once

#include <string>
#include <vector>

#include "cli/reproduce/environment.h"
#include "cli/reproduce/experiments.h"

namespace tyto::cli {

// What the page says beside the figures.
struct PageContents {
  const Journal& journal;
  std::vector<std::string> sets;     // that were run
  std::vector<std::string> skipped;  // a sentence each
  Settings settings;
  bool quick;
  Environment environment;
};

// A page that needs no other file.
std::string page(const PageContents& contents);

// The paper's claims beside what was measured, a line each: also for the terminal.
struct Claim {
  std::string claim, paper, ours;
};
std::vector<Claim> claims(const PageContents& contents);

}  // namespace tyto::cli
