// Reads events from any position, in chain order or backwards, and notices when a reorg has removed it: for whatever delivers them.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import {
  createLogDecoder,
  type DecodedEvent,
  explainEvent,
  explainParts,
  type LogDecoder,
} from "../../protocol/decode-logs.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import {
  EventLinks,
  type FilteredEvent,
  matchesFilter,
  selectLinks,
  topicsOf,
  undecidedSubjects,
} from "../../protocol/event-filter.ts";
import type { EventRecord } from "../../protocol/event-page.ts";
import type { BlockId, ChainLog } from "../../schema/chain-log.ts";
import { type IndexHead, type RunRead, toRecords } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import {
  decodeAncestor,
  decodeEventLogs,
  END_OF_BLOCK,
  type EventLogs,
  type EventLogsQuery,
  type PositionedLog,
  selectAncestor,
  selectEventLogs,
} from "../../store/index/event-logs.ts";
import type { StoredDeployment } from "../../store/index/prepare.ts";
import {
  CURSOR_BLOCK_MAX,
  type DeliveredEvent,
  type DeploymentId,
  describeProgress,
  type EventCursor,
  type EventStart,
  type EventsPage,
  type EventsRequest,
  formatCursor,
  identifyDeployment,
  parseCursor,
  rejectForeignCursor,
} from "./event-page.ts";
import { type EventRows, type EventRowsLimits, EventRowsReader } from "./event-rows.ts";

export type ReadEvents = (request: EventsRequest) => Promise<EventsPage>;

type EventReaderOptions = {
  readonly run: RunRead;
  /** A reader of one replica that has the block, for pages of history; null without such a replica. */
  readonly pinHistory?: (block: bigint) => RunRead | null;
  /** Null while nothing is indexed. */
  readonly readDeployment: () => Promise<StoredDeployment | null>;
  readonly rowsLimits?: Partial<EventRowsLimits>;
};

/**
 * The meaning of this index's cursors and logs. It changes only if the schema is emptied and claimed by another
 * deployment.
 */
type IndexMeaning = {
  readonly decoder: LogDecoder;
  readonly deployment: DeploymentId;
  readonly fingerprint: string;
};

// A fork, or another deployment, between two statements is rare; several in a row are a fault elsewhere.
const ATTEMPTS_MAX = 3;

export function createEventReader(options: EventReaderOptions): ReadEvents {
  const { run, pinHistory, readDeployment, rowsLimits } = options;
  const rowsReader = new EventRowsReader(rowsLimits);
  let meaning: IndexMeaning | null = null;

  async function readMeaning(): Promise<IndexMeaning> {
    if (meaning !== null) return meaning;
    const identity = await readDeployment();
    if (!identity) throw new Fault("INDEX_EMPTY", "Nothing is indexed yet.");
    const contracts = identity.contracts as Deployment["contracts"];
    meaning = {
      decoder: createLogDecoder({ contracts }),
      deployment: identifyDeployment(identity),
      fingerprint: identity.fingerprint,
    };
    return meaning;
  }

  /** Null if the chain has forked, or another deployment has come, between two statements. */
  async function readPage(readRows: RunRead, known: IndexMeaning, request: EventsRequest) {
    const cursor = toPosition(request, known.deployment);
    const query = buildQuery(cursor, request);
    const read = await readRows({ sql: selectEventLogs(query), ...costOf(request.client) }, (head, rows) => ({
      head,
      found: decodeEventLogs(rows, query),
    }));
    if (read.found.deploymentFingerprint !== known.fingerprint) {
      meaning = null;
      return null;
    }
    if (isCursor(cursor)) {
      assertFinalBlockKept(cursor, read.found);
      if (!isOnChain(cursor, read.found, read.head)) return await readUndo(readRows, cursor);
    }
    assertStartReached(cursor, read.found, request);
    const events = await linkEvents(readRows, decodeLogs(read.found, known.decoder), request);
    if (events === null) return null;
    const blocks = request.rows === true ? listBlocks(events, request) : [];
    const rows = blocks.length === 0 ? null : await rowsReader.read(blocks, known, request.client, readRows);
    if (rows === null && blocks.length > 0) return null;
    return collectEvents({ cursor, ...read, events, rows, request }, known.deployment);
  }

  /**
   * Only a page after which there is more, of a position that is on the chain there: what looks like the end, or like a
   * reorg, may be a replica that is behind. Null is for the primary to read.
   */
  async function readFromReplica(request: EventsRequest): Promise<EventsPage | null> {
    if (request.client === null || pinHistory === undefined) return null;
    const known = await readMeaning();
    const replica = pinHistory(blockOf(toPosition(request, known.deployment)));
    if (replica === null) return null;
    const page = await readPage(replica, known, request).catch(() => null);
    return page !== null && page.undo === null && page.hasMore ? page : null;
  }

  return async (request) => {
    const past = await readFromReplica(request);
    if (past !== null) return past;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const page = await readPage(run, await readMeaning(), request);
      if (page !== null) return page;
    }
    throw new Fault("OVERLOADED", "The chain forks faster than its events can be read; try again.");
  };
}

