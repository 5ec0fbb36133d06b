// The selected features: as groups or one by one, searched, sorted, a page at a time.

const kPageRows = 25,
  kNamesShown = 12,
  kNamesMost = 2000;

const table = {
  by: "group",
  search: "",
  page: 0,
  sort: { group: { key: "rank", up: true }, feature: { key: "rank", up: true } },
};

// Columns of the two tables: a key to sort by, and what stands in the cell; `wide` ones are left out on narrow screens.
const kViews = {
  group: [
    { key: "rank", head: "Group", cell: (group) => [swatch(group.rank), String(group.rank)] },
    { key: "size", head: "Features", numeric: true, wide: true, cell: (group) => [whole(group.size)] },
    { key: "positive", head: "Signs", signs: true, wide: true, cell: (group) => [signs(group)] },
    { key: "magnitude", head: "Weight", numeric: true, cell: (group) => [aligned(group.magnitude), bar(group.magnitude)] },
    { key: "mean", head: "Mean |r|", numeric: true, cell: (group) => likeness(group) },
    { key: "least", head: "Least |r|", numeric: true, wide: true, cell: (group) => [correlation(group.least)] },
    { key: "label", head: "Names", names: true, cell: (group) => names(group) },
  ],
  feature: [
    { key: "label", head: "Feature", cell: (member) => [nameNode(member.feature)] },
    { key: "column", head: "Column", numeric: true, wide: true, cell: (member) => [String(member.column)] },
    { key: "value", head: "Coefficient", numeric: true, cell: (member) => [number(member.value, 6)] },
    ...(loss.ratio ? [{ key: "ratio", head: loss.ratio, numeric: true, cell: (member) => [number(member.ratio, 4)] }] : []),
    { key: "weight", head: "Weight", numeric: true, wide: true, cell: (member) => [aligned(member.weight), bar(member.weight)] },
    { key: "rank", head: "Group", cell: (member) => [swatch(member.rank), String(member.rank)] },
  ],
};

const correlation = (r) => (Number.isNaN(r) ? "–" : r.toFixed(2));
const likeness = (group) => [
  ...(coincidental(group) ? [element("span", { class: "tie" }, "coincidence?"), " "] : []),
  correlation(group.mean),
];

let largest = 1; // weight in the model
// All weights with as many decimals as the largest needs; those too small for them as powers of ten.
function aligned(weight) {
  const decimals = Math.min(8, Math.max(0, 4 - Math.floor(Math.log10(largest))));
  return Math.abs(weight) >= 10 ** (1 - decimals) ? weight.toFixed(decimals) : weight.toExponential(1);
}
const swatch = (rank) => element("span", { class: rank <= kGroupColours ? `swatch g${rank}` : "swatch", "aria-hidden": "true" });
const signs = (group) => {
  const minus = group.size - group.positive;
  return [group.positive && `+\u00a0${whole(group.positive)}`, minus && `−\u00a0${whole(minus)}`]
    .filter(Boolean)
    .join("\u00a0\u00a0 ");
};
function bar(weight) {
  const made = element("span", { class: weight < 0 ? "bar minus" : "bar" });
  made.style.width = `${(5 * Math.abs(weight)) / largest}rem`;
  return element("span", { class: "bar-cell", "aria-hidden": "true" }, made);
}

// A name, with what was searched for marked.
function nameNode(feature, sign = 1) {
  const name = nameOf(feature);
  const node = element("span", {
    class: sign < 0 ? "name minus" : "name",
    dir: "auto",
    title: `${name} (column ${columnOf(feature)})`,
  });
  if (sign < 0) node.append(element("span", { class: "hidden" }, "minus "));
  const found = table.search ? name.toLowerCase().indexOf(table.search) : -1;
  if (found < 0 || name.toLowerCase().length !== name.length) node.append(name);
  else {
    const end = found + table.search.length;
    node.append(name.slice(0, found), element("mark", {}, name.slice(found, end)), name.slice(end));
  }
  return node;
}

