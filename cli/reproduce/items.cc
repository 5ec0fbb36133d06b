// The paper from its first equation to its last sentence that can be checked: what it is called here, where
// it is, what shows it, and where Tyto differs. Numbers of equations are those of MATH.md.
#include "cli/reproduce/page.h"

namespace tyto::cli {
namespace {

void add_equations(Document& page) {
  page.table(
      "Section 2 and 3.1: the problem and its dual.",
      {{"Paper", "Here", "Shown by", "Where it differs"},
       {"primal objective (1)", "MATH.md (1.1); `problem.h`", "`Certify.*`; `tests/support/naive`", "no"},
       {"lasso, L-infinity, OSCAR as special cases", "`math/weights.cc`, `--weights`", "`Weights.*`, zoo",
        "no"},
       {"Fermat's rule (2), split into active and inactive set", "MATH.md (2.4): a gap of 0",
        "`exact_oracle.py`", "the certificate takes its place"},
       {"proximal operator, O(d log d)", "MATH.md section 4; `math/sorted_l1.cc`", "`SortedL1Laws.*`",
        "O(d) where the result is mostly 0"},
       {"dual by conjugates, X'theta in C_lambda", "MATH.md (2.1), (2.2)", "`SortedL1.DualNorm*`",
        "theta has the other sign"},
       {"optimality conditions (constraints of the dual)", "MATH.md section 3, proof of (3.1)",
        "`screening_safety_test`", "no"},
       {"screening condition |x_i'theta*| < lambda_|A*|", "MATH.md section 3", "`screening_safety_test`",
        "sufficient only: erratum 3"},
       {"triangle bound on |x_i'theta*|", "u_j in MATH.md section 3; `screening.cc`", "`Survivors.*`",
        "raised by the rounding error of its first term"},
       {"Property 1, Corollary 1: ||theta - theta*|| <= sqrt(2 G)", "MATH.md (2.5)",
        "`screening_safety_test`", "the gap has its own rounding error under the root"}});
}

void add_algorithms(Document& page) {
  page.table(
      "Section 3.3 and 4: the rule and the algorithms.",
      {{"Paper", "Here", "Shown by", "Where it differs"},
       {"first test with lambda_d, then with lambda_m; Algorithm 1", "`--screening seed`; `screening.cc`",
        "`Survivors.*`, `screening_safety_test`", "one walk in place of rounds"},
       {"Property 2: the rule is safe", "MATH.md section 3", "`screening_safety_test`", "no"},
       {"Algorithm 2 (APGD with screening)",
        "`--solver apgd --screening seed`, `--variant published` or `printed`",
        "`Published.*`, `Apgd.*`, `bench/public_code.py`", "errata 1, 8, 9"},
       {"Algorithm 3 (SPGD with screening)",
        "`--solver spgd --screening seed`, `--variant published` or `printed`",
        "`Published.*`, `Spgd.*`, `SpgdSafety.*`, `bench/public_code.py`",
        "errata 2, 11; our default goes beyond it: one weighted batch an epoch, as a Gram matrix"},
       {"cost of an iteration d_k (n + log d_k), or d_k (n + T l + T log d_k)",
        "the loop in `solve/path_solver.cc`", "passes over X, which every fit reports",
        "the rule itself: remark 12"},
       {"Property 3: screening keeps convergence", "the loop in `solve/path_solver.cc`",
        "`fit_laws_test`: every solver with every rule", "no"},
       {"Property 4: theta converges to theta*", "MATH.md (2.3)", "`Certify.*`",
        "no: theta is the best multiple of r"},
       {"Property 5: every inactive variable is screened in the end", "does not hold",
        "`Survivors.SeedNever*`", "erratum 3; the cumulative rule does more"}});
}

void add_protocol(Document& page) {
  page.table(
      "Section 5: the experiments.",
      {{"Paper", "Here", "Where it differs"},
       {"four algorithms, with and without screening", "Figure 1, published and ours",
        "C++ in place of MATLAB: all of them have fast products and prox"},
       {"six data sets (Table 2)", "Settings", "Cardiac simulated, Slice in part, BlogFeedback beside it"},
       {"average CPU time of 5 trials", "Figure 1: the same, with least and most", "2 trials of long runs"},
       {"percentage of APGD", "Figure 1", "of the published APGD"},
       {"tolerance 1e-6 of gap and infeasibility", "relative gap 1e-6 of a feasible point",
        "both are recorded: \"Their stopping rule\""},
       {"warm start", "Figure 1 from 0; Figure 2 from 0 and from five starts", "theirs is not known"},
       {"mini-batch 5 to 100, inner loop 5 to 80, step 1e-6 to 1e-3, by grid search", "`reproduce --tune`",
        "a coarser grid, worst of five seeds"},
       {"OSCAR, alpha_1 = p_i ||X'y||, p_i = i exp(-tau), tau 2 or 3", "the same", "no"},
       {"screening rate at p_1", "Figure 2", "no"},
       {"4:1 split, RMSE", "Table 3, several splits", "theirs is not known"},
       {"\"larger and sparser data benefit more\"", "Figure 1, by panel",
        "what decides is how many columns the solution keeps: see `cardiac-dense`"},
       {"\"stochastic methods gain even where n is about d\"", "Figure 1, the stand-ins and Slice in part",
        "see the table of gains"},
       {"\"the upper bound of the test is very tight\"", "the warm starts of Figure 2",
        "it is as tight as the gap is small"}});
}

void add_rules(Document& page) {
  page.heading("Table 1: safe screening rules");
  page.table(
      "The paper's table, and Tyto's rules in it.",
      {{"Rule", "Screens", "Weights", "Penalty", "Safe", "In Tyto"},
       {"Lasso: Liu et al. 2014; Fercoq et al. 2015 (gap safe)", "features", "1", "separable", "yes",
        "`--weights lasso`: both rules below become the gap safe rule"},
       {"Sparse SVM: Shibagaki et al. 2016; Zhang et al. 2017", "features and samples", "3", "separable",
        "yes", "no"},
       {"Sparse-group lasso: Ndiaye et al. 2016", "features", "2", "separable", "yes", "no"},
       {"Proximal weighted lasso: Rakotomamonjy et al. 2019", "features", "d, fixed", "separable", "yes",
        "no"},
       {"OWL: Bao, Gu & Huang 2020", "features", "d, by rank", "not separable", "yes", "`--screening seed`"},
       {"OWL: cumulative (as Elvira & Herzet 2023)", "features", "d, by rank", "not separable",
        "yes; drops all that the one above drops", "`--screening safe`, the default"},
       {"OWL: strong (Larsson, Bogdan & Wallin 2020)", "features", "d, by rank", "not separable",
        "no: checked afterwards", "`--screening strong`"}});
}

}  // namespace

void add_items(Document& page) {
  add_rules(page);
  page.heading("The paper, item by item");
  add_equations(page);
  add_algorithms(page);
  add_protocol(page);
}

}  // namespace tyto::cli
