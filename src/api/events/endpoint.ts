// GET /events: the events of the protocol as they happen (Server-Sent Events), or as pages of JSON.
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { parseAddress } from "../../lib/hex.ts";
import { EVENT_TYPES, type EventSubject } from "../../protocol/event-filter.ts";
import { EVENT_PAGE } from "../../protocol/event-page.ts";
import {
  defineEndpoint,
  type Endpoint,
  type EndpointRequest,
  type EndpointResponse,
  type RequestOf,
} from "../../schema/endpoint.ts";
import {
  addressParameter,
  enumParameter,
  type Parameter,
  type ParameterKind,
  queryParameter,
  uintParameter,
} from "../../schema/parameter.ts";
import { formatHeadHeaders, HEAD_HEADERS } from "../../schema/reads/read.ts";
import { FINALITIES } from "../../store/index/event-logs.ts";
import {
  CURSOR_BLOCK_MAX,
  EVENT_ORDERS,
  type EventSelection,
  type EventStart,
  formatLines,
  formatPage,
  hasCursorLength,
} from "./event-page.ts";
import type { ReadEvents } from "./read-events.ts";
import type { EventStreams } from "./streams.ts";

const STREAM_TYPE = "text/event-stream";
const LINES_TYPE = "application/x-ndjson";
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
// Rows make an event some five times as large, and cost a part of its block's folding.
const ROWS_LIMIT_MAX = 100;

const fromKind: ParameterKind<string> = {
  json: { type: "string", pattern: "^(genesis|head|0|[1-9][0-9]*|[A-Za-z0-9_-]{100,})$" },
  parse: (text) => {
    parseStart(text);
    return text;
  },
};

const limitKind: ParameterKind<number> = {
  json: { type: "integer", minimum: 1, default: LIMIT_DEFAULT },
  parse: (text) => {
    if (/^[1-9][0-9]{0,14}$/.test(text)) return Math.min(Number(text), LIMIT_MAX);
    throw new Fault(
      "INPUT_INVALID",
      `limit must be a whole number from 1; more than ${LIMIT_MAX} counts as that.`,
    );
  },
};

const typesKind: ParameterKind<readonly string[]> = {
  json: { type: "string", pattern: "^[A-Za-z0-9]+(,[A-Za-z0-9]+)*$" },
  parse: (text) => {
    const types = text.split(",");
    if (types.every((name) => EVENT_TYPES.includes(name))) return types;
    throw new Fault(
      "INPUT_INVALID",
      `type must be names of events separated by commas, of ${EVENT_TYPES.join(", ")}.`,
    );
  },
};

const idOrAddressKind: ParameterKind<string> = {
  json: { type: "string", pattern: "^(0x[0-9a-fA-F]{40}|0|[1-9][0-9]*)$" },
  parse: (text, name) =>
    text.startsWith("0x") ? parseAddress(text, name) : parseUint(text, name).toString(),
};

export const SUBJECT_PARAMETERS: readonly Parameter<string, EventSubject, false>[] = [
  queryParameter(
    "agent",
    idOrAddressKind,
    "Only events about this agent: by its id, or by the address with which it acts.",
    "1",
  ),
  queryParameter("intent", uintParameter(), "Only events about this intent.", "1"),
  queryParameter(
    "account",
    addressParameter,
    "Only events in which this address takes part, in whatever role; not as token or target.",
    `0x${"11".repeat(20)}`,
  ),
  queryParameter(
    "merchant",
    idOrAddressKind,
    "Only events about this merchant: by its id, or by the address that owns it or is paid.",
    "1",
  ),
  queryParameter("service", uintParameter(), "Only events about this service.", "1"),
  queryParameter(
    "solver",
    idOrAddressKind,
    "Only events about this solver: by its id, or by its address as in bids and fills.",
    "1",
  ),
];

const LAST_EVENT_ID = "last-event-id";

const parameters = [
  queryParameter(
    "from",
    fromKind,
    "The position to begin at: after a cursor, with a block number, at genesis or at the head. Default: head for a stream and for order=desc, genesis for any other page.",
    "genesis",
  ),
  queryParameter(
    "order",
    enumParameter(EVENT_ORDERS),
    "desc: a page with the newest events first, from the head or a block on downwards. A cursor belongs to one order, and keeps the finality of the first page. A stream has no order.",
    "asc",
  ),
  queryParameter(
    "finality",
    enumParameter(FINALITIES),
    "When an event is delivered: as soon as it is indexed (instant, the default), once nodes call its block safe, or once it is final (finalized). Only what is final is never undone.",
    "finalized",
  ),
  queryParameter(
    "limit",
    limitKind,
    `Events per page, at most ${LIMIT_MAX}; a stream ignores it. A page may have fewer, or none, while has_more is true.`,
    2,
  ),
  queryParameter(
    "type",
    typesKind,
    "Only events of these types, separated by commas.",
    "IntentSubmitted,IntentFilled",
  ),
  queryParameter(
    "include",
    enumParameter(["rows", "parts", "rows,parts"]),
    `rows: with each event the rows that it has changed, before and after it; a page then has at most ${ROWS_LIMIT_MAX} events. parts: with each event its description in parts, with the token of each amount; a submitted intent then has its amounts.`,
    "rows",
  ),
  ...SUBJECT_PARAMETERS,
  {
    name: LAST_EVENT_ID,
    in: "header",
    required: false,
    kind: { json: { type: "string" }, parse: (text) => text },
    description:
      "For a stream: the id of the last message received, instead of from. An EventSource sends it itself.",
    example: "",
  },
] as const satisfies readonly Parameter[];

