#include <fmt/format.h>

#include <algorithm>

#include "cli/reproduce/page.h"

namespace tyto::cli {
namespace {

// Iterations of the published APGD with screening at p_1, and with the reset of the momentum that the paper
// prints.
std::string reset_counts(const PageContents& c) {
  std::string out;
  for (const std::string& set : c.sets) {
    const Record* without = c.journal.find({kFigure1, set, 1, "published apgd+seed", 1});
    const Record* with = c.journal.find({kReset, set, 1, "printed apgd+seed", 1});
    if (without == nullptr || with == nullptr || !without->reached() || !with->reached()) continue;
    out += fmt::format("{}{} {} instead of {}", out.empty() ? "" : "; ", set, with->epochs, without->epochs);
  }
  return out.empty() ? "not run" : out;
}

void add_slips_of_the_paper(Document& page, const PageContents& c) {
  page.table(
      "Slips in the paper. \"Code\" is the authors' public code.",
      {{"#", "Slip", "Counterexample or measurement", "Test or command"},
       {"1", "Algorithm 2 takes t_k as momentum and as step size",
        "X = 1, y = 1, w = 0.1: beyond 1e6 within 50 iterations; the solution is 0.9",
        "`Errata.Algorithm2WithTheMomentumSequenceAsStepSizeDiverges`"},
       {"",
        "and resets t_k whenever columns leave. The code does not. It is no error, and helps or costs "
        "iterations by chance",
        "iterations at p_1: " + reset_counts(c),
        "`tyto fit --solver apgd --variant printed --screening seed`"},
       {"2",
        "Algorithm 3 adds a correction on the scale of a mean to a gradient on the scale of a sum (the code "
        "has it right). Whether that diverges depends on step size times inner length",
        "three rows (1), y = 1, w = 0.1, step 0.1: beyond 1e6 within 50 epochs of 200 steps, but converges "
        "with 5 steps",
        "`Errata.Algorithm3*`; `tyto fit --solver spgd --variant printed`"},
       {"3", "Property 5: every inactive column is screened in the end",
        "X = I_3, y = (10, 1.5, 1.5), w = (3, 3, 1): b* = (7, 0, 0), |x_j'theta*| = 1.5 < 3 = w_|A*| as the "
        "proof asks for, yet 1.5 > w_3, so the rule never starts. The cumulative rule screens both. Also X = "
        "I_2, y = (1.5, 1.5), w = (3, 1)",
        "`Survivors.SeedNeverFindsZerosThatTheProofCounts`, `Survivors.SeedNeverFindsSomeZeros`"}});
}

void add_slips_of_the_code(Document& page) {
  page.table(
      "Slips in the authors' public code.",
      {{"#", "Slip", "Counterexample or measurement", "Test or command"},
       {"4", "the dual point is scaled by max |g|_(i) / w_i",
        "NaN or 0 where w_i = 0 (L-infinity), loose elsewhere", "`Certify.ZeroWeightsGiveAFiniteDualPoint`"},
       {"5", "the test has no margin for rounding", "a lasso at gap 0 has |x_j'theta*| = w on its support",
        "`Survivors.SupportOfALassoStaysAtItsSolution`, `Survivors.MarginCoversTheRoundingOfTheCorrelation`"},
       {"6", "a gap below 0 by rounding goes into a square root",
        "the radius is then a complex number, of which comparisons see the real part, 0, while theta is "
        "still off",
        "`Survivors.ANegativeGapStillLeavesARadius`"},
       {"7", "where a warm start leaves no column, it asks for lambda(0)",
        "an error at that index. From 0, above alpha-max, it stops at iteration 1 before that",
        "`Fit.ScreeningMayLeaveNoColumn`"},
       {"8", "keeps the product A x when a column with a non-zero coefficient leaves",
        "the gap comes out wrong", "`Fit.ScreeningColumnsWithNonzeroCoefficientsKeepsTheResidualTrue`"},
       {"9", "stops on a dual point that is not feasible, and returns the momentum point at reduced length",
        "what is returned has another certificate: \"Their stopping rule\"",
        "`expect_certified`, in every test of a solver"},
       {"11", "d/50 inner steps without screening, n/50 with it",
        "not like for like; here the same settings with and without", "`tyto reproduce`"},
       {"15",
        "batches of 50 different rows. With fewer than 50, as duke has, SPGD ends in an error; SPGD + "
        "Screening has 0.88 inner steps, which is none, and never moves",
        "44 rows, 100 columns: \"50 of 44\", and P(0) after 20 epochs. Here: at most all rows, at least one "
        "step",
        "`SPGD(randn(44, 100), randn(44, 1), 100:-1:1)` in their language; "
        "`Published.SpgdMovesWithFewerRowsThanABatch`"}});
}

}  // namespace

void add_errata(Document& page, const PageContents& c) {
  page.heading("Errata");
  add_slips_of_the_paper(page, c);
  add_slips_of_the_code(page);
  page.paragraph(
      "Withdrawn: number 10 of earlier versions of this page said that the code reads X twice for gradients. "
      "It has one product with A' an iteration, at the momentum point, and one with A for each step that "
      "backtracking tries. Ours has one with X', at the point itself, and one with the columns of X whose "
      "coefficients are not 0.");
  page.paragraph("Remarks, which are no errors:");
  page.item(
      "12. The rule costs \"O(d_k)\": that leaves out the sort for the dual norm, which the stopping rule "
      "has to pay for (MATH.md, section 4; `bench/micro`).");
  page.item("13. Nothing is said on where screening does not pay: the gains of Figure 1, panel by panel.");
  page.item(
      "14. The tolerance is 1e-6 in the text and 1e-9 in the code. Here it is relative to the objective, by "
      "default 1e-6 (`Certify.MeetsIsRelativeToThePrimalValue`).");
  page.item(
      "16. Code: APGD + Screening does not keep the number of columns that are left (`prev`), so that it "
      "copies the matrix in every iteration once a column has left. That costs time alone.");
}

}  // namespace tyto::cli
