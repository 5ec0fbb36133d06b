// The page: words about what was fitted, the strength that is chosen, light and dark, print.

const kStatusWords = {
  converged: "converged",
  epoch_limit: "stopped by the limit on epochs (--max-epochs)",
  time_limit: "stopped by the limit on time (--max-seconds)",
  interrupted: "interrupted",
  stalled: "ended where double precision shows no more progress",
};
const kStopWords = {
  max_explained: "enough is explained (--max-explained)",
  min_change: "little more is explained (--min-change)",
  max_nonzeros: "enough features are in (--max-nonzeros)",
  max_clusters: "enough groups are in (--max-clusters)",
  max_seconds: "the time was up (--max-seconds)",
  interrupt: "it was interrupted",
};

const kCriterionWords = { aic: "AIC", bic: "BIC", cp: "Cp" };

const fileNames = report.files.map((file) => (file === "-" ? "standard input" : file));
const shortNames = fileNames.map((file) => file.split("/").slice(-2).join("/")).join(" + ");

const bound = (fit) => {
  const above = proven(fit);
  return Number.isFinite(above) ? `at most ${percent(above)} above the best possible` : "not yet bounded: nothing is proven";
};

function verdictOfFit(fit) {
  const certificate =
    `The objective is ${number(fit.primal, 8)}, and no coefficients can bring it below ${number(Math.max(0, fit.primal - Math.max(0, fit.gap) - fit.rounding), 8)}. ` +
    `The duality gap says so; it was computed on all ${whole(report.p)} features, and tyto verify computes it again from the files alone.`;
  if (converged(fit)) return [true, `Proven: the objective is ${bound(fit)}.`, certificate];
  return [
    false,
    `Not finished, ${kStatusWords[fit.status]}: the objective is ${bound(fit)}.`,
    `The tolerance asked for was ${percent(report.tolerance)}. This is the best point found. ${certificate}`,
  ];
}

