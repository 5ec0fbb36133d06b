#include "cli/coefficients.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/report/words.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

// In two digits; a mean just below the mark of a coincidence does not look as if it were at it.
std::string mean_in_words(const ClusterCorrelation& found) {
  const std::string text = fmt::format("{:.2f}", found.mean);
  const std::string mark = fmt::format("{:.2f}", ClusterCorrelation::kCoincidental);
  return found.coincidental() && text == mark ? "<" + mark : text;
}

// Mean and least |r| of its cluster, with a mark where that is likely a tie by coincidence.
std::string likeness(const Model& model, const Coefficient& c) {
  const auto cluster = static_cast<std::size_t>(c.cluster);
  if (c.cluster < 0 || cluster >= model.correlations.size() || !model.correlations[cluster])
    return fmt::format("{:>8}    {:>8}", "-", "-");
  const ClusterCorrelation& found = *model.correlations[cluster];
  return fmt::format("{:>8} {}  {:>8.2f}", mean_in_words(found), found.coincidental() ? "?" : " ",
                     found.least);
}

}  // namespace

std::string coefficient_table(const Model& model, std::size_t most) {
  if (model.coefficients.empty()) return "";
  std::vector<Coefficient> sorted = model.coefficients;  // clusters are numbered by their magnitude
  std::ranges::stable_sort(sorted, {}, &Coefficient::cluster);
  std::string text =
      fmt::format("{:>8}  {:>8}  {:>10}  {:>8}  {:>14}  {}\n", "cluster", "mean |r|", "least |r|", "column",
                  "coefficient", model.has_several_classes() ? "class  name" : "name");
  const std::size_t shown = std::min(most, sorted.size());
  for (std::size_t k = 0; k < shown; ++k)
    text +=
        fmt::format("{:>8}  {}  {:>8}  {:>14.6g}  {}{}\n",
                    sorted[k].cluster < 0 ? "-" : std::to_string(sorted[k].cluster),
                    likeness(model, sorted[k]), sorted[k].column, sorted[k].value,
                    model.has_several_classes() ? printable(model.class_word(sorted[k].of_class)) + "  " : "",
                    printable(sorted[k].name));
  if (sorted.size() > shown) text += fmt::format("{:>8}  (+ {} more)\n", "...", sorted.size() - shown);
  text += fmt::format("A cluster is features of equal magnitude{}",
                      model.options.standardize ? " once columns are standardised.\n" : ".\n");
  const std::string clusters = clusters_in_words(model);
  if (!clusters.empty())
    text += "|r|: between the features of a cluster, in the data. " + clusters + ", marked ?.\n";
  return text;
}

std::string warning_lines(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace tyto::cli
