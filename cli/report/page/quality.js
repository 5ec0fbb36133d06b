// How the model fits the data, and how the solver got there.

const observations = report.observations;
const residual = (step, k) => loss.residual(observations.observed[k], observations.predicted[step][k]);
const responseName = report.response || "response";

// Dashed, and not to be pointed at.
const guideLine = () => ({
  borderColor: colour("soft"),
  borderDash: [5, 4],
  borderWidth: 1.2,
  pointRadius: 0,
  pointHitRadius: 0,
  pointHoverRadius: 0,
});

function addScatter(parent, title, { across, up, line, words }) {
  const points = () => observations.observed.map((_, k) => ({ x: across.value(state.step, k), y: up.value(state.step, k) }));
  const guide = () => {
    const values = points().map((point) => point.x);
    const ends = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    return ends.map((x) => ({ x, y: line(x) }));
  };
  const handle = addChart(parent, {
    title,
    hint: (items) =>
      items
        .filter((item) => item.datasetIndex === 0)
        .slice(0, 1)
        .flatMap(({ dataIndex: k }) => [
          hintTitle(`row ${observations.rows[k]}`),
          hintLine(`observed ${number(observations.observed[k], 5)}`),
          hintLine(`predicted ${number(observations.predicted[state.step][k], 5)}`),
          hintLine(`residual ${number(residual(state.step, k), 4)}`),
        ]),
    words,
    numbers: () => ({
      headers: ["Row", "Observed", "Predicted", "Residual"],
      rows: observations.rows.map((row, k) => [
        String(row),
        number(observations.observed[k], 6),
        number(observations.predicted[state.step][k], 6),
        number(residual(state.step, k), 4),
      ]),
    }),
    config: () => ({
      type: "scatter",
      data: {
        datasets: [
          {
            data: points(),
            backgroundColor: `${colour("point")}80`,
            borderWidth: 0,
            pointRadius: observations.rows.length > 800 ? 2 : 3,
            pointHoverRadius: 5,
          },
          {
            type: "line",
            data: guide(),
            ...guideLine(),
          },
        ],
      },
      options: { interaction: { mode: "nearest", intersect: true }, scales: { x: axis(across.title), y: axis(up.title) } },
    }),
  });
  onStep(() => {
    handle.chart.data.datasets[0].data = points();
    handle.chart.data.datasets[1].data = guide();
    handle.chart.update("none");
    handle.describe();
  });
}

// What stands for the size of the residuals, and its name.
const lack = (fit) => (fit.rmse === undefined ? [fit.deviance, "mean deviance"] : [fit.rmse, "root mean square residual"]);

function qualityNote() {
  const drawn = observations.rows.length;
  const parts = ["On the data that was fitted, so better than on new data."];
  if (hasClasses)
    parts.push(
      "A threshold that is chosen here is fitted, too. The dot on the ROC curve is the threshold of the table, which the slider moves.",
    );
  if (quality.counts)
    parts.push("Bars of the rootogram hang from what the model expects: they end at 0 where as many rows have that count.");
  if (report.loss === "cox") {
    parts.push(
      "Thirds of the rows by their linear predictor, and the share of each that is without an event (Kaplan and Meier). " +
        "How far apart the curves are is fitted, too.",
    );
  } else if (drawn < report.n) {
    parts.push(
      `Drawn row by row are ${whole(drawn)} of ${whole(report.n)}: the tenth of them that the ${isPath ? "weakest penalty's " : ""}model ` +
        "misses most, the others at random.",
    );
  }
  return parts.join(" ");
}

function setUpQuality() {
  const drawn = observations.rows.length;
  byId("quality-note").textContent = qualityNote();
  const words = () => {
    const [size, name] = lack(fits[state.step]);
    return `${many(drawn, "row")} drawn. ${name[0].toUpperCase()}${name.slice(1)} ${number(size)}, ${share(fits[state.step].explained)} of the ${loss.explained} explained.`;
  };
  if (hasClasses) addRoc();
  if (report.loss === "binomial") addCalibration();
  if (hasClasses) addConfusion();
  if (hasSeveralClasses) addClassTable();
  if (quality.counts) addRootogram();
  if (report.loss === "cox") {
    addSurvival(); // a row has neither a predicted time nor a residual
    return;
  }
  if (!hasClasses && !hasSeveralClasses) {
    addScatter(panel("predicted-chart"), "Predicted against observed", {
      across: { title: "observed", value: (_, k) => observations.observed[k] },
      up: { title: "predicted", value: (step, k) => observations.predicted[step][k] },
      line: (x) => x,
      words,
    });
  }
  addScatter(panel("residual-chart"), loss.title ?? "Deviance residuals", {
    across: { title: report.loss === "squared-hinge" ? "score" : "predicted", value: (step, k) => observations.predicted[step][k] },
    up: { title: loss.residualName, value: residual },
    line: () => 0,
    words,
  });
}