function verdictOfPath() {
  const done = fits.filter(converged).length,
    worst = fits.reduce((most, fit) => Math.max(most, proven(fit)), 0);
  const early =
    report.stopped_by === "none"
      ? ""
      : ` The path ended after ${fits.length} of ${report.steps} strengths: ${kStopWords[report.stopped_by]}.`;
  const failed = ["interrupt", "max_seconds"].includes(report.stopped_by);
  const within = Number.isFinite(worst)
    ? `the objective is at most ${percent(worst)} above the best possible`
    : "there is a strength for which nothing is proven";
  const how = ` The duality gap says so; it was computed on all ${whole(report.p)} features, and tyto verify computes it again from the files alone.`;
  if (done === fits.length) {
    return [
      !failed,
      `Proven at ${fits.length === 1 ? "the one strength" : `all ${fits.length} strengths`}: ${within}.`,
      `${early}${how}`.trim(),
    ];
  }
  const missed = fits.filter((fit) => !converged(fit)).map((fit) => kStatusWords[fit.status]);
  return [
    false,
    `Proven at ${done} of ${fits.length} strengths; over all of them, ${within}.`,
    `${many(fits.length - done, "strength")} missed the tolerance of ${percent(report.tolerance)}: ${[...new Set(missed)].join("; ")}.${early}${how}`,
  ];
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// Where the noise did not settle, the strength is not the one that was asked for, however exact the fit is.
const unsettled = report.sigma_status !== undefined && report.sigma_status !== "converged";
function verdictOfNoise([, headline, words]) {
  const why = report.warnings.map(sentence).join(" ");
  return [
    false,
    "The level of the noise was not found: do not rely on this strength.",
    `${why} For the strength that was fitted: ${headline} ${words}`,
  ];
}

function showVerdict() {
  const certificate = report.steps > 1 ? verdictOfPath() : verdictOfFit(fits[0]);
  const [good, headline, words] = unsettled ? verdictOfNoise(certificate) : certificate;
  byId("verdict").classList.toggle("open", !good);
  byId("verdict-mark").textContent = good ? "✓" : "!";
  byId("verdict-headline").textContent = headline;
  byId("verdict-words").textContent = words;
}

// What the verdict has not said.
function showWarnings() {
  if (unsettled || report.warnings.length === 0) return;
  byId("warnings").hidden = false;
  byId("warnings").append(...report.warnings.map((text) => element("p", {}, sentence(text))));
}

function showOpening() {
  const kind = report.errors ? "Cross-validation" : report.steps > 1 ? `Path of ${many(fits.length, "strength")}` : "Fit";
  document.title = `${kind}: ${shortNames} - Tyto`;
  const words = `${kind} on ${shortNames}`.split(/(?<=[/])/); // a line may end after a folder
  byId("title").replaceChildren(...words.flatMap((word) => [word, element("wbr")]));
  byId("lead").textContent = [
    `${whole(report.n)} rows × ${many(report.p, "feature")}${report.sparse ? ", sparse" : ""}`,
    (report.response ? `response ${report.response}` : "response without a name") +
      (hasClasses ? `, ${quality.classes.join(" or ")}` : "") +
      (hasSeveralClasses ? `, ${quality.classes.length} classes` : ""),
    ...(report.loss === "gaussian" ? [] : [`loss ${report.loss}`]),
    `weights ${report.shape}`,
    isPath
      ? `${number(relative(0), 3)} to ${number(relative(fits.length - 1), 3)} of alpha-max`
      : `strength ${number(relative(0), 3)} of alpha-max`,
    report.standardize ? "columns standardised" : "columns as they are",
  ].join(" · ");
  byId("colophon").textContent =
    `Written by tyto ${report.version}, ${report.date}. Charts by Chart.js ${Chart.version} (MIT licence, in the source of this page).`;
}

function showSetting() {
  const entries = {
    Data: fileNames.join(", "),
    Rows: whole(report.n) + (report.dropped_rows ? ` (${whole(report.dropped_rows)} more were left out for missing values)` : ""),
    Features: `${whole(report.p)}, ${report.sparse ? "sparse" : "dense"}`,
    Response: report.response || "without a name",
    ...(hasClasses && {
      Classes: `${quality.classes[1]}, which is modelled (${whole(quality.ones)} rows), against ${quality.classes[0]} (${whole(quality.zeros)} rows)`,
    }),
    ...(hasSeveralClasses && { Classes: quality.classes.join(", ") }),
    Loss: report.loss + (report.loss === "huber" ? `, squares up to ${number(report.huber_delta)}` : ""),
    ...(report.loss === "cox" && {
      Events: `${number(quality.events, 6)} of ${number(quality.rows, 6)} rows, the others are censored${report.event ? ` (${report.event})` : ""}`,
    }),
    ...(report.offset && { Offset: report.offset }),
    Weights: report.shape,
    Strength: isPath
      ? `${fits.length} of ${report.steps} strengths, alpha from ${number(fits[0].alpha, 6)} to ${number(fits[fits.length - 1].alpha, 6)}`
      : `alpha ${number(fits[0].alpha, 8)}, ${number(relative(0), 4)} of alpha-max`,
    "alpha-max": `${number(report.alpha_max, 8)}, the smallest alpha that leaves nothing in the model`,
    ...(report.gamma !== undefined && {
      Relaxed: `gamma ${number(report.gamma)}, between least squares on the groups (0) and the penalised fit (1), which the certificate is about`,
    }),
    ...(report.sigma !== undefined && {
      Noise:
        `standard deviation ${number(report.sigma, 6)}, ` +
        (report.sigma_status ? `estimated (${report.sigma_status.replaceAll("_", " ")})` : "as given"),
    }),
    ...(report.rate && {
      "False discoveries": sentence(report.rate),
    }),
    Intercept: report.intercept ? "fitted" : "none",
    ...(report.unpenalized.columns.length && {
      Unpenalised: report.unpenalized.columns.map((column, k) => report.unpenalized.names[k] ?? `column ${column}`).join(", "),
    }),
    ...(report.observation_weights && { "Observation weights": report.observation_weights }),
    ...(report.ridge > 0 && { Ridge: number(report.ridge, 6) }),
    ...(report.nonnegative && { Coefficients: "not negative" }),
    Columns: report.standardize ? "standardised: mean 0, standard deviation 1" : "as they are",
    Solver: `${report.solver}, screening ${report.screening}, tolerance ${number(report.tolerance)}`,
    Program: `tyto ${report.version}, ${report.date}`,
  };
  byId("loss-formula").textContent = loss.formula;
  byId("setting").append(
    ...Object.entries(entries).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, element("bdi", {}, value))]),
  );
}

const kUnpenalizedTiles = 6;

// How alike the members of groups are, over the groups of several features.
function alikeTile() {
  const several = groupsAt(state.step).filter((group) => !Number.isNaN(group.mean));
  if (several.length === 0) return [];
  const mean = several.reduce((sum, group) => sum + group.mean, 0) / several.length;
  return [[mean.toFixed(2), `mean |r| within ${many(several.length, "group")} of several`]];
}

