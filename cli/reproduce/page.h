#pragma once

#include <string>
#include <vector>

#include "cli/reproduce/document.h"
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

// The whole of it: claims, figures, tables, the paper item by item, errata.
Document page(const PageContents& contents);

// The paper's claims beside what was measured, a line each: also for the terminal.
struct Claim {
  std::string claim, paper, ours;
};
std::vector<Claim> claims(const PageContents& contents);

// Every equation, algorithm, property and setting of the paper, and where it is here.
void add_items(Document& document);
// Slips in the paper and in its public code, each with what shows it, and remarks.
void add_errata(Document& document, const PageContents& contents);

}  // namespace tyto::cli
