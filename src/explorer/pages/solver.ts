// One solver: its performance, the history of its bond, and its newest fills and bids.
import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { intent } from "../../protocol/reads/intents.ts";
import type { solver } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { sourceLinks } from "../api-call.ts";
import type { ApiReader } from "../api-reader.ts";
import { sparkline } from "../charts.ts";
import { amount, card, notice, number, recordLink, totals, withNoun } from "../components.ts";
import { type PageContext, type PageRequest, shownNumber } from "../context.ts";
import { type EventsData, eventsUpTo, type ListedEvent, readEvents, readNewestEvents } from "../events.ts";
import { activeStatus, type Item, registeredIn } from "../fields.ts";
import { shareOf } from "../format.ts";
import { table } from "../list.ts";
import { deadlineOf, percent, seconds } from "../lists.ts";
import { padKeys } from "../pad-keys.ts";
import { findFirst } from "../page.ts";
import { changesWithin, columns, defineRecordPage, recordCard, unreadNotice } from "../record-page.ts";
import { bidList, signed } from "./intent.ts";

type Solver = RecordOf<typeof solver>;
type Intent = RecordOf<typeof intent>;
/** The intents behind the newest fills and bids, by id. */
type Intents = ReadonlyMap<string, Intent>;

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

/** A selection may move to the bid of another solver, of which the events of this one say nothing. */
async function findSelected(api: ApiReader, events: readonly ListedEvent[]): Promise<ReadonlySet<string>> {
  const former = everSelected(events);
  const ids = new Set(
    newestBids(events)
      .filter((each) => former.has(bidOf(each)))
      .map(idOf),
  );
  const pages = await Promise.all(
    padKeys(ids, ROWS_SHOWN).map((id) =>
      api.list(bidList, { params: { id }, query: { status: "selected", limit: "1" } }),
    ),
  );
  return new Set(pages.flatMap(({ records }) => records.map(({ bid_id }) => bid_id)));
}

/** The newest events, in the order of the chain. */
async function readRecent(api: ApiReader, solver: string, block: string | null): Promise<EventsData> {
  const { call, events, next } = await readNewestEvents(api, { solver, from: block, limit: "1000" });
  return { call, events: events.toReversed(), isCut: next !== null };
}

/** Reads the newest events too if the solver has more than a page reads. */
async function load(api: ApiReader, { solver_id, block_number }: Solver, request: PageRequest) {
  // Two requests are for the last blocks and the intents.
  const events = await readEvents(api, block_number, { solver: solver_id }, 2);
  const head = await api.head();
  const recent = events.isCut ? await readRecent(api, solver_id, shownNumber(request)) : null;
  const shown = eventsUpTo((recent ?? events).events, { head });
  const ids = new Set([...newestFills(shown), ...newestBids(shown)].map(idOf));
  const [selected, found] = await Promise.all([
    findSelected(api, shown),
    Promise.all(padKeys(ids, 2 * ROWS_SHOWN).map((id) => api.findRecord<Intent>("intent", id))),
  ]);
  const intents: Intents = new Map(
    found.flatMap((each) => (each === null ? [] : [[each.body.intent_id, each.body]])),
  );
  return { events, recent, intents, selected };
}

function performance(solver: Solver, page: PageContext): Html {
  return totals([
    {
      label: "Bond",
      value: amount(page, solver.bond, ZERO_ADDRESS),
      note: solver.active ? "locked while the solver is active" : "may be withdrawn",
    },
    {
      label: "Win rate",
      value: percent(solver.win_rate),
      note: html`${number(solver.selected_bids)} of ${withNoun(solver.bids, "bid")} selected`,
    },
    { label: "Fills", value: number(solver.fills), note: "a fill that fails leaves no trace on the chain" },
    {
      label: "Latency",
      value: seconds(solver.avg_latency_seconds),
      note: html`${solver.avg_latency_blocks !== null && withNoun(Math.round(Number(solver.avg_latency_blocks)), "block")} from submission to fill`,
    },
  ]);
}

/** The bond after each change, the newest first. */
function bondChanges(events: readonly ListedEvent[]) {
  const changes = events.filter(({ type }) => type === "SolverRegistered" || type === "SolverBondChanged");
  const bonds = changes.map(({ args }) => BigInt(String(args.bond)));
  return changes
    .map((event, index) => {
      const bond = bonds[index] ?? 0n;
      return { ...event, bond, added: bond - (bonds[index - 1] ?? 0n) };
    })
    .toReversed();
}

function bondHistory(events: readonly ListedEvent[], page: PageContext): Html {
  const changes = bondChanges(events);
  if (changes.length === 0) return html`<p class="empty">No change of the bond is known at this block.</p>`;
  const most = changes.reduce((largest, { bond }) => (bond > largest ? bond : largest), 0n);
  const chart =
    changes.length > 1 &&
    sparkline(
      changes.map(({ bond }) => shareOf(bond, most)).toReversed(),
      `The bond after each of ${changes.length} changes`,
    );
  return html`${chart}${table(
    [
      ["Block", "block_number"],
      ["Time", "block_timestamp"],
      ["Change", ({ added }) => signed(added, ZERO_ADDRESS, page), "number"],
      ["Bond after it", ({ bond }) => amount(page, bond.toString(), ZERO_ADDRESS), "number"],
    ],
    changes,
    page,
  )}`;
}

