// The money flow of one token: from those who pay, through merchants, to the facilitators that settled it.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { flowsSchema } from "../../protocol/reads/flows.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiResult } from "../api-reader.ts";
import { addressLink, amount, card, findToken, number, recordLink, unavailable } from "../components.ts";
import { type PageContext, sourceLinks } from "../context.ts";
import type { Item } from "../fields.ts";
import { formatUnits, shorten } from "../format.ts";
import { table } from "../list.ts";

export type Flows = TypeOf<typeof flowsSchema>;

type Hop = { readonly from: string; readonly to: string; readonly value: bigint };

const OTHERS = "others";
// More parties than these become lines too thin to follow; the table has all that the API has.
const PARTIES_MAX = 10;

/** The largest parties of a column by what they carry, then all others. */
function largest(hops: readonly Hop[], end: "from" | "to"): readonly string[] {
  const sums = new Map<string, bigint>();
  for (const hop of hops) sums.set(hop[end], (sums.get(hop[end]) ?? 0n) + hop.value);
  return [...sums]
    .filter(([id]) => id !== OTHERS)
    .sort(([, a], [, b]) => (a === b ? 0 : a < b ? 1 : -1))
    .slice(0, PARTIES_MAX)
    .map(([id]) => id);
}

/** Hops between the parties that are shown; the rest of a column is one party. */
function group(hops: readonly Hop[], froms: readonly string[], tos: readonly string[]): readonly Hop[] {
  const sums = new Map<string, Hop>();
  for (const { from, to, value } of hops) {
    const ends = { from: froms.includes(from) ? from : OTHERS, to: tos.includes(to) ? to : OTHERS };
    const key = `${ends.from} ${ends.to}`;
    sums.set(key, { ...ends, value: (sums.get(key)?.value ?? 0n) + value });
  }
  return [...sums.values()];
}

type Naming = (id: string) => string;
const NAMES: readonly Naming[] = [
  (id) => (id === OTHERS ? "other payers" : shorten(id)),
  (id) => (id === OTHERS ? "other merchants" : `Merchant #${id}`),
  (id) => (id === OTHERS ? "others" : id === ZERO_ADDRESS ? "no facilitator" : shorten(id)),
];

function toHops(flows: Flows): { readonly paid: readonly Hop[]; readonly settled: readonly Hop[] } {
  return {
    paid: flows.payers.map(({ agent, merchant_id, settled_volume }) => ({
      from: agent ?? OTHERS,
      to: merchant_id ?? OTHERS,
      value: BigInt(settled_volume),
    })),
    settled: flows.facilitators.map(({ facilitator, merchant_id, settled_volume }) => ({
      from: merchant_id ?? OTHERS,
      to: facilitator ?? OTHERS,
      value: BigInt(settled_volume),
    })),
  };
}

function drawing(flows: Flows, page: PageContext): Html {
  const { paid, settled } = toHops(flows);
  const [payers, merchants, facilitators] = [
    largest(paid, "from"),
    largest(paid, "to"),
    largest(settled, "to"),
  ];
  const hops = [group(paid, payers, merchants), group(settled, merchants, facilitators)] as const;
  const known = findToken(page, flows.token);
  const show = (value: bigint) =>
    `${formatUnits(value.toString(), known?.decimals ?? null).text} ${known?.symbol ?? "units"}`;
  const name = (column: number, id: string) => NAMES[column]?.(id) ?? id;
  const links = hops.flatMap((each, column) =>
    each.map(
      ({ from, to, value }): FlowLink => ({
        from: `${column} ${from}`,
        to: `${column + 1} ${to}`,
        value,
        title: `${name(column, from)} → ${name(column + 1, to)}: ${show(value)}`,
      }),
    ),
  );
  const used = new Set(links.flatMap(({ from, to }) => [from, to]));
  const nodes = [payers, merchants, facilitators].flatMap((ids, column) =>
    [...ids, OTHERS].map((id): FlowNode => ({ id: `${column} ${id}`, column, label: name(column, id) })),
  );
  const sentence = `${show(BigInt(flows.settled_volume))} from ${payers.length} payers and others through ${merchants.length} merchants to ${facilitators.length} facilitators; the tables have the amounts`;
  return drawFlows(
    layoutFlows(
      nodes.filter(({ id }) => used.has(id)),
      links,
    ),
    sentence,
  );
}

