// How a model of classes or counts fits: ROC curve, calibration, the table of a threshold; a rootogram.

const { quality } = report;
const qualityAt = (step) => quality.steps[step];
const panel = (id) => {
  byId("quality-charts").append(element("div", { id }));
  return id;
};

// The place of the threshold among those that the page knows; it begins with the usual one, in the middle.
const threshold = { place: hasClasses ? (quality.thresholds.length - 1) / 2 : 0, listeners: [] };

// What the threshold makes of the rows: of either class, how many are above it and how many are not.
function tableAt(step, place = threshold.place) {
  const { zeros_above: zeros, ones_above: ones } = qualityAt(step);
  return {
    zerosAbove: zeros[place],
    zerosBelow: quality.zeros - zeros[place],
    onesAbove: ones[place],
    onesBelow: quality.ones - ones[place],
  };
}
const ratio = (part, whole_) => (whole_ > 0 ? part / whole_ : NaN);
const sharePart = (part, all) => (all > 0 ? share(part / all) : "–");

function addRoc() {
  const corner = () => {
    const at = tableAt(state.step);
    return { x: ratio(at.zerosAbove, quality.zeros), y: ratio(at.onesAbove, quality.ones) };
  };
  const points = () => qualityAt(state.step).roc.map(([x, y]) => ({ x, y }));
  const [negative, positive] = quality.classes;
  const handle = addChart(panel("roc-chart"), {
    title: "ROC curve",
    hint: ([{ raw }]) => [
      hintTitle(`${share(raw.y)} of ${positive} found`),
      hintLine(`with ${share(raw.x)} of ${negative} taken for it`),
    ],
    words: () =>
      `Area under the curve ${number(qualityAt(state.step).auc, 4)}, on the rows that were fitted. The dot is the threshold.`,
    numbers: () => ({
      headers: [`Share of ${negative} above`, `Share of ${positive} above`],
      rows: points().map(({ x, y }) => [number(x, 4), number(y, 4)]),
    }),
    config: () => ({
      type: "scatter",
      data: {
        datasets: [
          { data: [corner()], clip: false, backgroundColor: colour("g2"), pointRadius: 6, pointHoverRadius: 7, borderWidth: 0 },
          {
            data: points(),
            clip: false,
            showLine: true,
            borderColor: colour("g1"),
            borderWidth: 2.2,
            pointRadius: 0,
            pointHitRadius: 6,
          },
          {
            data: [
              { x: 0, y: 0 },
              { x: 1, y: 1 },
            ],
            showLine: true,
            ...guideLine(),
          },
        ],
      },
      options: {
        interaction: { mode: "nearest", intersect: true },
        scales: {
          x: axis(`share of ${short(negative)} above the threshold`, { min: 0, max: 1 }),
          y: axis(`share of ${short(positive)} above it`, { min: 0, max: 1 }),
        },
      },
    }),
  });
  const redraw = () => {
    handle.chart.data.datasets[0].data = [corner()];
    handle.chart.data.datasets[1].data = points();
    handle.chart.update("none");
    handle.describe();
  };
  onStep(redraw);
  threshold.listeners.push(redraw);
}

