// A money flow in three columns, laid out and drawn on the server: bands between parties, as wide as what they carry.
import { type Html, html } from "../lib/html.ts";

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