const others = (text: string) => html`<span class="soft">${text}</span>`;

function flowTables(flows: Flows, page: PageContext): Html {
  const merchant = (id: string | null): HtmlValue =>
    id === null ? others("other merchants") : html`Merchant ${recordLink(page, "merchant", id)}`;
  const merchantItem = [
    "Merchant",
    ({ merchant_id }: Flows["merchants"][number]) => merchant(merchant_id),
  ] as const;
  const amounts: readonly Item<Flows["merchants"][number]>[] = [
    ["Receipts", (row) => number(row.receipts), "number"],
    ["Settled", (row) => amount(page, row.settled_volume, flows.token), "number"],
  ];
  const payers = table<Flows["payers"][number]>(
    [
      ["Payer", ({ agent }) => (agent === null ? others("other payers") : addressLink(page, agent))],
      merchantItem,
      ...amounts,
    ],
    flows.payers,
    page,
  );
  const facilitators = table<Flows["facilitators"][number]>(
    [
      merchantItem,
      [
        "Facilitator",
        ({ facilitator }) => (facilitator === null ? others("others") : addressLink(page, facilitator)),
      ],
      ...amounts,
    ],
    flows.facilitators,
    page,
  );
  return html`<details class="chart-table"><summary>Table: who pays whom</summary>${payers}</details><details class="chart-table"><summary>Table: through which facilitator</summary>${facilitators}</details>`;
}

/** The card with the drawing and its tables. */
export function flowCard(result: ApiResult<Flows> | { readonly problem: string }, page: PageContext): Html {
  const title = "Money flow";
  if ("problem" in result) return card(title, unavailable("Flows", result.problem));
  const { body: flows, call } = result;
  if (flows.payers.length === 0)
    return card(
      title,
      html`<p class="empty">No payment was settled in this token.</p>${sourceLinks(page, call)}`,
    );
  return card(
    title,
    html`<p class="soft note">Who pays, which merchants get it, and which facilitator settled it. The largest ${String(PARTIES_MAX)} of each<span class="flow-hint">; rest on a band to see its amount</span>.</p>${drawing(flows, page)}${flowTables(flows, page)}${sourceLinks(page, call)}`,
  );
}

export type FlowNode = { readonly id: string; readonly column: number; readonly label: string };
export type FlowLink = {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  /** The band in words, shown while a pointer is on it. */
  readonly title: string;
};

type PlacedNode = FlowNode & { readonly x: number; readonly y: number; readonly height: number };
type PlacedLink = FlowLink & { readonly path: string };

type FlowLayout = {
  readonly nodes: readonly PlacedNode[];
  readonly links: readonly PlacedLink[];
  readonly height: number;
};

const WIDTH = 960;
const NODE_WIDTH = 10;
// Room for a label above the next node.
const GAP = 16;
const ROW_HEIGHT = 30;
const HEIGHT_MIN = 260;
// Labels stand outside the first and last column.
const MARGIN = 150;
const COLUMNS = 3;
const PRECISION = 1_000_000n;

/** A share of the whole as a number for drawing; amounts themselves stay exact. */
const shareOf = (value: bigint, all: bigint) =>
  all === 0n ? 0 : Number((value * PRECISION) / all) / Number(PRECISION);

const sumOf = (links: readonly FlowLink[]) => links.reduce((sum, { value }) => sum + value, 0n);