function addCalibration() {
  const bins = () => qualityAt(state.step).calibration.map(([x, y, weight]) => ({ x, y, weight }));
  const event = hasClasses ? quality.classes[1] : responseName;
  const handle = addChart(panel("calibration-chart"), {
    title: "Calibration",
    hint: ([{ raw }]) => [
      hintTitle(`predicted ${number(raw.x, 3)}, observed ${number(raw.y, 3)}`),
      hintLine(`${number(raw.weight, 6)} rows with like predictions`),
    ],
    words: () => `${many(bins().length, "bin")} of rows with like predictions; on the line, as much is observed as is predicted.`,
    numbers: () => ({
      headers: ["Mean predicted", "Share observed", "Rows"],
      rows: bins().map(({ x, y, weight }) => [number(x, 4), number(y, 4), number(weight, 6)]),
    }),
    config: () => ({
      type: "scatter",
      data: {
        datasets: [
          {
            data: bins(),
            clip: false,
            showLine: true,
            borderColor: colour("g1"),
            borderWidth: 1.5,
            backgroundColor: colour("g1"),
            pointRadius: 4,
            pointHoverRadius: 6,
          },
          {
            data: [
              { x: 0, y: 0 },
              { x: 1, y: 1 },
            ],
            showLine: true,
            ...guideLine(),
          },
        ],
      },
      options: {
        interaction: { mode: "nearest", intersect: true },
        scales: {
          x: axis("mean predicted probability", { min: 0, max: 1 }),
          y: axis(`observed share of ${short(event)}`, { min: 0, max: 1 }),
        },
      },
    }),
  });
  onStep(() => {
    handle.chart.data.datasets[0].data = bins();
    handle.chart.update("none");
    handle.describe();
  });
}

// Of several classes: a table of what was observed against what is most likely.
function addClassTable() {
  const head = (text) => element("th", { scope: "col", class: "number" }, element("bdi", {}, text));
  const cells = quality.classes.map(() => quality.classes.map(() => element("td", { class: "number" })));
  const words = element("p", { class: "note", id: "confusion-words", role: "status", "aria-live": "polite" });
  byId(panel("confusion")).append(
    element(
      "figure",
      {},
      element("figcaption", {}, element("h3", {}, "Confusion table")),
      element(
        "div",
        { class: "scroll" },
        element(
          "table",
          {},
          element("caption", { class: "hidden" }, "Rows by observed and most likely class"),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("th", { scope: "col" }, "Observed"),
              ...quality.classes.map((name) => head(`Predicted ${short(name)}`)),
            ),
          ),
          element(
            "tbody",
            {},
            ...quality.classes.map((name, k) =>
              element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, short(name))), ...cells[k]),
            ),
          ),
        ),
      ),
      words,
    ),
  );
  const show = () => {
    const { confusion } = qualityAt(state.step);
    let [right, all] = [0, 0];
    confusion.forEach((line, k) =>
      line.forEach((count, l) => {
        cells[k][l].textContent = number(count, 6);
        all += count;
        if (k === l) right += count;
      }),
    );
    words.textContent = `${sharePart(right, all)} of the rows are right: the class that is most likely is their own.`;
  };
  onStep(show);
  show();
}

// A table of what was observed against what the threshold predicts, and the slider that moves it.
function addConfusion() {
  const [negative, positive] = quality.classes;
  const what = report.loss === "binomial" ? `probability of ${positive}` : "score";
  const slider = element("input", {
    type: "range",
    id: "threshold",
    min: 0,
    max: quality.thresholds.length - 1,
    step: 1,
    value: threshold.place,
  });
  const said = element("output", { for: "threshold", id: "threshold-text" });
  const cells = ["zerosBelow", "zerosAbove", "onesBelow", "onesAbove"].map((key) => [
    key,
    element("td", { class: "number", id: key }),
  ]);
  const head = (text) => element("th", { scope: "col", class: "number" }, text);
  const row = (name, pair) =>
    element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, name)), ...pair.map(([, cell]) => cell));
  const words = element("p", { class: "note", id: "confusion-words", role: "status", "aria-live": "polite" });
  byId(panel("confusion")).append(
    element(
      "figure",
      {},
      element("figcaption", {}, element("h3", {}, "Confusion table")),
      element("div", { class: "threshold" }, element("label", { for: "threshold" }, "Threshold"), slider, said),
      element(
        "div",
        { class: "scroll" },
        element(
          "table",
          {},
          element("caption", { class: "hidden" }, "Rows by observed and predicted class"),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("th", { scope: "col" }, "Observed"),
              head(`Predicted ${short(negative)}`),
              head(`Predicted ${short(positive)}`),
            ),
          ),
          element("tbody", {}, row(negative, cells.slice(0, 2)), row(positive, cells.slice(2))),
        ),
      ),
      words,
    ),
  );
  const show = () => {
    const at = tableAt(state.step);
    const value = quality.thresholds[threshold.place];
    for (const [key, cell] of cells) cell.textContent = number(at[key], 6);
    said.textContent = `${positive} where the ${what} is above ${number(value, 3)}`;
    slider.setAttribute("aria-valuetext", said.textContent);
    const right = at.zerosBelow + at.onesAbove;
    words.textContent =
      `${sharePart(right, quality.zeros + quality.ones)} of the rows are right; ${sharePart(at.onesAbove, quality.ones)} of ${positive} are found ` +
      `(sensitivity), ${sharePart(at.zerosBelow, quality.zeros)} of ${negative} are left alone (specificity).`;
  };
  slider.addEventListener("input", () => {
    threshold.place = Number(slider.value);
    for (const listener of threshold.listeners) listener();
  });
  onStep(show);
  threshold.listeners.push(show);
  show();
}

