// Along the path: coefficients, how many, what they explain.

const strengthHint = (step) => hintLine(`strength ${number(relative(step), 3)}, alpha ${number(fits[step].alpha, 5)}`);
const lines = { ownScale: false };
const lineValue = (line, step) => {
  const value = report.lines.values[line][step];
  return lines.ownScale ? value / report.features.scales[report.lines.features[line]] : value;
};

// A line is there where its feature is in the model, and one strength before and after.
function linePoints(line) {
  const values = report.lines.values[line];
  return values.map((value, step) => {
    const away = value === 0 && !values[step - 1] && !values[step + 1];
    return { x: place(step), y: away ? NaN : lineValue(line, step) };
  });
}

// The group of each feature at the strength that is chosen.
function ranksNow() {
  const ranks = new Map();
  for (const group of groupsAt(state.step)) for (const member of group.members) ranks.set(member.feature, group.rank);
  return ranks;
}

const kPlainColours = 7;
function paintLines(datasets) {
  const ranks = ranksNow();
  const paint = { muted: colour("muted-line") };
  for (let rank = 1; rank <= kGroupColours; ++rank) paint[rank] = colour(`g${rank}`);
  datasets.forEach((dataset, line) => {
    const feature = report.lines.features[line],
      rank = ranks.get(feature),
      found = table.search && matches({ feature });
    dataset.borderColor = found ? colour("ink") : paint[rank] || paint.muted;
    dataset.borderWidth = found ? 2.6 : paint[rank] ? 1.8 : 0.8;
    dataset.borderDash = !found && rank > kPlainColours ? [7, 3] : [];
    dataset.order = found ? 0 : paint[rank] ? rank : kGroupColours + 1;
  });
}
let repaintLines = () => {}; // where there are lines

// The lines under the pointer, drawn once more and wider.
const hoveredLines = {
  id: "hoveredLines",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(chartArea.left, chartArea.top, chartArea.right - chartArea.left, chartArea.bottom - chartArea.top);
    ctx.clip();
    for (const { datasetIndex, index } of chart.getActiveElements().slice(0, 30)) {
      const points = chart.getDatasetMeta(datasetIndex).data;
      ctx.strokeStyle = chart.data.datasets[datasetIndex].borderColor;
      ctx.lineWidth = 3;
      ctx.beginPath();
      for (const point of points) if (!point.skip) ctx.lineTo(point.x, point.y);
      ctx.stroke();
      ctx.fillStyle = ctx.strokeStyle;
      ctx.beginPath();
      ctx.arc(points[index].x, points[index].y, 4.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  },
};

function lineHint(points) {
  const step = points[0].dataIndex;
  const features = points.map((point) => report.lines.features[point.datasetIndex]);
  const shown = features.slice(0, 5).map((feature) => nameOf(feature));
  const more = features.length > shown.length ? ` and ${features.length - shown.length} more` : "";
  const names = element("b", { class: "names" });
  shown.forEach((name, k) => names.append(k ? ", " : "", element("bdi", {}, name)));
  names.append(more);
  return [names, hintLine(`coefficient ${number(lineValue(points[0].datasetIndex, step), 6)}`), strengthHint(step)];
}

function pathWords() {
  const last = fits[fits.length - 1];
  const groups = groupsAt(state.step)
    .slice(0, 3)
    .map((group) => `group ${group.rank}, ${many(group.size, "feature")} of weight ${number(group.magnitude)}`);
  return (
    `${many(report.entered, "feature")} enter along ${fits.length} strengths, ${whole(last.nonzeros)} at the weakest. At the chosen ` +
    `strength ${number(relative(state.step), 3)}: ${groups.length ? groups.join("; ") : "none"}.`
  );
}

function pathNumbers() {
  const count = Math.min(12, fits.length);
  const steps = [...Array(count).keys()].map((k) => Math.round((k * (fits.length - 1)) / Math.max(1, count - 1)));
  return {
    note: "Coefficients by strength, as a fraction of alpha-max.",
    headers: ["Feature", ...steps.map((step) => number(relative(step), 3))],
    rows: report.lines.features.map((feature, line) => [nameOf(feature), ...steps.map((step) => number(lineValue(line, step)))]),
  };
}

function addPathChart() {
  const range = [place(0), place(fits.length - 1)];
  const handle = addChart("path-chart", {
    title: "Coefficients",
    tall: true,
    hint: lineHint,
    words: pathWords,
    numbers: pathNumbers,
    config: () => {
      const datasets = report.lines.features.map((_, line) => ({
        data: linePoints(line),
        pointRadius: 0,
        pointHoverRadius: 0,
        pointHitRadius: 0,
        normalized: true,
      }));
      paintLines(datasets);
      return {
        type: "line",
        data: { datasets },
        plugins: [chosenStrength, hoveredLines],
        options: {
          interaction: { mode: "nearest", axis: "xy", intersect: false },
          onClick: (event, _, chart) => {
            if (handle.dragged) handle.dragged = false;
            else chooseStep(nearestStep(chart.scales.x.getValueForPixel(event.x)));
          },
          scales: {
            x: strengthAxis({ min: range[0], max: range[1] }),
            y: axis(lines.ownScale || !report.standardize ? "coefficient" : "coefficient, columns standardised"),
          },
        },
      };
    },
  });
  addScaleChoice(handle);
  makeZoomable(handle, range);
  const legend = element("ul", { class: "legend", "aria-hidden": "true" });
  handle.box.after(legend);
  fillLegend(legend);
  repaintLines = () => {
    paintLines(handle.chart.data.datasets);
    handle.chart.update("none");
  };
  onStep(() => {
    repaintLines();
    handle.describe();
    fillLegend(legend);
  });
}

// The coloured groups: number, first feature, and how many more.
function fillLegend(legend) {
  legend.replaceChildren(
    ...groupsAt(state.step)
      .slice(0, kGroupColours)
      .map((group) => {
        const more = group.size > 1 ? ` and ${whole(group.size - 1)} more` : "";
        return element("li", {}, swatch(group.rank), `${group.rank}  `, nameNode(group.members[0].feature), more);
      }),
  );
}

function addScaleChoice(handle) {
  if (!report.standardize) return;
  const buttons = [
    ["Standardised", false],
    ["Data's scale", true],
  ].map(([text, own]) => {
    const made = element("button", { type: "button", "aria-pressed": String(own === lines.ownScale) }, text);
    made.addEventListener("click", () => {
      lines.ownScale = own;
      buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === made)));
      handle.draw();
    });
    return made;
  });
  handle.tools.append(element("span", { class: "choice", role: "group", "aria-label": "Scale of the coefficients" }, ...buttons));
}

