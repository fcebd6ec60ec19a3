// Reads events in chain order from any position, and notices when a reorg has removed it: for whatever delivers them.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { createLogDecoder, type DecodedEvent, type LogDecoder } from "../../protocol/decode-logs.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import {
  type EventFilter,
  type EventSubject,
  type FilteredEvent,
  matchesFilter,
  topicsOf,
  undecidedSubjects,
} from "../../protocol/event-filter.ts";
import { EventLinks, selectLinks } from "../../protocol/event-links.ts";
import { explainEvent } from "../../protocol/explain.ts";
import { createFold, type FoldLogs } from "../../protocol/fold.ts";
import type { BlockId, ChainLog } from "../../schema/chain-log.ts";
import { type IndexHead, type RunRead, toRecords } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import {
  decodeAncestor,
  decodeEventLogs,
  END_OF_BLOCK,
  type EventLogs,
  type EventLogsQuery,
  type Finality,
  type PositionedLog,
  selectAncestor,
  selectEventLogs,
} from "../../store/index/event-logs.ts";
import type { StoredDeployment } from "../../store/index/prepare.ts";
import {
  CURSOR_BLOCK_MAX,
  type DeploymentId,
  type EventCursor,
  formatCursor,
  identifyDeployment,
  parseCursor,
  rejectForeignCursor,
} from "./cursor.ts";
import { type EventRows, type EventRowsLimits, EventRowsReader } from "./event-rows.ts";
import type { RowChangeRecord } from "./row-records.ts";

/** Where to begin: a cursor as text, before the first event of a block, or at an end of the chain. */
export type EventStart =
  | { readonly cursor: string }
  | { readonly block: number }
  | { readonly end: "genesis" | "head" };

type EventsRequest = {
  readonly from: EventStart | EventCursor;
  readonly filter: EventFilter;
  readonly finality: Finality;
  /** Events at most; fewer where their bytes or the logs looked through reach a limit. */
  readonly limit: number;
  /** Who reads history, so that readers share it fairly; null reads at the head, where everyone waits. */
  readonly client: string | null;
  /** Also reads what links events to such things, for filters that are applied later. */
  readonly linkedSubjects?: readonly EventSubject[];
  /** Also reads the rows that each event has changed. */
  readonly rows?: boolean;
};

/** An event as clients get it. */
export type EventRecord = {
  /** The same for the same event on the same branch, however often it is delivered. */
  readonly id: string;
  readonly type: string;
  readonly contract: string;
  readonly address: Hex;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
  readonly tx_hash: Hex;
  readonly log_index: number;
  readonly block_number: string;
  readonly block_hash: Hex;
  readonly block_timestamp: string;
  readonly cursor: string;
  /** Absent unless asked for; null where the block is too large. */
  readonly rows?: readonly RowChangeRecord[] | null;
};

/** Everything after this block is undone. The hash is null where the block is final and empty. */
export type UndoRecord = {
  readonly block_number: string;
  readonly block_hash: Hex | null;
  readonly cursor: string;
};

/** How far a reader is. */
type ProgressRecord = {
  /** The last block of which every event has been delivered. */
  readonly block_number: string;
  readonly indexed_block: string;
  readonly finalized_block: string;
  readonly cursor: string;
};

/** The record, and the same event as filters see it. */
export type DeliveredEvent = { readonly event: FilteredEvent; readonly record: EventRecord };

export type EventsPage = {
  /** The reader was on a branch that is gone: it undoes what came after this block, then goes on from the cursor. */
  readonly undo: UndoRecord | null;
  readonly events: readonly DeliveredEvent[];
  readonly progress: ProgressRecord;
  /** Where the next page begins. */
  readonly cursor: EventCursor;
  /** Whether the next page can be read at once. */
  readonly hasMore: boolean;
  /** Whether the reader is past everything that may be read, and waits for the chain to come there. */
  readonly isAhead: boolean;
  /** Unix seconds of the newest block that may be read. */
  readonly timestamp: number;
};

export type ReadEvents = (request: EventsRequest) => Promise<EventsPage>;

type EventReaderOptions = {
  readonly run: RunRead;
  /** Null while nothing is indexed. */
  readonly readDeployment: () => Promise<StoredDeployment | null>;
  readonly rowsLimits?: Partial<EventRowsLimits>;
};

/** What cursors and logs of this index mean. It changes only if the schema is emptied and claimed by another deployment. */
type IndexMeaning = {
  readonly decoder: LogDecoder;
  readonly fold: FoldLogs;
  readonly deployment: DeploymentId;
  readonly fingerprint: string;
};