/** The intent, and both amounts of a fill or a bid with the tokens of its intent. */
function amountsOf(
  intents: Intents,
  [taken, paid]: readonly [string, string],
): readonly [Item<ListedEvent>, Item<ListedEvent>, Item<ListedEvent>] {
  return [
    ["Intent", (event, page) => recordLink(page, "intent", idOf(event))],
    [
      taken,
      (event, page) => amount(page, event.args.amountIn, intents.get(idOf(event))?.input_token),
      "number",
    ],
    [
      paid,
      (event, page) => amount(page, event.args.amountOut, intents.get(idOf(event))?.output_token),
      "number",
    ],
  ];
}

/** The owner's gain over the minimum of the intent; null if the intent is not known. */
function surplusOf(event: ListedEvent, intents: Intents, page: PageContext): HtmlValue {
  const intent = intents.get(idOf(event));
  if (intent === undefined) return amount(page, null, null);
  return signed(
    BigInt(String(event.args.amountOut)) - BigInt(intent.amount_out_min),
    intent.output_token,
    page,
  );
}

function fillTable(events: readonly ListedEvent[], intents: Intents, page: PageContext): Html {
  const rows = newestFills(events);
  if (rows.length === 0) return html`<p class="empty">There is no fill of it here at this block.</p>`;
  return table(
    [
      ...amountsOf(intents, ["Took in", "Paid out"]),
      ["Over the minimum", (event) => surplusOf(event, intents, page), "number"],
      ["Block", "block_number"],
      ["Transaction", "tx_hash"],
    ],
    rows,
    page,
  );
}

/** `selected` has the newest bids that are selected at the shown block, as the API names them. */
function bidTable(
  events: readonly ListedEvent[],
  { intents, selected }: { readonly intents: Intents; readonly selected: ReadonlySet<string> },
  page: PageContext,
): Html {
  const rows = newestBids(events);
  if (rows.length === 0) return html`<p class="empty">There is no bid of it here at this block.</p>`;
  const former = everSelected(events);
  const isSelected = (event: ListedEvent) => selected.has(bidOf(event));
  const selection = (event: ListedEvent) =>
    isSelected(event) ? " · selected" : former.has(bidOf(event)) && " · was selected";
  const [intent, ...amounts] = amountsOf(intents, ["Takes in", "Pays out"]);
  return table(
    [
      intent,
      ["Bid", (event) => html`#${String(event.args.bidId)}${selection(event)}`],
      ...amounts,
      [
        "Valid until",
        (event) =>
          deadlineOf({
            status: intents.get(idOf(event))?.status ?? "OPEN",
            deadline: String(event.args.validUntil),
          }),
      ],
      ["Block", "block_number"],
    ],
    rows,
    page,
    { rowClass: (event) => (isSelected(event) ? "chosen" : "") },
  );
}

const RECORD: readonly Item<Solver>[] = [
  ["Operator", "operator"],
  ["Metadata", "metadata_uri"],
  ["Hash of its capabilities", "capabilities_hash"],
  registeredIn,
];

export const solverPage = defineRecordPage({
  kind: "solver",
  id: "solver_id",
  documents: ["capabilities_hash"],
  findExample: async (get) => {
    const { fill } = await findFirst(get, "/intents?status=filled&limit=1");
    const { solver } = fill as unknown as { readonly solver: string };
    const { solver_id } = await findFirst(get, `/solvers?operator=${solver}`);
    return { params: { id: String(solver_id) } };
  },
  load,
  state: ({ record }) => activeStatus(record.active),
  lead: () => "Competes for intents with bids, and fills those whose owner selects it.",
  main: (data, page) => {
    const { record, events, recent, intents } = data;
    const source = recent ?? events;
    const newest = eventsUpTo(source.events, page);
    const cut =
      recent !== null &&
      notice(
        "info",
        html`The events of this solver are not looked through to the end. Fills and bids are the newest, the bond is that of the first events; the API has all of them.`,
      );
    return html`${performance(record, page)}${cut}${unreadNotice(source)}
${columns(recordCard("Record", RECORD, data, page), card("Bond", bondHistory(eventsUpTo(events.events, page), page)))}
${card("Newest fills", html`${fillTable(newest, intents, page)}${sourceLinks(page, source.call)}`)}
${card("Newest bids", html`${bidTable(newest, data, page)}${sourceLinks(page, source.call)}`)}`;
  },
  // Before the last blocks there are others: among them the first has a previous change that is not read.
  changes: ({ events, recent }, page) => {
    const known = changesWithin(recent ?? events, page);
    return recent !== null && known?.previous === null ? undefined : known;
  },
});
