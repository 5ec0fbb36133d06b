// What the page was written with, and what follows from it. The fields are those of docs/report.md.

const report = JSON.parse(byId("data").textContent);
const fits = report.fits;
const isPath = fits.length > 1;
const alphaUnit = report.alpha_max > 0 ? report.alpha_max : 1;

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
