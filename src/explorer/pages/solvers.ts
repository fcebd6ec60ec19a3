// Solvers: all that are registered, with what their operators bid, won and filled.
import { type Html, html } from "../../lib/html.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { addressLink, amount, block, number, recordLink, status, unknown } from "../components.ts";
import type { PageContext } from "../context.ts";
import type { List } from "../list.ts";
import { defineListPage } from "../list-page.ts";

/** The registry holds bonds in the coin of the chain. */
export const bondOf = (page: PageContext, bond: unknown): Html => amount(page, bond, ZERO_ADDRESS);

export const stateOf = (active: unknown): Html => status(active === true ? "ACTIVE" : "INACTIVE");

/** A share of one, as the API has it, in percent; unknown if there was nothing to win. */
export function percent(share: unknown): Html {
  if (typeof share !== "string") return unknown();
  return html`<span class="number" title="${share}">${(Number(share) * 100).toFixed(1)} %</span>`;
}

export function seconds(value: unknown): Html {
  return typeof value === "string" ? html`${number(value)} s` : unknown();
}

const solverList: List = {
  route: "/solvers",
  key: "solvers",
  csv: "/solvers.csv",
  columns: [
    { label: "Solver", cell: (each, page) => recordLink(page, "solver", String(each.solver_id)) },
    { label: "State", cell: (each) => stateOf(each.active) },
    { label: "Operator", cell: (each, page) => addressLink(page, each.operator) },
    { label: "Bond", kind: "number", cell: (each, page) => bondOf(page, each.bond) },
    {
      label: "Bids won",
      kind: "number",
      cell: (each) => html`${number(each.selected_bids)} of ${number(each.bids)}`,
    },
    { label: "Win rate", kind: "number", cell: (each) => percent(each.win_rate) },
    { label: "Fills", kind: "number", cell: (each) => number(each.fills) },
    { label: "Latency", kind: "number", cell: (each) => seconds(each.avg_latency_seconds) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such solver at this block.",
};

const NOTE = html`<p class="soft note">Bids, wins and fills are those of the operator's address, also from before it registered; bids off the chain do not count. Latency is the mean time from the submission of an intent to its fill.</p>`;

export const solversPage = defineListPage(solverList, {
  title: "Solvers",
  lead: "Who competes for intents: what they put up as a bond, how often owners select them, and how fast they fill.",
  order: "By id",
  note: NOTE,
  example: { active: "true" },
});
