// Reads events from any position, in chain order or backwards, and notices when a reorg has removed it: for whatever delivers them.
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import { createLogDecoder, type LogDecoder } from "../../protocol/decode-logs.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import { EventLinks, matchesFilter, selectLinks, undecidedSubjects } from "../../protocol/event-filter.ts";
import type { BlockId } from "../../schema/chain-log.ts";
import { type RunRead, toRecords } from "../../schema/reads/read.ts";
import type { PipelinedReader } from "../../store/fast/pipelined-reader.ts";
import {
  decodeAncestor,
  decodeEventLogs,
  END_OF_BLOCK,
  type EventLogs,
  selectAncestor,
  selectEventLogs,
} from "../../store/index/event-logs.ts";
import type { StoredDeployment } from "../../store/index/prepare.ts";
import type { StatementReaders } from "../../store/index/reader.ts";
import {
  assertFinalBlockKept,
  assertStartReached,
  buildQuery,
  collectEvents,
  isCursor,
  isOnChain,
  type LoggedEvent,
  toPosition,
} from "./collect-events.ts";
import {
  type DeploymentId,
  describeProgress,
  type EventCursor,
  type EventsPage,
  type EventsRequest,
  formatCursor,
  identifyDeployment,
} from "./event-page.ts";
import { type EventRowsLimits, EventRowsReader } from "./event-rows.ts";

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

// Pages in flight of one client alongside its streams.
const PAGES_PER_CLIENT_MAX = 20;
const PAGES_MAX = 200;

type StreamCounts = { readonly streamsMax: number; readonly streamsPerClientMax: number };

/** Shares the connections for history fairly between clients: one page at a time for each. */
export function shareHistory(
  history: PipelinedReader,
  runningMax: number,
  { streamsMax, streamsPerClientMax }: StreamCounts,
): StatementReaders["slow"] {
  // A stream waits for one page at a time, so that all of them can wait.
  const queue = createFairLimit({
    runningMax,
    runningPerKeyMax: 1,
    waitingMax: streamsMax + PAGES_MAX,
    waitingPerKeyMax: streamsPerClientMax + PAGES_PER_CLIENT_MAX,
  });
  return { read: (statement, use, client) => queue.run(client, () => history.read(statement, use)) };
}
