// Builds the elements of views as plain data: the browser makes nodes of them, the service makes HTML.
// Text stays text in both, because anyone can choose the name of a token.

export type ViewElement = { tag: string; attributes: Record<string, string>; children: ViewChild[] };
export type ViewChild = ViewElement | string;

type Attributes = Record<string, string>;

/** Classes stand after the tag, as in `p.soft`; attributes may be left out. */
export function createElement(
  name: string,
  first: Attributes | ViewChild | null = null,
  ...others: (ViewChild | null)[]
): ViewElement {
  const [tag = "", ...classes] = name.split(".");
  const look = classes.length === 0 ? {} : { class: classes.join(" ") };
  if (first === null || isChild(first)) return { tag, attributes: look, children: keep(first, ...others) };
  return { tag, attributes: { ...look, ...first }, children: keep(...others) };
}

const isChild = (value: Attributes | ViewChild): value is ViewChild =>
  typeof value === "string" || Array.isArray(value.children);

const keep = (...children: (ViewChild | null)[]) => children.filter((child) => child !== null);

// "−$1,234,567,901.37" fits next to a name on the narrowest phone.
const AMOUNT_LENGTH_MAX = 18;

/** An amount in one piece; one that is longer than a line may break after its thousands. */
export function renderAmount(text: string) {
  const groups = text.length > AMOUNT_LENGTH_MAX ? text.split(/(?<=,)/) : [text];
  const parts = groups.flatMap((group, index) => (index === 0 ? [group] : [createElement("wbr"), group]));
  return createElement("span.amount", ...parts);
}

export function renderCard(title: string, ...children: (ViewChild | null)[]) {
  return createElement("section.card", createElement("h3", title), ...children);
}

/** Rows of name and value. */
export function renderFacts(rows: (string | ViewElement)[][]) {
  const parts = rows.map(([name = "", value = ""]) =>
    createElement("div", createElement("dt", name), createElement("dd", value)),
  );
  return createElement("dl.facts", ...parts);
}

type Column = { name: string; look?: string };

/** A table that fits its card at every width: columns with the look `wide` are left out on narrow screens. */
export function renderTable(
  { look, caption, columns }: { look: string; caption: string; columns: Column[] },
  ...bodies: ViewElement[]
) {
  const head = columns.map(({ name, look: columnLook = "" }) =>
    createElement("th", { scope: "col", class: columnLook }, name),
  );
  return createElement(
    "table",
    { class: look },
    createElement("caption.unseen", caption),
    createElement("thead", createElement("tr", ...head)),
    ...bodies,
  );
}

/** The first rows of a table, and the others folded away in a second one. */
export function renderFoldedTable(
  head: Parameters<typeof renderTable>[0],
  rows: ViewElement[],
  shown: number,
): ViewElement[] {
  const render = (part: ViewElement[]) => renderTable(head, createElement("tbody", ...part));
  if (rows.length <= shown) return [render(rows)];
  const rest = rows.slice(shown);
  const summary = createElement("summary", `${rest.length} more`);
  return [render(rows.slice(0, shown)), createElement("details.more", summary, render(rest))];
}

/** `exact` is for the tooltip. */
export function renderNumberCell(
  text: ViewChild,
  exact: string,
  look = "",
  ...below: (ViewElement | null)[]
) {
  const shown = typeof text === "string" ? renderAmount(text) : text;
  return createElement("td", { class: `number ${look}`.trim(), title: exact }, shown, ...below);
}

/** A share of a whole as a bar; the number stands next to it. */
export function renderShareBar(percent: number, look: string) {
  const size = { x: "0", y: "0", height: "4", rx: "2" };
  return createElement(
    "svg.bar",
    { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    createElement("rect", { ...size, width: "100", class: "track" }),
    createElement("rect", { ...size, width: String(Math.min(Math.max(percent, 0), 100)), class: look }),
  );
}
