// One solver: its performance, the history of its bond, and its newest fills and bids.

import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { intent } from "../../protocol/reads/intents.ts";
import type { solver } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import type { ApiReader, ApiResult } from "../api-reader.ts";
import { sparkline } from "../charts.ts";
import {
  addressLink,
  amount,
  block,
  card,
  facts,
  hash,
  notice,
  number,
  recordLink,
  time,
  totals,
  transaction,
} from "../components.ts";
import { type PageContext, type PageRequest, requireParam } from "../context.ts";
import { type EventsData, eventsUpTo, type ListedEvent, readEvents, readNewestEvents } from "../events.ts";
import { foreignUri } from "../foreign-text.ts";
import { shareOf } from "../format.ts";
import { table } from "../list.ts";
import { definePage, type PageView } from "../page.ts";
import { sourceLinks } from "../source.ts";
import { changesWithin, unreadNotice } from "./commerce-parts.ts";
import { bidList } from "./intent.ts";
import { findFirst } from "./intents.ts";
import { bondOf, percent, seconds, stateOf } from "./solvers.ts";

type Solver = RecordOf<typeof solver>;

type Intent = RecordOf<typeof intent>;

type SolverData = {
  readonly solver: ApiResult<Solver>;
  readonly events: EventsData;
  /** The newest events, if the solver has more than a page reads. */
  readonly recent: EventsData | null;
  /** The intents behind the newest fills and bids, by id. */
  readonly intents: ReadonlyMap<string, Intent>;
  /** The newest bids that are selected at the shown block, as the API names them. */
  readonly selected: ReadonlySet<string>;
};

const ROWS_SHOWN = 8;

const ofType = (events: readonly ListedEvent[], type: string) =>
  events
    .filter((event) => event.type === type)
    .slice(-ROWS_SHOWN)
    .toReversed();

const newestFills = (events: readonly ListedEvent[]) => ofType(events, "IntentFilled");
const newestBids = (events: readonly ListedEvent[]) => ofType(events, "SolverBidSubmitted");
const idOf = ({ args }: ListedEvent) => String(args.intentId);
const bidOf = ({ args }: ListedEvent) => `${args.intentId}-${args.bidId}`;

/** Every bid that was selected at some time. */
const everSelected = (events: readonly ListedEvent[]) =>
  new Set(events.filter(({ type }) => type === "SolverBidSelected").map(bidOf));

/**
 * Repeats an id up to a fixed number: the reads of a page are one statement, and PostgreSQL keeps each text that it ever
 * prepared.
 */
function padIds(ids: ReadonlySet<string>, count: number): readonly string[] {
  const [first] = ids;
  return first === undefined ? [] : [...ids, ...Array<string>(count - ids.size).fill(first)];
}

/** A selection may move to the bid of another solver, of which the events of this one say nothing. */
async function findSelected(api: ApiReader, events: readonly ListedEvent[]): Promise<SolverData["selected"]> {
  const former = everSelected(events);
  const ids = new Set(
    newestBids(events)
      .filter((each) => former.has(bidOf(each)))
      .map(idOf),
  );
  const pages = await Promise.all(
    padIds(ids, ROWS_SHOWN).map((id) =>
      api.list(bidList, { params: { id }, query: { status: "selected", limit: "1" } }),
    ),
  );
  return new Set(pages.flatMap(({ records }) => records.map(({ bid_id }) => String(bid_id))));
}

/** The newest events, in the order of the chain. */
async function readRecent(api: ApiReader, solver: string, block: string | null): Promise<EventsData> {
  const { call, events, next } = await readNewestEvents(api, { solver, from: block, limit: "1000" });
  return { call, events: events.toReversed(), isCut: next !== null };
}