// Logs that one statement looks through: some 10 ms of the database at most. A rare filter needs several pages.
const LOGS_MAX = 1_000;
// A fork, or another deployment, between two statements is rare; several in a row are a fault elsewhere.
const ATTEMPTS_MAX = 3;

export function createEventReader({ run, readDeployment, rowsLimits }: EventReaderOptions): ReadEvents {
  const rowsReader = new EventRowsReader(run, rowsLimits);
  let meaning: IndexMeaning | null = null;

  async function readMeaning(): Promise<IndexMeaning> {
    if (meaning !== null) return meaning;
    const identity = await readDeployment();
    if (!identity) throw new Fault("INDEX_EMPTY", "Nothing is indexed yet.");
    const contracts = identity.contracts as Deployment["contracts"];
    meaning = {
      decoder: createLogDecoder({ contracts }),
      fold: createFold({ contracts }),
      deployment: identifyDeployment(identity),
      fingerprint: identity.fingerprint,
    };
    return meaning;
  }

  return async (request) => {
    const { from, client } = request;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const known = await readMeaning();
      const cursor = toPosition(from, known.deployment);
      const query = buildQuery(cursor, request);
      const read = await run({ sql: selectEventLogs(query), ...costOf(client) }, (head, rows) => ({
        head,
        found: decodeEventLogs(rows, query),
      }));
      if (read.found.deploymentFingerprint !== known.fingerprint) {
        meaning = null;
        continue;
      }
      if (isCursor(cursor)) {
        assertFinalBlockKept(cursor, read.found);
        if (!isOnChain(cursor, read.found, read.head)) return await readUndo(run, cursor);
      }
      assertStartReached(cursor, read.found, request.finality);
      const events = await linkEvents(run, decodeLogs(read.found, known.decoder), request);
      if (events === null) continue;
      const blocks = request.rows === true ? listBlocks(events, request) : [];
      const rows = blocks.length === 0 ? null : await rowsReader.read(blocks, known, client);
      if (rows === null && blocks.length > 0) continue;
      return collectEvents({ cursor, ...read, events, rows, request }, known);
    }
    throw new Fault("OVERLOADED", "The chain forks faster than its events can be read; try again.");
  };
}

const costOf = (client: string | null) =>
  ({ cost: client === null ? "quick" : "slow", client: client ?? "" }) as const;

/** A log with its event; null where the log is not an event of the protocol, or has a type that the filter does not want. */
type LoggedEvent = PositionedLog & { readonly event: (DecodedEvent & FilteredEvent) | null };

function decodeLogs({ logs }: EventLogs, decoder: LogDecoder): readonly LoggedEvent[] {
  return logs.map((each) => ({
    ...each,
    event: each.log && decoder.decode(each.log, BigInt(each.log.blockTimestamp)),
  }));
}

/**
 * Adds what the rows say about events of which the arguments say too little. A second statement, because the first has
 * to be decoded; null where the chain has forked between them, after which rows and events would not belong together.
 */
async function linkEvents(
  run: RunRead,
  logged: readonly LoggedEvent[],
  { filter, client, linkedSubjects = [] }: EventsRequest,
): Promise<readonly LoggedEvent[] | null> {
  const links = new EventLinks();
  let last: LoggedEvent | null = null;
  for (const each of logged) {
    if (each.event === null) continue;
    const subjects = [...undecidedSubjects(each.event, filter), ...linkedSubjects];
    if (links.add(each.event, subjects)) last = each;
  }
  if (last === null) return logged;
  const { block, hash } = last;
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

type Position = EventCursor | Exclude<EventStart, { readonly cursor: string }>;

function isCursor(position: Position): position is EventCursor {
  return "finalized" in position;
}

function toPosition(from: EventsRequest["from"], indexed: DeploymentId): Position {
  if ("cursor" in from) return parseCursor(from.cursor, indexed);
  if (isCursor(from)) rejectForeignCursor(from.deployment, indexed);
  return from;
}

function buildQuery(position: Position, { filter, finality, limit }: EventsRequest): EventLogsQuery {
  const topics0 = topicsOf(filter);
  const common = { finality, topics0, logsMax: topics0 === null ? Math.min(limit, LOGS_MAX) : LOGS_MAX };
  if (isCursor(position)) {
    const { block, logIndex, finalized, lastLogBlock } = position;
    const hash = block <= finalized ? null : position.hash;
    const lastLog = lastLogBlock?.number ?? null;
    return {
      ...common,
      after: { block, hash, logIndex },
      lastLogBlock: lastLog,
      quietSince: lastLog ?? finalized,
    };
  }
  const block = "block" in position ? position.block - 1 : position.end === "genesis" ? -1 : CURSOR_BLOCK_MAX;
  const after = { block, hash: null, logIndex: END_OF_BLOCK };
  return { ...common, after, lastLogBlock: null, quietSince: block };
}

/** What is final is never undone: a reader whose final block was replaced can only get an error. */
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
  // A replica may be behind the database that the cursor comes from: the reader waits until it has the block.
  if (block > Number(head.number)) return !found.isPositionAbandoned;
  // The block is deleted because it is final and empty, on whatever branch. The reader is on the chain if the last
  // block with logs that it knows of is, and no other has come between.
  if (logIndex !== END_OF_BLOCK) return false;
  return found.isQuiet && (lastLogBlock === null || lastLogBlock.hash === found.lastLogBlockHash);
}

