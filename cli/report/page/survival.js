// How a model of times to an event fits: survival curves of rows with low, middle and high predicted risk.

const kRiskNames = ["low", "middle", "high"];
const kRiskColours = ["g3", "g1", "g2"];

function addSurvival() {
  const groups = () => qualityAt(state.step).risk_groups;
  const points = (k) => groups()[k].curve.map(([x, y]) => ({ x, y }));
  const named = (k) => `${kRiskNames[k]} predicted risk`;
  const handle = addChart(panel("survival-chart"), {
    title: "Survival by predicted risk",
    hint: ([{ datasetIndex: k, raw }]) => [
      hintTitle(named(k)),
      hintLine(`${share(raw.y)} without an event after ${number(raw.x, 5)}`),
    ],
    words: () =>
      groups()
        .map(({ rows, events }, k) => (rows > 0 ? `${named(k)}: ${number(rows, 6)} rows, ${number(events, 6)} events` : ""))
        .filter((text) => text)
        .join("; ") + `. C-index ${number(qualityAt(state.step).c_index, 4)}, on the rows that were fitted.`,
    numbers: () => ({
      headers: ["Predicted risk", "Time", "Share without an event"],
      rows: groups().flatMap((group, k) => group.curve.map(([time, left]) => [kRiskNames[k], number(time, 6), number(left, 4)])),
    }),
    config: () => ({
      type: "scatter",
      data: {
        datasets: kRiskNames.map((_, k) => ({
          data: points(k),
          clip: false,
          showLine: true,
          stepped: true,
          borderColor: colour(kRiskColours[k]),
          backgroundColor: colour(kRiskColours[k]),
          borderWidth: 2,
          borderDash: [[], [6, 3], [2, 3]][k],
          pointRadius: 0,
          pointHitRadius: 6,
        })),
      },
      options: {
        interaction: { mode: "nearest", intersect: false },
        scales: { x: axis(short(responseName)), y: axis("share without an event", { min: 0, max: 1 }) },
      },
    }),
  });
  handle.box.after(
    element(
      "ul",
      { class: "legend" },
      ...kRiskNames.map((_, k) =>
        element("li", {}, element("span", { class: `swatch ${kRiskColours[k]}`, "aria-hidden": "true" }), named(k)),
      ),
    ),
  );
  onStep(() => {
    kRiskNames.forEach((_, k) => {
      handle.chart.data.datasets[k].data = points(k);
    });
    handle.chart.update("none");
    handle.describe();
  });
}