type EventsQuery = RequestOf<typeof parameters, null>;

export function createEventsEndpoint(options: {
  readonly readEvents: ReadEvents;
  readonly streams: Pick<EventStreams, "reserve" | "open">;
}): Endpoint {
  const { readEvents, streams } = options;
  return defineEndpoint({
    method: "GET",
    path: "/events",
    operationId: "readEvents",
    summary: "Events as they happen, with undo after a reorg",
    description: `Every event of the protocol, explained, ordered by block and log index. With Accept: ${STREAM_TYPE} a stream that stays open: messages are events, undo, progress and rejected, and their ids are cursors. Otherwise a page, as JSON or, with Accept: ${LINES_TYPE}, as lines.`,
    tag: "Events",
    parameters,
    body: null,
    responses: { 200: EVENT_PAGE },
    responseHeaders: { 200: HEAD_HEADERS },
    otherTypes: {
      [LINES_TYPE]: { type: "string", description: "A line for each of undo, event and progress." },
      [STREAM_TYPE]: { type: "string", description: "Server-Sent Events." },
    },
    stream(request) {
      if (!asksForStream(request)) return null;
      const { client, values } = request;
      if (values.order === "desc")
        throw new Fault("INPUT_INVALID", "A stream goes forwards; read pages with order=desc.");
      const opened = { client, from: startOfStream(request), ...readSelection(request) };
      const cancel = streams.reserve(client);
      return {
        headers: { "content-type": `${STREAM_TYPE}; charset=utf-8`, vary: "accept" },
        open: (stream) => streams.open(stream, { ...opened, cancel }),
        cancel,
      };
    },
    async handle(request): Promise<EndpointResponse> {
      const { values, client } = request;
      const { order = "asc", from = order === "desc" ? "head" : "genesis" } = values;
      const selection = readSelection(request);
      const limit = Math.min(values.limit ?? LIMIT_DEFAULT, selection.rows ? ROWS_LIMIT_MAX : LIMIT_MAX);
      const page = await readEvents({ from: parseStart(from), order, limit, client, ...selection });
      const headers = { ...formatHeadHeaders(page.head), vary: "accept" };
      if (!accepts(request, LINES_TYPE)) {
        return { status: 200, body: formatPage(page), headers };
      }
      const type = { "content-type": `${LINES_TYPE}; charset=utf-8` };
      return { status: 200, body: Buffer.from(formatLines(page)), headers: { ...headers, ...type } };
    },
  });
}

/** Whether the request gets a stream, which stays open. */
export const asksForStream = (request: Pick<EndpointRequest, "headers">) => accepts(request, STREAM_TYPE);

/** Other types are served as JSON, to clients that ask for nothing in particular too. */
function accepts({ headers }: Pick<EndpointRequest, "headers">, type: string): boolean {
  const accepted = (headers.accept ?? "").toLowerCase().split(",");
  return accepted.some((each) => each.split(";", 1)[0]?.trim() === type);
}

/** An EventSource repeats its URL when it connects again, so that the header counts. */
function startOfStream({ headers, values }: EventsQuery): EventStart {
  const lastId = headers[LAST_EVENT_ID];
  if (lastId) return { cursor: lastId };
  return values.from === undefined ? { end: "head" } : parseStart(values.from);
}

function readSelection({ values }: EventsQuery): EventSelection {
  const subjects = SUBJECT_PARAMETERS.flatMap(({ name }) =>
    values[name] === undefined ? [] : [[name, values[name]]],
  );
  const { type: types = null, finality = "instant", include = "" } = values;
  const included = include.split(",");
  return {
    filter: { types, subjects: Object.fromEntries(subjects) },
    finality,
    rows: included.includes("rows"),
    parts: included.includes("parts"),
  };
}

export function parseStart(given: string): EventStart {
  if (given === "genesis" || given === "head") return { end: given };
  if (/^[0-9]{1,15}$/.test(given)) {
    return { block: Number(parseUint(given, "from", BigInt(CURSOR_BLOCK_MAX))) };
  }
  if (hasCursorLength(given)) return { cursor: given };
  throw new Fault("INPUT_INVALID", "from must be a cursor, a block number, genesis or head.");
}
