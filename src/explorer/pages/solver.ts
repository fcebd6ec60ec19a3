// One solver: its performance, the history of its bond, and its newest fills and bids.
import { type Html, type HtmlValue, html } from "../../lib/html.ts";
import type { intent } from "../../protocol/reads/intents.ts";
import type { solver } from "../../protocol/reads/registries.ts";
import type { RecordOf } from "../../schema/reads/record.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import type { ApiReader } from "../api-reader.ts";
import {
  amount,
  card,
  number,
  recordLink,
  seconds,
  sparkline,
  totals,
  unknown,
  withNoun,
} from "../components.ts";
import { type PageContext, sourceLinks } from "../context.ts";
import { type EventsData, type ListedEvent, newestEvents, readEvents } from "../events.ts";
import { activeStatus, type Item, padKeys, writtenAt } from "../fields.ts";
import { shareOf } from "../format.ts";
import { table } from "../list.ts";
import { deadlineOf, percent } from "../lists.ts";
import { columns, defineRecordPage, findFirst, unreadNotice } from "../page.ts";
import { bidList, signed } from "./intent.ts";

type Solver = RecordOf<typeof solver, "provenance">;
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

/** The API also lists bids of others on an intent while a bid of this solver is selected for it. */
const isOwn = ({ args }: ListedEvent, { operator }: Solver) =>
  args.solver === undefined || args.solver === operator;

async function load(api: ApiReader, record: Solver) {
  // Two requests are for the last blocks and the intents.
  const data = await readEvents(api, record.block_number, { solver: record.solver_id }, 2);
  const events = { ...data, events: data.events.filter((event) => isOwn(event, record)) };
  const newest = newestEvents(events, { head: await api.head() });
  const ids = new Set([...newestFills(newest), ...newestBids(newest)].map(idOf));
  const [selected, found] = await Promise.all([
    findSelected(api, newest),
    Promise.all(padKeys(ids, 2 * ROWS_SHOWN).map((id) => api.findRecord<Intent>("intent", id))),
  ]);
  const intents: Intents = new Map(
    found.flatMap((each) => (each === null ? [] : [[each.body.intent_id, each.body]])),
  );
  return { events, intents, selected };
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

/** The bond after each change, the newest first. The change itself is unknown if the bond before it is. */
function bondChanges(events: readonly ListedEvent[]) {
  const changes = events.filter(({ type }) => type === "SolverRegistered" || type === "SolverBondChanged");
  const bonds = changes.map(({ args }) => BigInt(String(args.bond)));
  return changes
    .map((event, index) => {
      const bond = bonds[index] ?? 0n;
      const before = event.type === "SolverRegistered" ? 0n : (bonds[index - 1] ?? null);
      return { ...event, bond, added: before === null ? null : bond - before };
    })
    .toReversed();
}

function bondHistory(data: EventsData, page: PageContext): Html {
  const changes = bondChanges(newestEvents(data, page));
  if (changes.length === 0)
    return html`<p class="empty">No change of the bond ${data.unreadBefore === null ? "is known at this block" : html`since block ${number(data.unreadBefore)}`}.</p>`;
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
      ["Change", ({ added }) => (added === null ? unknown() : signed(added, ZERO_ADDRESS, page)), "number"],
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

export const solverPage = defineRecordPage({
  kind: "solver",
  id: "solver_id",
  documents: ["capabilities_hash"],
  findExample: async (get) => {
    const { fill } = await findFirst<Intent>(get, "/intents?status=filled&limit=1");
    const { solver_id } = await findFirst(get, `/solvers?operator=${fill?.solver}`);
    return { params: { id: String(solver_id) } };
  },
  load,
  state: ({ record }) => activeStatus(record.active),
  lead: () => "Competes for intents with bids, and fills those whose owner selects it.",
  facts: [
    ["Operator", "operator"],
    ["Metadata", "metadata_uri"],
    ["Hash of its capabilities", "capabilities_hash"],
    ...writtenAt("Registered"),
  ],
  main: (data, page, facts) => {
    const { record, events, intents } = data;
    const newest = newestEvents(events, page);
    return html`${performance(record, page)}${unreadNotice(events, page)}
${columns(facts, card("Bond", bondHistory(events, page)))}
${card("Newest fills", html`${fillTable(newest, intents, page)}${sourceLinks(page, events.call)}`)}
${card("Newest bids", html`${bidTable(newest, data, page)}${sourceLinks(page, events.call)}`)}`;
  },
});