function nearestStep(x) {
  let best = 0;
  fits.forEach((_, step) => {
    if (Math.abs(place(step) - x) < Math.abs(place(best) - x)) best = step;
  });
  return best;
}

// A chart with one value for each strength and line.
function addStrengthChart(parent, title, series, { yTitle, label, y = {} }) {
  const handle = addChart(parent, {
    title,
    hint: (points) => [
      strengthHint(points[0].dataIndex),
      ...points.map((point) => hintLine(`${series[point.datasetIndex].name}: ${label(point.parsed.y)}`)),
    ],
    words: () =>
      series
        .map(
          ({ name, values }) =>
            `${name}: ${label(values[0])} at the strongest penalty, ${label(values[values.length - 1])} at the weakest, ` +
            `${label(values[state.step])} at the chosen one`,
        )
        .join(". ") + ".",
    numbers: () => ({
      headers: ["Strength", "alpha", ...series.map(({ name }) => name)],
      rows: fits.map((fit, step) => [
        number(relative(step), 4),
        number(fit.alpha, 6),
        ...series.map(({ values }) => label(values[step])),
      ]),
    }),
    config: () => ({
      type: "line",
      data: {
        datasets: series.map(({ values, paint }) => ({
          data: values.map((value, step) => ({ x: place(step), y: value })),
          borderColor: colour(paint),
          backgroundColor: colour(paint),
          borderWidth: 2,
          pointRadius: 0,
          pointHoverRadius: 4,
        })),
      },
      plugins: [chosenStrength],
      options: {
        interaction: { mode: "index", intersect: false },
        onClick: (event, _, chart) => chooseStep(nearestStep(chart.scales.x.getValueForPixel(event.x))),
        scales: { x: axis("strength", { log: -1, min: place(0), max: place(fits.length - 1) }), y: axis(yTitle, y) },
      },
    }),
  });
  if (series.length > 1) {
    handle.figure.insertBefore(
      element(
        "ul",
        { class: "legend" },
        ...series.map(({ name, paint }) =>
          element("li", {}, element("span", { class: `swatch ${paint}`, "aria-hidden": "true" }), name),
        ),
      ),
      handle.box.nextSibling,
    );
  }
  onStep(() => {
    handle.chart.draw();
    handle.describe();
  });
}

function setUpPath() {
  if (!isPath) return;
  byId("path").hidden = false;
  const drawn = report.lines.features.length;
  const which =
    drawn < report.entered
      ? `Drawn are the ${whole(drawn)} features whose coefficient is largest anywhere on the path, of ${whole(report.entered)} that enter it.`
      : `All ${many(drawn, "feature")} that enter the path are drawn.`;
  const [criterion] = Object.keys(report.choices);
  const opened = criterion
    ? `The page opens at the strength that ${kCriterionWords[criterion]} chooses.`
    : "No strength is best by itself: the page opens at the first that explains 95 % of what any explains.";
  byId("path-note").textContent = [
    which,
    `Lines that run together are a group; the first ${kGroupColours} groups at the chosen strength are coloured as in the table.`,
    "What the search below finds stands out. Click to choose a strength, drag to zoom.",
    report.errors ? "" : opened,
  ].join(" ");
  if (drawn > 0) addPathChart();
  addStrengthChart(
    "counts-chart",
    "Features and groups",
    [
      { name: "features", values: fits.map((fit) => fit.nonzeros), paint: "g1" },
      { name: "groups", values: fits.map((fit) => fit.clusters), paint: "g2" },
    ],
    { yTitle: "in the model", label: (value) => whole(value), y: { beginAtZero: true, label: whole } },
  );
  addStrengthChart(
    "explained-chart",
    `Explained ${loss.explained}`,
    [{ name: "explained on the fitted data", values: fits.map((fit) => fit.explained), paint: "g3" }],
    { yTitle: "fraction explained", label: (value) => share(value), y: { min: 0, max: 1 } },
  );
}
