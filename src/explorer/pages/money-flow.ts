// The money flow of one token: from those who pay, through merchants, to the facilitators that settled it.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { flowsSchema } from "../../protocol/reads/flows.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiResult } from "../api-reader.ts";
import { addressLink, amount, card, findToken, number, recordLink, unavailable } from "../components.ts";
import type { PageContext } from "../context.ts";
import type { Item } from "../fields.ts";
import { formatUnits, shorten } from "../format.ts";
import { table } from "../list.ts";
import { drawFlows, type FlowLink, type FlowNode, layoutFlows } from "../sankey.ts";
import { sourceLinks } from "../source.ts";

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
    html`<p class="soft note">Who pays, which merchants get it, and which facilitator settled it. The largest ${String(PARTIES_MAX)} of each; rest on a band to see its amount.</p>${drawing(flows, page)}${flowTables(flows, page)}${sourceLinks(page, call)}`,
  );
}
