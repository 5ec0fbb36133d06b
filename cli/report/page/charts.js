// Charts: one look for all, hints as elements beside the canvas, a text alternative and the numbers for each.

Chart.defaults.animation = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 12;

// The colours of the theme; kept, because asking for one makes the browser look at all styles again.
let colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}
const kGroupColours = 14; // in report.css; lines from the eighth on are dashed as well
const allCharts = [];

// An axis; with `log`, for values that are logarithms (base 10), labelled with what they are logarithms of. `log` is 1, or -1 where
// the axis runs towards smaller numbers.
function axis(title, { log, label = (value) => number(value, 3), ...more } = {}) {
  const value = (tick) => (log ? 10 ** (log * tick) : tick);
  return {
    type: "linear",
    title: { display: true, text: title, color: colour("soft") },
    grid: { color: ({ tick }) => colour(tick && tick.value === 0 && !log ? "muted-line" : "grid"), drawBorder: false },
    border: { display: false },
    ticks: { color: colour("soft"), maxTicksLimit: 8, maxRotation: 0, callback: (tick) => label(value(tick)) },
    afterBuildTicks:
      log &&
      ((scale) => {
        scale.ticks = logTicks(scale.min, scale.max, log).map((tick) => ({ value: tick }));
      }),
    ...more,
  };
}

// Places of round numbers on a logarithmic axis: the finest of these choices that is not crowded.
function logTicks(from, to, log) {
  const low = Math.min(log * from, log * to),
    high = Math.max(log * from, log * to);
  let best = [];
  const decades = Math.ceil((high - low) / 7);
  const choices = [
    [[1], Math.max(1, decades)],
    [[1, 3], 1],
    [[1, 2, 5], 1],
    [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1],
  ];
  for (const [digits, stride] of choices) {
    const found = [];
    for (let decade = Math.floor(low); decade <= high; ++decade) {
      if (decade % stride !== 0) continue;
      for (const digit of digits) {
        const tick = decade + Math.log10(digit);
        if (tick >= low - 1e-9 && tick <= high + 1e-9) found.push(log * tick);
      }
    }
    if (found.length <= 8 && found.length > best.length) best = found;
  }
  if (best.length < 2) best = [0, 1, 2, 3].map((k) => from + (k / 3) * (to - from));
  return best.sort((a, b) => a - b);
}

const strengthAxis = (more) => axis("strength, as a fraction of alpha-max", { log: -1, ...more });

// Draws a vertical line at the strength that is chosen.
const chosenStrength = {
  id: "chosenStrength",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea, scales } = chart;
    const x = scales.x.getPixelForValue(place(state.step));
    if (x < chartArea.left - 1 || x > chartArea.right + 1) return;
    ctx.save();
    ctx.strokeStyle = colour("ink");
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, chartArea.top);
    ctx.lineTo(x, chartArea.bottom);
    ctx.stroke();
    ctx.restore();
  },
};

// A chart in `parent`. `config` gives Chart.js its configuration in the colours of the moment; `hint` turns the points under the
// pointer into nodes; `words` is the text alternative; `numbers` the table below.
function addChart(parent, { title, tall, config, hint, words, numbers }) {
  const canvas = element("canvas", { role: "img", tabindex: "-1" });
  const tip = element("div", { class: "tip", hidden: true });
  const box = element("div", { class: tall ? "canvas tall" : "canvas" }, canvas, tip);
  const tools = element("div", { class: "chart-tools" });
  const figure = element("figure", {}, element("figcaption", {}, element("h3", {}, title), tools), box);
  if (numbers) figure.append(numbersTable(title, numbers));
  byId(parent).append(figure);

  const handle = { canvas, box, tools, figure, chart: null };
  handle.describe = () => canvas.setAttribute("aria-label", `${title}. ${words()}`);
  handle.draw = () => {
    if (handle.chart) handle.chart.destroy();
    const made = config();
    made.options = { responsive: true, maintainAspectRatio: false, parsing: false, ...made.options };
    made.options.plugins = { legend: { display: false }, tooltip: { enabled: false, external: (at) => placeTip(tip, hint, at) } };
    handle.chart = new Chart(canvas, made);
    handle.describe();
  };
  handle.draw();
  allCharts.push(handle);
  return handle;
}

function placeTip(tip, hint, { chart, tooltip }) {
  const nodes = tooltip.opacity > 0 && tooltip.dataPoints ? hint(tooltip.dataPoints) : [];
  tip.hidden = nodes.length === 0;
  if (tip.hidden) return;
  tip.replaceChildren(...nodes);
  const x = chart.canvas.offsetLeft + tooltip.caretX,
    y = chart.canvas.offsetTop + tooltip.caretY;
  const left = x > chart.canvas.clientWidth / 2 ? x - tip.offsetWidth - 14 : x + 14;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${Math.max(0, Math.min(y - tip.offsetHeight / 2, chart.canvas.clientHeight - tip.offsetHeight))}px`;
}

const hintLine = (text) => element("div", {}, text);
const hintTitle = (text) => element("b", { dir: "auto" }, text);