async function load(api: ApiReader, request: PageRequest): Promise<SolverData> {
  const solver = await api.get<Solver>("/solvers/:id", { params: { id: requireParam(request, "id") } });
  const { solver_id, block_number } = solver.body;
  // Two requests are for the last blocks and the intents.
  const events = await readEvents(api, block_number, { solver: solver_id }, 2);
  const head = await api.head();
  const recent = events.isCut ? await readRecent(api, solver_id, request.block) : null;
  const shown = eventsUpTo((recent ?? events).events, { head });
  const ids = new Set([...newestFills(shown), ...newestBids(shown)].map(idOf));
  const [selected, found] = await Promise.all([
    findSelected(api, shown),
    Promise.all(
      padIds(ids, 2 * ROWS_SHOWN).map((id) => api.find<Intent>("/intents/:id", { params: { id } })),
    ),
  ]);
  const intents = new Map(
    found.flatMap((each) => (each === null ? [] : [[each.body.intent_id, each.body] as const])),
  );
  return { solver, events, recent, intents, selected };
}

function performance({ body: solver }: ApiResult<Solver>, page: PageContext): Html {
  return totals([
    {
      label: "Bond",
      value: bondOf(page, solver.bond),
      note: solver.active === true ? "locked while the solver is active" : "may be withdrawn",
    },
    {
      label: "Win rate",
      value: percent(solver.win_rate),
      note: html`${number(solver.selected_bids)} of ${number(solver.bids)} bids selected`,
    },
    { label: "Fills", value: number(solver.fills), note: "a fill that fails leaves no trace on the chain" },
    {
      label: "Latency",
      value: seconds(solver.avg_latency_seconds),
      note: html`${number(solver.avg_latency_blocks)} blocks from submission to fill`,
    },
    {
      label: "Surplus",
      value: number(solver.avg_surplus_out),
      note: "units over the minimum, on average, of whatever tokens it paid out",
    },
  ]);
}

type Change = { readonly event: ListedEvent; readonly bond: bigint };

/** The registry's state after each change, in order. */
function bondChanges(events: readonly ListedEvent[]): readonly Change[] {
  return events
    .filter(({ type }) => type === "SolverRegistered" || type === "SolverBondChanged")
    .map((event) => ({ event, bond: BigInt(String(event.args.bond)) }));
}

function signed(units: bigint, shown: Html): Html {
  const tone = units > 0n ? "gain" : units < 0n ? "loss" : "soft";
  return html`<span class="${tone}">${units > 0n && "+"}${shown}</span>`;
}

function bondHistory(events: readonly ListedEvent[], page: PageContext): Html {
  const changes = bondChanges(events);
  if (changes.length === 0) return html`<p class="empty">No change of the bond is known at this block.</p>`;
  const most = changes.reduce((largest, { bond }) => (bond > largest ? bond : largest), 0n);
  const chart =
    changes.length > 1 &&
    sparkline(
      changes.map(({ bond }) => shareOf(bond, most)),
      `The bond after each of ${changes.length} changes`,
    );
  const rows = changes
    .map(({ event, bond }, index) => ({ event, bond, added: bond - (changes[index - 1]?.bond ?? 0n) }))
    .toReversed();
  return html`${chart}${table(
    [
      { label: "Block", kind: "number", cell: ({ event }) => block(page, event.block_number) },
      { label: "Time", cell: ({ event }) => time(event.block_timestamp) },
      {
        label: "Change",
        kind: "number",
        cell: ({ added }) => signed(added, bondOf(page, added.toString())),
      },
      { label: "Bond after it", kind: "number", cell: ({ bond }) => bondOf(page, bond.toString()) },
    ],
    rows,
    page,
  )}`;
}

type Intents = SolverData["intents"];

/** Both amounts of a fill or a bid, with the tokens of its intent. */
function amountsOf(intents: Intents): Parameters<typeof table<ListedEvent>>[0] {
  return [
    { label: "Intent", cell: (event, page) => recordLink(page, "intent", idOf(event)) },
    {
      label: "Took in",
      kind: "number",
      cell: (event, page) => amount(page, event.args.amountIn, intents.get(idOf(event))?.input_token),
    },
    {
      label: "Paid out",
      kind: "number",
      cell: (event, page) => amount(page, event.args.amountOut, intents.get(idOf(event))?.output_token),
    },
  ];
}

/** The owner's gain over the minimum of the intent; null if the intent is not known. */
function surplusOf(event: ListedEvent, intents: Intents, page: PageContext): HtmlValue {
  const intent = intents.get(idOf(event));
  if (intent === undefined) return amount(page, null, null);
  const units = BigInt(String(event.args.amountOut)) - BigInt(intent.amount_out_min);
  return signed(units, amount(page, units.toString(), intent.output_token));
}