function names(group) {
  const members = table.search ? [...group.members].sort((a, b) => matches(b) - matches(a)) : group.members;
  const nodes = members.slice(0, kNamesShown).map((member) => nameNode(member.feature, member.sign));
  if (group.size > kNamesShown) {
    const more = element("button", { type: "button" }, `and ${whole(group.size - kNamesShown)} more`);
    more.addEventListener("click", () => {
      const rest = members.slice(kNamesShown, kNamesMost).map((member) => nameNode(member.feature, member.sign));
      const left = group.size - kNamesShown - rest.length;
      more.replaceWith(...rest, left > 0 ? `and ${whole(left)} that this page does not list` : "");
    });
    nodes.push(more);
  }
  return nodes;
}

const matches = (member) =>
  nameOf(member.feature).toLowerCase().includes(table.search) || String(columnOf(member.feature)) === table.search;

// The rows of the current view that the search leaves, sorted.
function tableRows(groups) {
  const kept = table.search ? groups.filter((group) => group.members.some(matches)) : groups;
  const rows =
    table.by === "group"
      ? kept.map((group) => ({ ...group, label: group.members.length ? nameOf(group.members[0].feature) : "" }))
      : kept
          .flatMap((group) => group.members)
          .filter((member) => !table.search || matches(member))
          .map((member) => ({
            ...member,
            label: nameOf(member.feature),
            column: columnOf(member.feature),
            ratio: Math.exp(member.value),
          }));
  const { key, up } = table.sort[table.by];
  const placed = (value) => (Number.isNaN(value) ? 2 : value); // a group of one has no |r|, and comes after the others
  const compare = key === "label" ? kCollator.compare : (a, b) => placed(a) - placed(b);
  return rows.sort((a, b) => (up ? 1 : -1) * compare(a[key], b[key]) || a.rank - b.rank);
}
const kCollator = new Intl.Collator("en", { numeric: true });

const classOf = ({ numeric, names: list, signs: both, wide }) =>
  [numeric && "number", list && "names", both && "signs", wide && "wide"].filter(Boolean).join(" ") || false;

function drawHead() {
  const sort = table.sort[table.by];
  const heads = kViews[table.by].map((column) => {
    const { key, head } = column;
    const button = element("button", { type: "button" }, head);
    button.addEventListener("click", () => {
      table.sort[table.by] = { key, up: sort.key === key ? !sort.up : true };
      table.page = 0;
      drawTable();
      byId("table").querySelector(`th[data-key="${key}"] button`).focus();
    });
    const order = sort.key === key ? (sort.up ? "ascending" : "descending") : "none";
    return element("th", { scope: "col", "aria-sort": order, "data-key": key, class: classOf(column) }, button);
  });
  byId("table").tHead.replaceChildren(element("tr", {}, ...heads));
}

function drawTable() {
  const groups = groupsAt(state.step),
    fit = fits[state.step];
  largest = groups.length ? groups[0].magnitude : 1;
  const rows = tableRows(groups),
    pages = Math.max(1, Math.ceil(rows.length / kPageRows));
  table.page = Math.min(table.page, pages - 1);
  drawHead();
  const shown = rows.slice(table.page * kPageRows, (table.page + 1) * kPageRows);
  byId("table").tBodies[0].replaceChildren(
    ...shown.map((row) =>
      element("tr", {}, ...kViews[table.by].map((column) => element("td", { class: classOf(column) }, ...column.cell(row)))),
    ),
  );
  const word = table.by === "group" ? "group" : "feature";
  const all = table.by === "group" ? groups.length : groups.reduce((sum, group) => sum + group.members.length, 0);
  byId("count").textContent = table.search ? `${whole(rows.length)} of ${many(all, word)} found` : many(all, word);
  byId("table-caption").textContent = `Selected features, by ${word}`;
  byId("pages").hidden = pages === 1;
  byId("page-text").textContent = `Page ${table.page + 1} of ${whole(pages)}`;
  byId("previous-page").disabled = table.page === 0;
  byId("next-page").disabled = table.page === pages - 1;
  byId("groups-note").textContent = groupsNote(groups, fit);
}

