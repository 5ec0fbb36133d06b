// Zoom: drag a box, buttons, the keys + - 0 and arrows on the chart, the wheel while the chart has the focus or with Ctrl.

function makeZoomable(handle, wholeRange) {
  const { canvas, tools } = handle;
  const view = { x: null, y: null }; // [min, max], or null for all

  const apply = () => {
    for (const name of ["x", "y"]) {
      const scale = handle.chart.options.scales[name];
      const [min, max] = view[name] || (name === "x" ? wholeRange : [undefined, undefined]);
      scale.min = min;
      scale.max = max;
    }
    handle.chart.update("none");
    reset.disabled = !view.x && !view.y;
  };
  const show = (from, to, vertical = null) => {
    const [low, high] = wholeRange;
    const width = Math.min(high - low, Math.max(to - from, (high - low) / 1000));
    const start = Math.min(Math.max(from, low), high - width);
    view.x = width >= high - low ? null : [start, start + width];
    view.y = vertical;
    apply();
  };
  const around = (factor, centre) => {
    const [from, to] = view.x || wholeRange;
    const at = centre ?? (from + to) / 2;
    show(at - (at - from) * factor, at + (to - at) * factor);
  };
  const shift = (fraction) => {
    const [from, to] = view.x || wholeRange;
    show(from + fraction * (to - from), to + fraction * (to - from), view.y);
  };
  const clear = () => {
    view.x = view.y = null;
    apply();
  };

  const button = (text, label, action) => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", action);
    tools.append(made);
    return made;
  };
  button("+", "Zoom in", () => around(0.5, centreOfChoice(view.x || wholeRange)));
  button("−", "Zoom out", () => around(2));
  button("←", "Move left", () => shift(-0.25));
  button("→", "Move right", () => shift(0.25));
  const reset = button("Reset", "Show all", clear);

  canvas.tabIndex = 0;
  canvas.setAttribute("aria-description", "Keys: plus and minus zoom, the arrows move, 0 shows all.");
  const keys = {
    "+": () => around(0.5, centreOfChoice(view.x || wholeRange)),
    "=": () => around(0.5),
    "-": () => around(2),
    ArrowLeft: () => shift(-0.25),
    ArrowRight: () => shift(0.25),
    0: clear,
    Escape: clear,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      around(event.deltaY > 0 ? 1.25 : 0.8, handle.chart.scales.x.getValueForPixel(event.offsetX));
    },
    { passive: false },
  );
  addDrag(handle, show);

  const redraw = handle.draw;
  handle.draw = () => {
    redraw();
    apply();
  };
  reset.disabled = true;
}

// The chosen strength where it is in view: what somebody zooms in on.
function centreOfChoice([from, to]) {
  const at = place(state.step);
  return at > from && at < to ? at : undefined;
}

function addDrag(handle, show) {
  const { canvas, box } = handle;
  const frame = element("div", { class: "drag", hidden: true });
  box.append(frame);
  let start = null;
  const inside = (event) => {
    const area = handle.chart.chartArea;
    return [Math.min(Math.max(event.offsetX, area.left), area.right), Math.min(Math.max(event.offsetY, area.top), area.bottom)];
  };
  const moved = (at) => Math.abs(at[0] - start[0]) > 8 && Math.abs(at[1] - start[1]) > 8;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    start = inside(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return;
    const at = inside(event);
    frame.hidden = !moved(at);
    frame.style.left = `${canvas.offsetLeft + Math.min(at[0], start[0])}px`;
    frame.style.top = `${canvas.offsetTop + Math.min(at[1], start[1])}px`;
    frame.style.width = `${Math.abs(at[0] - start[0])}px`;
    frame.style.height = `${Math.abs(at[1] - start[1])}px`;
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!start) return;
    const at = inside(event),
      { x, y } = handle.chart.scales;
    if (moved(at)) {
      const across = [start[0], at[0]].map((pixel) => x.getValueForPixel(pixel)).sort((a, b) => a - b);
      const up = [start[1], at[1]].map((pixel) => y.getValueForPixel(pixel)).sort((a, b) => a - b);
      show(across[0], across[1], up);
      handle.dragged = true; // the click that follows is not a choice
    }
    start = null;
    frame.hidden = true;
  });
  canvas.addEventListener("pointercancel", () => {
    start = null;
    frame.hidden = true;
  });
}