/** The block that a replica must have; none has the newest one for certain. */
function blockOf(position: ReturnType<typeof toPosition>): bigint {
  if ("block" in position) return BigInt(Math.min(position.block, Number.MAX_SAFE_INTEGER));
  return position.end === "head" ? BigInt(Number.MAX_SAFE_INTEGER) : 0n;
}

const costOf = (client: string | null) =>
  ({ cost: client === null ? "quick" : "slow", client: client ?? "" }) as const;

function decodeLogs({ logs }: EventLogs, decoder: LogDecoder): readonly LoggedEvent[] {
  return logs.map((each) => ({
    ...each,
    event: each.log && decoder.decode(each.log, BigInt(each.log.blockTimestamp)),
  }));
}

/**
 * Adds what the rows say about events of which the arguments say too little. A second statement, because the first has
 * to be decoded; null if the chain has forked between them, after which rows and events would not belong together.
 */
async function linkEvents(
  run: RunRead,
  logged: readonly LoggedEvent[],
  { filter, client, linkedSubjects = [], parts = false }: EventsRequest,
): Promise<readonly LoggedEvent[] | null> {
  const links = new EventLinks();
  let newest: LoggedEvent | null = null;
  for (const each of logged) {
    if (each.event === null) continue;
    const tokens = parts ? (["input_token", "output_token"] as const) : [];
    const subjects = [...undecidedSubjects(each.event, filter), ...linkedSubjects, ...tokens];
    if (links.add(each.event, subjects) && each.block >= (newest?.block ?? 0)) newest = each;
  }
  if (newest === null) return logged;
  const { block, hash } = newest;
  const found = await run({ sql: selectLinks(links, block), ...costOf(client) }, (_, result) => {
    const rows = toRecords(result);
    return rows.some(({ link, name }) => link === null && `0x${String(name)}` === hash)
      ? links.decode(rows)
      : null;
  });
  if (found === null) return null;
  return logged.map((each) => {
    const linked = each.event && found.get(each.event);
    return each.event && linked ? { ...each, event: { ...each.event, linked } } : each;
  });
}

/** The blocks of the events that a page may have. */
function listBlocks(logged: readonly LoggedEvent[], { filter, limit }: EventsRequest): readonly BlockId[] {
  const wanted = logged.filter(({ event }) => event && matchesFilter(event, filter)).slice(0, limit);
  return [...new Map(wanted.map(({ block: number, hash }) => [number, { number, hash }])).values()];
}

/**
 * The common ancestor, as the rollbacks have recorded it. A branch that none recorded (an earlier version rolled back,
 * or the chain was indexed again) is undone down to the block that was final when the cursor was issued.
 */
async function readUndo(run: RunRead, cursor: EventCursor): Promise<EventsPage> {
  if (cursor.hash === null) throw new Error("a cursor without a hash is final");
  return await run({ sql: selectAncestor(cursor.hash), cost: "quick" }, (head, rows) => {
    const ancestor = decodeAncestor(rows);
    const finalized = Number(head.finalized);
    // A block above the cursor is not its ancestor, whatever the cursor says: an undo only ever leads back.
    const isKnown =
      ancestor !== null && ancestor.number >= cursor.finalized && ancestor.number < cursor.block;
    const lastLogBlock = isKnown ? ancestor.lastLogBlock : null;
    const block = isKnown ? ancestor.number : cursor.finalized;
    const { before = null } = cursor;
    const isReplaced = before !== null && before.block > block;
    const next: EventCursor = {
      deployment: cursor.deployment,
      block,
      hash: isKnown ? ancestor.hash : null,
      logIndex: END_OF_BLOCK,
      finalized: isKnown ? finalized : cursor.finalized,
      lastLogBlock: lastLogBlock && lastLogBlock.number > finalized ? lastLogBlock : null,
      before: isReplaced ? { block, logIndex: END_OF_BLOCK } : before,
    };
    return {
      undo: { block_number: String(next.block), block_hash: next.hash, cursor: formatCursor(next) },
      events: [],
      progress: describeProgress(next, head),
      cursor: next,
      hasMore: true,
      isAhead: false,
      head,
      timestamp: 0,
    };
  });
}

