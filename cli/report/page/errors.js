// What cross-validation found: the curve of errors, and the two strengths that it chooses.

// The strengths that are chosen, by name.
const markedChoices = {
  id: "markedChoices",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea, scales } = chart,
      { best, one_se: simple } = report.errors;
    ctx.save();
    ctx.font = `600 12px ${Chart.defaults.font.family}`;
    for (const [step, text, paint] of best === simple
      ? [[best, "best and 1-SE", "g3"]]
      : [
          [best, "best", "g2"],
          [simple, "1-SE", "g3"],
        ]) {
      const x = scales.x.getPixelForValue(place(step));
      ctx.strokeStyle = ctx.fillStyle = colour(paint);
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top + 18);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.textAlign = "center";
      const half = ctx.measureText(text).width / 2;
      ctx.fillText(text, Math.min(Math.max(x, chartArea.left + half), chartArea.right - half), chartArea.top + 11);
      ctx.beginPath();
      ctx.arc(x, scales.y.getPixelForValue(report.errors.mean[step]), 4.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  },
};

// Mean, one standard error either way, the folds.
function errorDatasets() {
  const { mean, standard_error: spread, folds } = report.errors;
  const curve = (values, more) => ({
    data: values.map((value, step) => ({ x: place(step), y: value })),
    pointRadius: 0,
    pointHoverRadius: 0,
    ...more,
  });
  const band = { borderWidth: 0, backgroundColor: `${colour("g1")}30`, order: 2 };
  return [
    curve(mean, { borderColor: colour("g1"), borderWidth: 2.2, pointHoverRadius: 4, backgroundColor: colour("g1"), order: 0 }),
    curve(
      mean.map((value, k) => value - spread[k]),
      { ...band, fill: "+1" },
    ),
    curve(
      mean.map((value, k) => value + spread[k]),
      band,
    ),
    ...folds.map((values) => curve(values, { borderColor: colour("muted-line"), borderWidth: 1, order: 3 })),
  ];
}

// The neighbourhood of the best, where choices differ: what is many standard errors worse is cut off, or all is shown.
const errorRange = { whole: false };
function errorBounds() {
  const { mean, standard_error: spread, best } = report.errors;
  const low = Math.min(...mean.map((value, k) => value - spread[k])),
    high = Math.max(...mean.map((value, k) => value + spread[k]));
  if (errorRange.whole) return {};
  const up = mean[best] <= mean[0] && mean[best] <= mean[mean.length - 1]; // the less the better
  const room = Math.max(6 * spread[best], 0.15 * Math.abs(mean[best]), 1e-12 * Math.abs(high));
  const bounds = up ? [low, Math.min(high, mean[best] + room)] : [Math.max(low, mean[best] - room), high];
  const margin = 0.06 * (bounds[1] - bounds[0]);
  return margin > 0 ? { min: bounds[0] - margin, max: bounds[1] + margin } : {};
}

function errorAxis(measure) {
  const made = axis(measure, errorBounds());
  made.ticks.includeBounds = false; // round numbers only
  return made;
}

// Features in the model, above the chart.
function countAxis(range) {
  return {
    ...axis("features in the model", { log: -1, ...range }),
    position: "top",
    grid: { display: false },
    ticks: { color: colour("soft"), maxRotation: 0, callback: (tick) => whole(fits[nearestStep(tick)].nonzeros) },
  };
}

function addRangeChoice(handle) {
  const button = element("button", { type: "button", "aria-pressed": "false" }, "Whole range");
  button.addEventListener("click", () => {
    errorRange.whole = !errorRange.whole;
    button.setAttribute("aria-pressed", String(errorRange.whole));
    handle.draw();
  });
  handle.tools.append(button);
}

function setUpErrors() {
  if (!report.errors) return;
  const { measure, mean, standard_error: spread, folds, best, one_se: simple } = report.errors;
  byId("errors").hidden = false;
  const repeats = report.errors.repeats,
    plan = many(folds.length / repeats, "fold") + (repeats > 1 ? `, ${repeats} times` : ""),
    compared = report.errors.compared.map(
      ({ name, values, errors, chosen }) =>
        ` Of ${name} ${values.map((value) => number(value, 6)).join(", ")}, with ${errors.map((error) => number(error)).join(", ")} ` +
        `at best, ${name} ${number(chosen, 6)} was chosen.`,
    );
  const said = (step) =>
    `${number(mean[step])} ± ${number(spread[step], 2)} with ${many(fits[step].nonzeros, "feature")} at strength ${number(relative(step), 3)}`;
  byId("errors-note").textContent =
    `${measure[0].toUpperCase()}${measure.slice(1)} over ${plan}. Best: ${said(best)}. ` +
    `1-SE, the largest strength whose error is within one standard error of the best: ${said(simple)}.${compared.join("")} ` +
    "The page opens at the best, which tyto predict, tyto coef and --coefficients take, too. The band is one standard error, thin " +
    "lines are folds. The chart shows the neighbourhood of the best; a button shows the whole range.";
  const handle = addChart("errors-chart", {
    title: `${measure[0].toUpperCase()}${measure.slice(1)} against strength`,
    hint: ([{ dataIndex: step }]) => [
      hintTitle(`${number(mean[step], 5)} ± ${number(spread[step], 2)}`),
      strengthHint(step),
      hintLine(many(fits[step].nonzeros, "feature")),
    ],
    words: () => `${measure} over ${plan}. Best ${said(best)}. One standard error rule ${said(simple)}.`,
    numbers: () => ({
      headers: ["Strength", "Mean", "Standard error", ...folds.map((_, k) => `Fold ${k + 1}`), "Choice"],
      rows: mean.map((value, step) => [
        number(relative(step), 4),
        number(value, 6),
        number(spread[step], 4),
        ...folds.map((fold) => number(fold[step], 5)),
        [step === best && "best", step === simple && "1-SE"].filter(Boolean).join(", "),
      ]),
    }),
    config: () => ({
      type: "line",
      data: { datasets: errorDatasets() },
      plugins: [chosenStrength, markedChoices],
      options: {
        interaction: { mode: "index", intersect: false },
        onClick: (event, _, chart) => chooseStep(nearestStep(chart.scales.x.getValueForPixel(event.x))),
        scales: {
          x: strengthAxis({ min: place(0), max: place(mean.length - 1) }),
          count: countAxis({ min: place(0), max: place(mean.length - 1) }),
          y: errorAxis(measure),
        },
      },
    }),
  });
  addRangeChoice(handle);
  onStep(() => handle.chart.draw());
}
