// The numbers behind a chart, as a table that is made when it is opened.

const kNumberRows = 300;

function plainTable(caption, headers, rows) {
  const cell = (tag, text, more) => element(tag, more, element("bdi", {}, text));
  const head = element("tr", {}, ...headers.map((text) => cell("th", text, { scope: "col" })));
  const body = rows.map((row) => element("tr", {}, ...row.map((text) => cell("td", text))));
  return element(
    "table",
    {},
    element("caption", { class: "hidden" }, caption),
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
}

function numbersTable(title, numbers) {
  const details = element("details", {}, element("summary", {}, "Numbers"));
  const content = element("div");
  details.append(content);
  const fill = () => {
    const { headers, rows, note } = numbers();
    const shown = rows.slice(0, kNumberRows);
    const words = [note, rows.length > shown.length && `The first ${whole(shown.length)} of ${many(rows.length, "row")}.`];
    content.replaceChildren(
      ...words.filter(Boolean).map((text) => element("p", { class: "note" }, text)),
      element("div", { class: "scroll" }, plainTable(title, headers, shown)),
    );
  };
  details.addEventListener("toggle", () => details.open && fill());
  onStep(() => details.open && fill());
  return details;
}