/**
 * A log with its event; null if the log is not an event of the protocol, or has a type that the filter does not want.
 */
type LoggedEvent = PositionedLog & { readonly event: (DecodedEvent & FilteredEvent) | null };

type Collected = {
  readonly cursor: EventPosition;
  readonly found: EventLogs;
  readonly events: readonly LoggedEvent[];
  /** Null if the request is for none. */
  readonly rows: EventRows | null;
  readonly head: IndexHead;
  readonly request: EventsRequest;
};

function collectEvents(collected: Collected, deployment: DeploymentId): EventsPage {
  const { cursor, found, head, rows, request } = collected;
  const { filter, limit } = request;
  const cursorAt = createCursors(collected, deployment);
  const events: DeliveredEvent[] = [];
  let bytes = 0;
  let last: PositionedLog | null = null;
  let isCut = false;
  for (const each of collected.events) {
    isCut = events.length >= limit;
    if (isCut) break;
    const { event } = each;
    if (each.log && event && matchesFilter(event, filter)) {
      const changed = rows?.rowsOf(each.log);
      // Its block is for the next page: folding it as well would take too long.
      isCut = rows !== null && changed === undefined;
      if (isCut) break;
      const text = formatCursor(cursorAt(each));
      // A filter may have linked rows as well: the description of an event does not depend on it.
      const explained = request.parts === true ? event : { ...event, linked: undefined };
      const record = describeEvent(explained, each.log, text, {
        ...(changed === undefined ? {} : { rows: changed }),
        ...(request.parts === true && { parts: explainParts(event) }),
      });
      bytes += Buffer.byteLength(JSON.stringify(record));
      // At least one, so that every page advances.
      isCut = bytes > PAGE_BYTES_MAX && events.length > 0;
      if (isCut) break;
      events.push({ event: { ...event, args: record.args }, record });
    }
    last = each;
  }
  const hasMore = isCut || found.hasMore;
  const isAhead = request.order !== "desc" && isCursor(cursor) && cursor.block > found.upTo.number;
  const next = cursorAt(hasMore ? last : null);
  return {
    undo: null,
    events,
    progress: describeProgress(next, head),
    cursor: next,
    hasMore,
    isAhead,
    head,
    timestamp: found.upTo.timestamp,
  };
}

/** The cursor after a log, or at the end of everything that may be read. Backwards every one has the same newest block. */
function createCursors(collected: Collected, deployment: DeploymentId) {
  const { cursor, head, request } = collected;
  const finalized = Number(head.finalized);
  if (request.order !== "desc") {
    return (log: PositionedLog | null): EventCursor => {
      if (log === null) return endCursor(collected, deployment);
      const { block, hash, logIndex } = log;
      return { deployment, block, hash, logIndex, finalized, lastLogBlock: null };
    };
  }
  const newest = isCursor(cursor) ? cursor : endCursor(collected, deployment);
  return (log: PositionedLog | null): EventCursor => {
    const { block, logIndex } = log ?? { block: 0, logIndex: 0 };
    return { ...newest, before: { block, logIndex } };
  };
}

/** Behind everything that may be read; a reader who is further already stays there. */
function endCursor(
  { cursor: position, found: { upTo, upToLastLogBlock }, head }: Collected,
  deployment: DeploymentId,
): EventCursor {
  if (isCursor(position) && position.block > upTo.number) return position;
  const finalized = Number(head.finalized);
  const isHead = upTo.number === Number(head.number);
  return {
    deployment,
    block: upTo.number,
    hash: isHead ? (head.hash as Hex) : upTo.hash,
    logIndex: END_OF_BLOCK,
    finalized,
    lastLogBlock: upToLastLogBlock && upToLastLogBlock.number > finalized ? upToLastLogBlock : null,
  };
}