function assertStartReached(position: Position, { upTo }: EventLogs, finality: Finality): void {
  if (isCursor(position) || !("block" in position) || position.block <= upTo.number + 1) return;
  const state = finality === "instant" ? "indexed" : finality;
  throw new Fault(
    "INPUT_INVALID",
    `Block ${position.block} is not ${state} yet; the last one that is has number ${upTo.number}.`,
  );
}

type Collected = {
  readonly cursor: Position;
  readonly found: EventLogs;
  readonly events: readonly LoggedEvent[];
  /** Null where the request is for none. */
  readonly rows: EventRows | null;
  readonly head: IndexHead;
  readonly request: EventsRequest;
};

function collectEvents(collected: Collected, known: IndexMeaning): EventsPage {
  const { cursor, found, head, rows, request } = collected;
  const { filter, limit } = request;
  const { deployment } = known;
  const finalized = Number(head.finalized);
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
      const text = formatCursor(cursorAt(each, finalized, deployment));
      const record = describeEvent(event, each.log, text, changed);
      bytes += Buffer.byteLength(JSON.stringify(record));
      // At least one, so that every page advances.
      isCut = bytes > PAGE_BYTES_MAX && events.length > 0;
      if (isCut) break;
      events.push({ event: { ...event, args: record.args }, record });
    }
    last = each;
  }
  const hasMore = isCut || found.hasMore;
  const isAhead = isCursor(cursor) && cursor.block > found.upTo.number;
  const next = hasMore && last ? cursorAt(last, finalized, deployment) : endCursor(collected, deployment);
  return {
    undo: null,
    events,
    progress: describeProgress(next, head, formatCursor(next)),
    cursor: next,
    hasMore,
    isAhead,
    timestamp: found.upTo.timestamp,
  };
}

function cursorAt(
  { block, hash, logIndex }: PositionedLog,
  finalized: number,
  deployment: DeploymentId,
): EventCursor {
  return { deployment, block, hash, logIndex, finalized, lastLogBlock: null };
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
  rows: EventRecord["rows"],
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
    ...(rows === undefined ? {} : { rows }),
  };
}

function describeProgress({ block, logIndex }: EventCursor, head: IndexHead, cursor: string): ProgressRecord {
  return {
    block_number: String(logIndex === END_OF_BLOCK ? block : block - 1),
    indexed_block: head.number.toString(),
    finalized_block: head.finalized.toString(),
    cursor,
  };
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
    // Another block is no ancestor of the cursor, whatever it says: an undo only ever leads back.
    const isKnown =
      ancestor !== null && ancestor.number >= cursor.finalized && ancestor.number < cursor.block;
    const lastLogBlock = isKnown ? ancestor.lastLogBlock : null;
    const next: EventCursor = {
      deployment: cursor.deployment,
      block: isKnown ? ancestor.number : cursor.finalized,
      hash: isKnown ? ancestor.hash : null,
      logIndex: END_OF_BLOCK,
      finalized: isKnown ? finalized : cursor.finalized,
      lastLogBlock: lastLogBlock && lastLogBlock.number > finalized ? lastLogBlock : null,
    };
    const text = formatCursor(next);
    return {
      undo: { block_number: String(next.block), block_hash: next.hash, cursor: text },
      events: [],
      progress: describeProgress(next, head, text),
      cursor: next,
      hasMore: true,
      isAhead: false,
      timestamp: 0,
    };
  });
}