function groupsNote(groups, fit) {
  if (fit.nonzeros === 0)
    return "Nothing is in the model at this strength: it predicts the same for all rows, the mean where there is an intercept.";
  const listed = groups.reduce((sum, group) => sum + group.members.length, 0);
  const scale = report.standardize ? "once columns are standardised (the weight)" : "(the weight)";
  const parts = [
    `A group is a set of features of equal magnitude ${scale}; group 1 has the largest. Coefficients are on the data's own scale.`,
    "Correlated features tend to share a group, but features that share one need not be correlated, nor have a common cause: " +
      "|r| is the correlation between its members in the data.",
  ];
  const several = groups.filter((group) => !Number.isNaN(group.mean)),
    ties = several.filter(coincidental).length;
  if (several.length > 0) {
    parts.push(
      `${many(several.length, "group")} of several features; ${ties === 0 ? "in none" : `in ${whole(ties)}`} of them the mean |r| is ` +
        `below ${report.coincidental_below}${ties > 0 ? ", likely a tie by coincidence" : ""}.`,
    );
  }
  if (loss.ratio) {
    parts.push(
      `The ${loss.ratio.toLowerCase()} of a feature, exp(coefficient), is for one unit more of it, all others as they are; the penalty draws it towards 1.`,
    );
  }
  if (!hasNames) parts.push("Columns count from 0, without the response.");
  if (listed < fit.nonzeros) {
    parts.push(
      `This page lists the ${whole(listed)} largest of ${whole(fit.nonzeros)} coefficients; tyto's option --coefficients writes all.`,
    );
  }
  return parts.join(" ");
}

// As tyto coef writes it: text that a spreadsheet would take for a formula stands behind an apostrophe.
function csvField(text) {
  const formula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !Number.isFinite(Number(text));
  const safe = (formula ? "'" : "") + text.replaceAll('"', '""');
  return /[",;\t\r\n]/.test(text) ? `"${safe}"` : safe;
}
function tableCsv() {
  const rows = groupsAt(state.step)
    .flatMap((group) => group.members)
    .sort((a, b) => columnOf(a.feature) - columnOf(b.feature))
    .map((member) => [columnOf(member.feature), csvField(hasNames ? nameOf(member.feature) : ""), member.value, member.rank - 1].join(","));
  return ["column,name,coefficient,cluster", ...rows].join("\n") + "\n";
}
function download() {
  const link = element("a", { download: "coefficients.csv", href: URL.createObjectURL(new Blob([tableCsv()], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function setUpTable() {
  byId("download").addEventListener("click", download);
  const show = (by) => {
    table.by = by;
    table.page = 0;
    byId("by-group").setAttribute("aria-pressed", String(by === "group"));
    byId("by-feature").setAttribute("aria-pressed", String(by === "feature"));
    drawTable();
  };
  byId("by-group").addEventListener("click", () => show("group"));
  byId("by-feature").addEventListener("click", () => show("feature"));
  byId("search").addEventListener("input", (event) => {
    table.search = event.target.value.trim().toLowerCase();
    table.page = 0;
    drawTable();
    repaintLines();
  });
  byId("previous-page").addEventListener("click", () => {
    --table.page;
    drawTable();
  });
  byId("next-page").addEventListener("click", () => {
    ++table.page;
    drawTable();
  });
  onStep(() => {
    table.page = 0;
    drawTable();
  });
  const fit = fits[state.step];
  show(fit.clusters < fit.nonzeros || fit.nonzeros === 0 ? "group" : "feature");
}