function describeEvent(
  event: DecodedEvent,
  log: ChainLog,
  cursor: string,
  included: Pick<EventRecord, "rows" | "parts">,
): EventRecord {
  const { eventName, args, description } = explainEvent(event);
  return {
    id: `${log.blockHash}-${log.logIndex}`,
    type: eventName,
    contract: event.contract,
    address: event.address,
    args,
    description,
    tx_hash: log.transactionHash,
    log_index: log.logIndex,
    block_number: String(log.blockNumber),
    block_hash: log.blockHash,
    block_timestamp: String(log.blockTimestamp),
    cursor,
    ...included,
  };
}

// Logs that one statement looks through: some 10 ms of the database at most. A rare filter needs several pages.
const LOGS_MAX = 1_000;

type EventPosition = EventCursor | Exclude<EventStart, { readonly cursor: string }>;

function isCursor(position: EventPosition): position is EventCursor {
  return "finalized" in position;
}

function toPosition({ from, order = "asc" }: EventsRequest, indexed: DeploymentId): EventPosition {
  if ("cursor" in from) return parseCursor(from.cursor, indexed, order);
  if (isCursor(from)) rejectForeignCursor(from.deployment, indexed);
  return from;
}

function buildQuery(
  position: EventPosition,
  { filter, finality, limit, order }: EventsRequest,
): EventLogsQuery {
  const topics0 = topicsOf(filter);
  const common = { finality, topics0, logsMax: topics0 === null ? Math.min(limit, LOGS_MAX) : LOGS_MAX };
  if (isCursor(position)) {
    const { block, logIndex, finalized, lastLogBlock, before = null } = position;
    const hash = block <= finalized ? null : position.hash;
    const lastLog = lastLogBlock?.number ?? null;
    return {
      ...common,
      // Backwards the finality of the first page counts: what it allowed is below the position, whatever is safe now.
      finality: before === null ? finality : "instant",
      position: { block, hash, logIndex },
      before,
      lastLogBlock: lastLog,
      quietSince: lastLog ?? finalized,
    };
  }
  const first = "block" in position ? position.block : position.end === "genesis" ? 0 : CURSOR_BLOCK_MAX;
  const block = order === "desc" || first === CURSOR_BLOCK_MAX ? first : first - 1;
  const start = { block, logIndex: END_OF_BLOCK };
  const before = order === "desc" ? start : null;
  return { ...common, position: { ...start, hash: null }, before, lastLogBlock: null, quietSince: block };
}

/** A final block is never undone: a reader whose final block was replaced can only get an error. */
function assertFinalBlockKept({ block, hash, finalized }: EventCursor, { positionHash }: EventLogs): void {
  if (block > finalized || hash === null || positionHash === null || positionHash === hash) return;
  throw new Fault(
    "CURSOR_FOREIGN",
    `Block ${block} was final when the cursor was issued, and is another one now; start with from=genesis, or with a block before the change.`,
  );
}

/** Whether everything up to the cursor is part of the chain that is indexed now. */
function isOnChain(cursor: EventCursor, found: EventLogs, head: IndexHead): boolean {
  const { block, hash, logIndex, lastLogBlock } = cursor;
  if (hash === null || block <= cursor.finalized) return true;
  if (found.positionHash !== null) return found.positionHash === hash;
  // A replica may be behind the database that the cursor comes from: the reader waits until it has the block. Backwards
  // there is nothing to wait for.
  if (block > Number(head.number)) return !found.isPositionAbandoned && !cursor.before;
  // The block is deleted because it is final and empty, on whatever branch. The reader is on the chain if the last
  // block with logs that it knows of is, and no other has come between.
  if (logIndex !== END_OF_BLOCK) return false;
  return found.isQuiet && (lastLogBlock === null || lastLogBlock.hash === found.lastLogBlockHash);
}

function assertStartReached(
  position: EventPosition,
  { upTo }: EventLogs,
  { finality, order }: EventsRequest,
): void {
  if (isCursor(position) || !("block" in position)) return;
  // Forwards a reader may begin with the next block, of which there is nothing yet.
  if (position.block <= upTo.number + (order === "desc" ? 0 : 1)) return;
  const state = finality === "instant" ? "indexed" : finality;
  throw new Fault(
    "INPUT_INVALID",
    `Block ${position.block} is not ${state} yet; the last one that is has number ${upTo.number}.`,
  );
}