/** Nodes keep their order; every column carries the same sum, so that one scale fits all of them. */
export function layoutFlows(nodes: readonly FlowNode[], links: readonly FlowLink[]): FlowLayout {
  const columns = Array.from({ length: COLUMNS }, (_, column) =>
    nodes.filter((node) => node.column === column),
  );
  const most = Math.max(1, ...columns.map((each) => each.length));
  const height = Math.max(HEIGHT_MIN, most * ROW_HEIGHT);
  const carried = ({ id }: FlowNode) => {
    const [given, taken] = [links.filter(({ from }) => from === id), links.filter(({ to }) => to === id)];
    const [out, into] = [sumOf(given), sumOf(taken)];
    return out > into ? out : into;
  };
  const whole = columns
    .map((column) => column.reduce((sum, node) => sum + carried(node), 0n))
    .reduce((largest, sum) => (sum > largest ? sum : largest), 0n);
  const scale = height - GAP * (most - 1);
  const placed = columns.flatMap((column, index) => {
    const sizes = column.map((node) => shareOf(carried(node), whole) * scale);
    const used = sizes.reduce((sum, size) => sum + size, 0) + GAP * Math.max(0, column.length - 1);
    let y = (height - used) / 2;
    return column.map((node, row): PlacedNode => {
      const size = sizes[row] ?? 0;
      const place = { ...node, x: columnX(index), y, height: size };
      y += size + GAP;
      return place;
    });
  });
  return {
    nodes: placed,
    links: placeLinks(placed, links, (value) => shareOf(value, whole) * scale),
    height,
  };
}

const columnX = (column: number) => MARGIN + (column * (WIDTH - 2 * MARGIN - NODE_WIDTH)) / (COLUMNS - 1);

/** Bands leave and reach a node in the order of their other ends, so that they cross as little as they can. */
function placeLinks(
  nodes: readonly PlacedNode[],
  links: readonly FlowLink[],
  sizeOf: (value: bigint) => number,
): readonly PlacedLink[] {
  const order = new Map(nodes.map((node, index) => [node.id, index]));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sorted = [...links].sort(
    (a, b) =>
      (order.get(a.from) ?? 0) - (order.get(b.from) ?? 0) || (order.get(a.to) ?? 0) - (order.get(b.to) ?? 0),
  );
  const left = new Map<string, number>();
  const reached = new Map<string, number>();
  return sorted.flatMap((link) => {
    const [from, to] = [byId.get(link.from), byId.get(link.to)];
    if (from === undefined || to === undefined) return [];
    const size = sizeOf(link.value);
    const start = from.y + (left.get(from.id) ?? 0);
    const end = to.y + (reached.get(to.id) ?? 0);
    left.set(from.id, (left.get(from.id) ?? 0) + size);
    reached.set(to.id, (reached.get(to.id) ?? 0) + size);
    return [{ ...link, path: bandPath(from.x + NODE_WIDTH, start, to.x, end, Math.max(size, 0.75)) }];
  });
}

function bandPath(x0: number, y0: number, x1: number, y1: number, size: number): string {
  const [middle, a, b] = [((x0 + x1) / 2).toFixed(0), y0.toFixed(1), y1.toFixed(1)];
  const [c, d] = [(y1 + size).toFixed(1), (y0 + size).toFixed(1)];
  const [start, end] = [x0.toFixed(0), x1.toFixed(0)];
  return `M${start},${a}C${middle},${a} ${middle},${b} ${end},${b}V${c}C${middle},${c} ${middle},${d} ${start},${d}Z`;
}

/** The drawing; the sentence and a table alongside it say the same to those who do not see it. */
export function drawFlows({ nodes, links, height }: FlowLayout, sentence: string): Html {
  const bands = links.map(
    ({ path, title }) => html`<path class="flow-band" d="${path}"><title>${title}</title></path>`,
  );
  const parties = nodes.map(({ x, y, height: size, column, label }) => {
    const anchor = column === 0 ? "end" : "start";
    const textX = column === 0 ? x - 8 : x + NODE_WIDTH + 8;
    return html`<rect class="flow-node c${column}" x="${x.toFixed(0)}" y="${y.toFixed(1)}" width="${NODE_WIDTH}" height="${Math.max(size, 1).toFixed(1)}"/><text class="flow-label" x="${textX.toFixed(0)}" y="${(y + size / 2 + 4.5).toFixed(1)}" text-anchor="${anchor}">${label}</text>`;
  });
  return html`<div class="flow-frame"><svg class="flow" viewBox="0 -8 ${WIDTH} ${height + 16}" role="img" aria-label="${sentence}">${bands}${parties}</svg></div>`;
}