function fillTable(events: readonly ListedEvent[], intents: Intents, page: PageContext): Html {
  const rows = newestFills(events);
  if (rows.length === 0) return html`<p class="empty">There is no fill of it here at this block.</p>`;
  return table(
    [
      ...amountsOf(intents),
      { label: "Over the minimum", kind: "number", cell: (event) => surplusOf(event, intents, page) },
      { label: "Block", kind: "number", cell: (event) => block(page, event.block_number) },
      { label: "Transaction", cell: (event) => transaction(page, event.tx_hash) },
    ],
    rows,
    page,
  );
}

function bidTable(
  events: readonly ListedEvent[],
  { intents, selected }: SolverData,
  page: PageContext,
): Html {
  const rows = newestBids(events);
  if (rows.length === 0) return html`<p class="empty">There is no bid of it here at this block.</p>`;
  const former = everSelected(events);
  const isSelected = (event: ListedEvent) => selected.has(bidOf(event));
  const selection = (event: ListedEvent) =>
    isSelected(event) ? " · selected" : former.has(bidOf(event)) && " · was selected";
  const [intent, ...amounts] = amountsOf(intents);
  return table(
    [
      ...(intent === undefined ? [] : [intent]),
      {
        label: "Bid",
        cell: (event) => html`#${String(event.args.bidId)}${selection(event)}`,
      },
      ...amounts.map((column) => ({
        ...column,
        label: column.label === "Took in" ? "Takes in" : "Pays out",
      })),
      { label: "Valid until", cell: (event) => time(event.args.validUntil) },
      { label: "Block", kind: "number", cell: (event) => block(page, event.block_number) },
    ],
    rows,
    page,
    (event) => (isSelected(event) ? "chosen" : ""),
  );
}

/** Before the last blocks there are others, so that among them the first has a previous change that is not read. */
function changesAround({ events, recent }: SolverData, page: PageContext): Pick<PageView, "changes"> {
  const known = changesWithin(recent ?? events, page);
  return recent !== null && known.changes?.previous === null ? {} : known;
}

function render(solverData: SolverData, page: PageContext): PageView {
  const { solver: found, events: data, recent, intents } = solverData;
  const { body: solver, call } = found;
  const source = recent ?? data;
  const events = eventsUpTo(data.events, page);
  const newest = eventsUpTo(source.events, page);
  const record = facts([
    ["Operator", addressLink(page, solver.operator)],
    ["Metadata", solver.metadata_uri === "" ? null : foreignUri(solver.metadata_uri)],
    ["Hash of its capabilities", hash(page, solver.capabilities_hash)],
    ["Registered", html`block ${block(page, solver.block_number)}`],
  ]);
  const cut =
    recent !== null &&
    notice(
      "info",
      html`The events of this solver are not looked through to the end. Fills and bids are the newest, the bond is that of the first events; the API has all of them.`,
    );
  return {
    kicker: "Solver",
    title: `Solver #${solver.solver_id}`,
    beside: stateOf(solver.active),
    lead: "Competes for intents with bids, and fills those whose owner selects it.",
    main: html`${performance(found, page)}${cut}${unreadNotice(source)}
<div class="columns"><div>${card("Record", html`${record}${sourceLinks(page, call)}`)}</div><div>${card("Bond", bondHistory(events, page))}</div></div>
${card("Newest fills", html`${fillTable(newest, intents, page)}${sourceLinks(page, source.call)}`)}
${card("Newest bids", html`${bidTable(newest, solverData, page)}${sourceLinks(page, source.call)}`)}`,
    ...changesAround(solverData, page),
  };
}

export const solverPage = definePage({
  path: "/solvers/:id",
  findExample: async (get) => {
    const { fill } = await findFirst(get, "/intents?status=filled&limit=1", "intents");
    const { solver } = fill as { readonly solver: string };
    const { solver_id } = await findFirst(get, `/solvers?operator=${solver}`, "solvers");
    return { params: { id: String(solver_id) } };
  },
  load,
  render,
});