function showTiles() {
  const fit = fits[state.step];
  const tiles = [
    hasSeveralClasses
      ? [whole(fit.nonzeros), `of ${many(report.p * quality.classes.length, "coefficient")} not zero`]
      : [whole(fit.nonzeros), `of ${many(report.p, "feature")} selected`],
    [whole(fit.clusters), `group${fit.clusters === 1 ? "" : "s"} of equal weight`],
    [share(fit.explained), `of the ${loss.explained} explained`],
    ...(report.errors
      ? [[number(report.errors.mean[state.step]), `${report.errors.measure}, cross-validated, ± ${number(report.errors.standard_error[state.step], 2)}`]]
      : []),
    [number(lack(fit)[0]), lack(fit)[1]],
    ...alikeTile(),
    ...(hasClasses ? [[number(qualityAt(state.step).auc), "area under the ROC curve"]] : []),
    ...(report.loss === "cox" ? [[number(qualityAt(state.step).c_index), "C-index"]] : []),
    ...(hasSeveralClasses ? [] : [[report.intercept ? number(fit.intercept, 5) : "none", "intercept"]]),
    ...fit.unpenalized
      .slice(0, kUnpenalizedTiles)
      .map((value, k) => [number(value, 5), report.unpenalized.names[k] ?? `column ${report.unpenalized.columns[k]}`]),
    [
      converged(fit) ? percent(proven(fit)) : `! ${percent(proven(fit))}`,
      converged(fit) ? "above the best possible, at most" : kStatusWords[fit.status],
    ],
  ];
  byId("tiles").replaceChildren(
    ...tiles.map(([value, name]) =>
      element("div", {}, element("dt", {}, name), element("dd", { class: value.length > 8 && "long" }, value)),
    ),
  );
}

function setUpStrength() {
  if (!isPath) return;
  const slider = byId("strength");
  byId("strength-bar").hidden = false;
  slider.max = fits.length - 1;
  let waiting = false; // redraw once a frame, however fast the slider moves
  slider.addEventListener("input", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      chooseStep(Number(slider.value));
    });
  });
  byId("stronger").addEventListener("click", () => chooseStep(state.step - 1));
  byId("weaker").addEventListener("click", () => chooseStep(state.step + 1));
  const choices = report.errors
    ? [
        ["Best", report.errors.best],
        ["1-SE", report.errors.one_se],
      ]
    : Object.entries(report.choices).map(([criterion, step]) => [kCriterionWords[criterion], step]);
  for (const [text, step] of choices) {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => chooseStep(step));
    byId("strength-choices").append(button);
    onStep((now) => button.setAttribute("aria-pressed", String(now === step)));
    button.setAttribute("aria-pressed", String(state.step === step));
  }
  const tell = (step) => {
    const text = `${number(relative(step), 3)} of alpha-max, step ${step} of 0 to ${fits.length - 1}, alpha ${number(fits[step].alpha, 7)}`;
    slider.value = step;
    slider.setAttribute("aria-valuetext", `${text}, ${many(fits[step].nonzeros, "feature")}`);
    byId("strength-text").textContent = text;
    byId("stronger").disabled = step === 0;
    byId("weaker").disabled = step === fits.length - 1;
  };
  onStep(tell);
  tell(state.step);
}

const theme = { system: matchMedia("(prefers-color-scheme: dark)"), chosen: null };
const isDark = () => (theme.chosen ? theme.chosen === "dark" : theme.system.matches);
function showTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
  colours = new Map();
  for (const handle of allCharts) handle.draw();
}

// Light, and charts of the size that they have on paper.
function showPrint() {
  byId("solver-charts").open = true;
  showTheme(false);
  for (const { chart, box } of allCharts) chart.resize(...(box.closest(".pair") ? [340, 230] : [700, 290]));
}

function setUpPage() {
  showTheme(isDark());
  showOpening();
  showVerdict();
  showWarnings();
  showSetting();
  showTiles();
  onStep(showTiles);
  setUpStrength();
  setUpErrors();
  setUpPath();
  setUpTable();
  setUpQuality();
  setUpSolver();
  byId("theme").addEventListener("click", () => {
    theme.chosen = isDark() ? "light" : "dark";
    showTheme(isDark());
  });
  theme.system.addEventListener("change", () => showTheme(isDark()));
  byId("print").addEventListener("click", () => print());
  addEventListener("beforeprint", showPrint);
  addEventListener("afterprint", () => showTheme(isDark()));
  document.documentElement.dataset.ready = "true";
}
setUpPage();
