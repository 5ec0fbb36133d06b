#include "cli/reproduce/page.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/reproduce/figures.h"
#include "cli/reproduce/results.h"
#include "cli/reproduce/svg.h"

namespace tyto::cli {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Safe screening for OWL regression: the paper's experiments</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:0 auto;padding:1rem;color:#222;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}
table{border-collapse:collapse;font-size:13px}th,td{padding:.25rem .6rem;border-bottom:1px solid #8884;text-align:left}
.wide{overflow-x:auto}svg{max-width:100%;min-width:720px;height:auto}caption{text-align:left;padding:.3rem 0;opacity:.85}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#161616}}
@media print{body{max-width:none}}
</style></head><body>
)";

// Rows of cells; the first row is the head, the first cell of a row its name.
std::string table(const std::string& caption, const std::vector<std::vector<std::string>>& rows) {
  std::string html = fmt::format("<div class=\"wide\"><table><caption>{}</caption>\n", escaped(caption));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (std::size_t k = 0; k < rows[r].size(); ++k) {
      const bool head = r == 0 || k == 0;
      html += head ? fmt::format("<th scope=\"{}\">{}</th>", r == 0 ? "col" : "row", escaped(rows[r][k]))
                   : "<td>" + escaped(rows[r][k]) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string paragraph(const std::string& words) { return "<p>" + escaped(words) + "</p>\n"; }

std::string introduction(const PageContents& c) {
  const Environment& e = c.environment;
  std::string html = "<h1>Safe screening for OWL regression: the paper's experiments</h1>\n";
  html += paragraph(fmt::format(
      "Section 5 of Bao, Gu & Huang, Fast OSCAR and OWL regression via safe screening rules (ICML 2020), run "
      "again by tyto {} (commit {}) on {}, {} cores, one of them used; {}; {}.",
      e.version, e.commit, e.processor, e.cores, e.system, e.compiler));
  if (c.quick) html += paragraph("A quick run: few trials, a small cap, some of the sets, small stand-ins.");
  for (const std::string& line : c.skipped) html += paragraph(line);
  return html;
}

std::string claims_table(const PageContents& c) {
  std::vector<std::vector<std::string>> rows{{"Claim", "Paper", "Here"}};
  for (const Claim& claim : claims(c)) rows.push_back({claim.claim, claim.paper, claim.ours});
  return "<h2>The claims</h2>\n" + table("Gains are ratios of median CPU times, over all strengths.", rows);
}

std::string settings_part(const PageContents& c) {
  std::vector<std::vector<std::string>> rows{{"Data set", "Rows", "Columns", "p_i", "Prepared", "Note"}};
  for (const std::string& name : c.sets) {
    const PaperSet& set = find_paper_set(name);
    for (const Record& r : c.journal.records())
      if (r.key.set == name && r.key.experiment == kFigure1) {
        rows.push_back({std::string(set.title), fmt::format("{}", r.n), fmt::format("{}", r.p),
                        fmt::format("i exp(-{:.0f})", set.tau),
                        set.standardized ? "columns and response standardised" : "as it is, no intercept",
                        std::string(set.note)});
        break;
      }
  }
  return "<h2>Settings</h2>\n" + table("The paper's Table 2, and what stands in for it or beside it.", rows) +
         paragraph(fmt::format(
             "OSCAR weights: alpha_1 = p_i max|x_j'y|, alpha_2 = alpha_1 / d. {} trials of each run, "
             "interleaved; "
             "the stochastic solver has another seed in each. CPU seconds of solving alone, one thread, from "
             "zero "
             "(the paper warm-starts, and does not say from where). Stopped when the duality gap is at most "
             "1e-6 of the objective (Figure 1) or 1e-10 (Figure 2, Table 3). A run is stopped after {} CPU "
             "seconds; one that has not reached the tolerance by then is not repeated. Batch, inner steps "
             "and "
             "step size of SPGD follow from the data, by one formula with and without screening; the paper "
             "tunes them for each set, so SPGD may look slower here.",
             c.settings.trials, c.settings.cap));
}

std::string times_table(const PageContents& c) {
  std::vector<std::vector<std::string>> rows{{"Data set", "Strength"}};
  for (const Algorithm& a : figure1_algorithms()) rows[0].emplace_back(a.title);
  for (const std::string& set : c.sets)
    for (int i = 1; i <= kStrengths; ++i) {
      std::vector<std::string> row{std::string(find_paper_set(set).title), fmt::format("p_{}", i)};
      const auto base = timing(c.journal, set, i, "apgd");
      for (const Algorithm& a : figure1_algorithms()) {
        const auto own = timing(c.journal, set, i, a.name);
        if (!own || !base)
          row.emplace_back("");
        else
          row.push_back(seconds_text(*own) + (a.name == "apgd" ? "" : ", " + text(gain(*base, *own))));
      }
      rows.push_back(row);
    }
  return table("Median CPU seconds, and how many times faster than APGD that is.", rows);
}

std::string screening_table(const PageContents& c) {
  std::vector<std::vector<std::string>> rows{
      {"Data set", "Rule", "Inactive", "Epochs to half", "Epochs to 99%", "At the end", "Epochs", "Gap"}};
  const auto epochs_to = [](const ScreeningCurve& curve, double level) -> std::string {
    for (const Record::Point& at : curve.points)
      if (curve.rate(at) >= level) return fmt::format("{}", at.epoch);
    return "never";
  };
  for (const std::string& set : c.sets)
    for (const Algorithm& a : figure2_algorithms())
      if (const auto curve = screening_curve(c.journal, set, a.name); curve && !curve->points.empty())
        rows.push_back({std::string(find_paper_set(set).title), std::string(a.title),
                        fmt::format("{}", curve->inactive), epochs_to(*curve, 0.5), epochs_to(*curve, 0.99),
                        fmt::format("{:.2f}%", 100 * curve->rate(curve->points.back())),
                        fmt::format("{}{}", curve->end_epoch, curve->reached ? "" : " (1e-10 not reached)"),
                        short_gap(curve->end_gap)});
  return table("How soon inactive columns are screened by SPGD at p_1.", rows);
}

std::string errors_table(const PageContents& c) {
  std::vector<std::vector<std::string>> rows{{"Data set"}};
  for (const Algorithm& a : table3_algorithms()) rows[0].emplace_back(a.title);
  rows[0].emplace_back("Paper, all four");
  for (const std::string& set : c.sets) {
    std::vector<std::string> row{std::string(find_paper_set(set).title)};
    for (const Algorithm& a : table3_algorithms()) {
      const Record* r = table3_record(c.journal, set, a.name);
      if (r == nullptr)
        row.emplace_back("");
      else
        row.push_back(fmt::format("{:.4f}", r->rmse) +
                      (r->reached() ? "" : fmt::format(" (stopped at gap {})", short_gap(r->gap))));
    }
    row.emplace_back(find_paper_set(set).paper_rmse);
    rows.push_back(row);
  }
  return table(
      "RMSE on a fifth of the rows, drawn at random, of the model fitted to the others at p_1. In standard "
      "deviations of the response where the data is standardised. The paper's split is not known.",
      rows);
}

}  // namespace

std::string page(const PageContents& c) {
  return std::string(kHead) + introduction(c) + claims_table(c) +
         "<h2>Figure 1: running time</h2>\n<div class=\"wide\">" + figure1(c.journal, c.sets) + "</div>\n" +
         times_table(c) + "<h2>Figure 2: screening rate</h2>\n<div class=\"wide\">" +
         figure2(c.journal, c.sets) + "</div>\n" + screening_table(c) +
         "<h2>Table 3: prediction error</h2>\n" + errors_table(c) + settings_part(c) +
         paragraph("Every number is in runs.csv, screening.csv and table3.csv beside this page.") +
         "</body></html>\n";
}

}  // namespace tyto::cli