// Bars of the observed counts hang from the curve of the expected ones, on the scale of roots: they end at 0 where both agree.
const hangingEnd = (k, expected) => Math.sqrt(expected[k]) - Math.sqrt(quality.counts[k]);
const hangingBars = {
  id: "hangingBars",
  beforeDatasetsDraw(chart) {
    const { ctx, scales } = chart,
      { expected } = qualityAt(state.step);
    const width = 0.8 * (scales.x.getPixelForValue(1) - scales.x.getPixelForValue(0));
    ctx.save();
    ctx.fillStyle = `${colour("g1")}90`;
    quality.counts.forEach((_, k) => {
      const top = scales.y.getPixelForValue(Math.sqrt(expected[k])),
        end = scales.y.getPixelForValue(hangingEnd(k, expected));
      ctx.fillRect(scales.x.getPixelForValue(k) - width / 2, top, width, end - top);
    });
    ctx.restore();
  },
};

function addRootogram() {
  const expected = () => qualityAt(state.step).expected;
  const curve = () => expected().map((value, k) => ({ x: k, y: Math.sqrt(value) }));
  const most = quality.counts.length;
  // The same scale at every strength, so that models can be compared.
  const lowest = Math.min(
    0,
    ...quality.steps.map((step) => Math.min(...quality.counts.map((_, k) => hangingEnd(k, step.expected)))),
  );
  const handle = addChart(panel("rootogram-chart"), {
    title: "Rootogram",
    hint: ([{ dataIndex: k }]) => [
      hintTitle(`count ${k}`),
      hintLine(`observed ${number(quality.counts[k], 6)} times`),
      hintLine(`expected ${number(expected()[k], 4)}`),
    ],
    words: () =>
      `Counts from 0 to ${most - 1}. Bars that end below 0: observed more often than the model expects; above: less often.`,
    numbers: () => ({
      headers: ["Count", "Observed", "Expected"],
      rows: quality.counts.map((count, k) => [String(k), number(count, 6), number(expected()[k], 5)]),
    }),
    config: () => ({
      type: "scatter",
      plugins: [hangingBars],
      data: {
        datasets: [
          {
            data: curve(),
            showLine: true,
            borderColor: colour("g2"),
            borderWidth: 2,
            pointRadius: most > 30 ? 0 : 3,
            backgroundColor: colour("g2"),
          },
        ],
      },
      options: {
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: axis("count", {
            min: -1,
            max: most,
            label: (value) => (value >= 0 && value < most && Number.isInteger(value) ? String(value) : ""),
          }),
          y: axis("root of how often", { min: Math.floor(lowest) }),
        },
      },
    }),
  });
  onStep(() => {
    handle.chart.data.datasets[0].data = curve();
    handle.chart.update("none");
    handle.describe();
  });
}
