// What the page was written with, and what follows from it. The fields are those of docs/report.md.

const report = JSON.parse(byId("data").textContent);
const fits = report.fits;
const isPath = fits.length > 1;
const alphaUnit = report.alpha_max > 0 ? report.alpha_max : 1;

// What is said of the loss: its formula, what is explained, what a residual is (of an observed and a predicted value), and what the
// exponential of a coefficient is.
const kAlmost = 1e-15;
const inside = (mu) => Math.min(1 - kAlmost, Math.max(kAlmost, mu));
const entropy = (y, mu) => (y > 0 ? y * Math.log(y / mu) : 0);
const plainResidual = (y, mu) => y - mu;
const kLosses = {
  gaussian: { formula: "½ ‖y − Xb‖²", explained: "variance", residual: plainResidual, title: "Residuals" },
  binomial: {
    formula: "Σ log(1 + exp(η)) − y η,  η = Xb",
    residual: (y, mu) => Math.sign(y - mu) * Math.sqrt(2 * (entropy(y, inside(mu)) + entropy(1 - y, 1 - inside(mu)))),
    ratio: "Odds ratio",
  },
  poisson: {
    formula: "Σ exp(η) − y η,  η = Xb",
    residual: (y, mu) => Math.sign(y - mu) * Math.sqrt(Math.max(0, 2 * (entropy(y, mu) - y + mu))),
    ratio: "Rate ratio",
  },
  huber: { formula: `Σ h(y − Xb), squares up to ${number(report.huber_delta)}`, residual: plainResidual, title: "Residuals" },
  "squared-hinge": {
    formula: "½ Σ max(0, 1 − y Xb)²,  y = ±1",
    residual: (y, score) => (y > 0.5 ? Math.max(0, 1 - score) : -Math.max(0, 1 + score)),
    residualName: "how far short of its margin",
    title: "Margins",
  },
  cox: { formula: "−log partial likelihood of η = Xb", ratio: "Hazard ratio" },
};
// Of several classes, what is predicted is the probability of the row's own class.
kLosses.multinomial = {
  formula: "Σ log(Σₖ exp(ηₖ)) − η of the row's class,  ηₖ = Xbₖ",
  residual: (_, mu) => Math.sqrt(Math.max(0, -2 * Math.log(Math.max(mu, 1e-300)))),
};
const loss = { explained: "deviance", residualName: "deviance residual", ...kLosses[report.loss] };
if (loss.residual === plainResidual) loss.residualName = "observed - predicted";
const hasClasses = report.quality.thresholds !== undefined; // two of them
const hasSeveralClasses = report.quality.classes !== undefined && !hasClasses;
const short = (text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);

const hasNames = report.features.names.length > 0;
const columnOf = (feature) => report.features.columns[feature];
const nameOf = (feature) => (hasNames && report.features.names[feature]) || `column ${columnOf(feature)}`;

const relative = (step) => fits[step].alpha / alphaUnit;
// Strengths stand on a logarithmic axis that runs from the strongest penalty to the weakest.
const place = (step) => -Math.log10(relative(step));

// Coefficients of one model: groups of equal magnitude, the largest first. The last answer is kept: many ask for the same.
const kept = { step: -1, groups: [] };
function groupsAt(step) {
  if (kept.step !== step) Object.assign(kept, { step, groups: makeGroups(step) });
  return kept.groups;
}
function makeGroups(step) {
  const fit = fits[step];
  const groups = fit.groups.map(([magnitude, ...codes], k) => {
    const members = codes.map((code) => {
      const feature = code >= 0 ? code : -1 - code,
        weight = code >= 0 ? magnitude : -magnitude;
      return { feature, sign: Math.sign(weight), rank: k + 1, weight, value: weight / report.features.scales[feature] };
    });
    const positive = codes.filter((code) => code >= 0).length;
    return { rank: k + 1, magnitude, members, size: codes.length, positive, mean: NaN, least: NaN };
  });
  // Of |r| between members; a single feature has none.
  for (const [group, mean, least] of fit.correlations) Object.assign(groups[group], { mean, least });
  if (fit.last_group) [groups[groups.length - 1].size, groups[groups.length - 1].positive] = fit.last_group;
  return groups;
}

// How far the objective can be above the best possible, as a fraction of that; with what rounding may hide.
function proven(fit) {
  const gap = Math.max(0, fit.gap) + fit.rounding;
  if (fit.primal === 0 || gap === 0) return 0;
  return gap < fit.primal ? gap / (fit.primal - gap) : Infinity;
}

const coincidental = (group) => group.mean < report.coincidental_below;

const converged = (fit) => fit.status === "converged";

// Where a report opens: the best of cross-validation, or the choice of a criterion; else, without a claim to be best, the first strength that explains
// nearly all that any does.
function openingStep() {
  if (report.errors) return report.errors.best;
  const [chosen] = Object.values(report.choices);
  if (chosen !== undefined) return chosen;
  const most = Math.max(...fits.map((fit) => fit.explained));
  return fits.findIndex((fit) => fit.explained >= 0.95 * most);
}

const state = { step: openingStep(), listeners: [] };
const onStep = (listener) => state.listeners.push(listener);
function chooseStep(step) {
  state.step = Math.min(fits.length - 1, Math.max(0, step));
  for (const listener of state.listeners) listener(state.step);
}