// One value for each epoch, against time. Of a path, lines that break where the next strength begins, and a dot for its end.
function addTrace(parent, title, { values, paint, y, level, label }) {
  const { seconds, step } = report.trace;
  const [unit, factor] = report.seconds < 1 ? ["ms", 1e3] : ["s", 1];
  const data = seconds.map((time, k) => ({ x: factor * time, y: values[k], k }));
  const ends = data.filter(({ k }) => step[k] !== step[k + 1]);
  const broken = {
    segment: { borderColor: (at) => (step[at.p0DataIndex] !== step[at.p1DataIndex] ? "transparent" : undefined) },
  };
  addChart(parent, {
    title,
    hint: (items) =>
      items
        .filter((item) => item.raw.k !== undefined)
        .slice(0, 1)
        .flatMap(({ raw: { k } }) => [
          hintTitle(label(values[k])),
          hintLine(`after ${duration(seconds[k])}`),
          ...(isPath ? [strengthHint(step[k])] : []),
        ]),
    words: () =>
      `${many(report.trace.epochs, "epoch")} in ${duration(report.seconds)}, from ${label(values[0])} to ${label(values[values.length - 1])}.`,
    numbers: () => ({
      headers: ["Strength", "Time", title],
      rows: seconds.map((time, k) => [number(relative(step[k]), 3), duration(time), label(values[k])]),
    }),
    config: () => ({
      type: "line",
      data: {
        datasets: [
          ...(isPath
            ? [
                {
                  data: ends,
                  showLine: false,
                  backgroundColor: colour(paint),
                  borderWidth: 0,
                  pointRadius: 3,
                  pointHoverRadius: 5,
                },
              ]
            : []),
          {
            data,
            ...broken,
            borderColor: colour(isPath ? "muted-line" : paint),
            backgroundColor: colour(isPath ? "muted-line" : paint),
            borderWidth: isPath ? 1 : 1.5,
            pointRadius: isPath ? 0 : data.length > 60 ? 1.5 : 3,
            pointHoverRadius: isPath ? 0 : 5,
          },
          ...(level === undefined
            ? []
            : [
                {
                  data: [
                    { x: data[0].x, y: level },
                    { x: data[data.length - 1].x, y: level },
                  ],
                  ...guideLine(),
                },
              ]),
        ],
      },
      options: {
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: { x: axis(`time, ${unit}`, { min: 0 }), y: y() },
      },
    }),
  });
}

function setUpSolver() {
  const { trace } = report;
  const screened = fits.reduce((most, fit) => Math.max(most, fit.screened), 0);
  byId("solver-note").textContent =
    (report.errors ? "The path on all rows: " : "") +
    `${report.solver} with ${report.screening === "none" ? "no screening" : `screening rule ${report.screening}`}: ` +
    `${many(trace.epochs, "epoch")}, ${number(report.passes, 4)} passes over the data, ${duration(report.seconds)}.` +
    (screened > 0 ? ` Screening proved up to ${whole(screened)} of ${whole(report.p)} coefficients zero before the end.` : "") +
    ` The dashed line is the tolerance${isPath ? ", a dot is where a strength ended" : ""}.` +
    (trace.seconds.length < trace.epochs ? ` Drawn are ${whole(trace.seconds.length)} of the epochs.` : "");
  if (trace.seconds.length === 0) return;
  const kLeast = -17; // of a logarithm: 0 has none
  const log = (value) => Math.max(kLeast, Math.log10(value));
  addTrace("gap-chart", "Relative gap", {
    values: trace.relative_gap.map(log),
    paint: "g1",
    level: log(report.tolerance),
    label: (value) => `relative gap ${value <= kLeast ? `below 1e${kLeast}` : (10 ** value).toExponential(1)}`,
    y: () => axis("relative gap", { log: 1 }),
  });
  addTrace("active-chart", "Columns left", {
    values: trace.active,
    paint: "g2",
    label: (value) => many(value, "column"),
    y: () => axis("columns left", { beginAtZero: true, label: whole }),
  });
}
