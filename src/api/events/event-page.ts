// A page of events as JSON, lines and messages; and the cursors between pages: where, on which branch, how far back.

import { createHash } from "node:crypto";
import { Fault, publicMessage } from "../../lib/fault.ts";
import { stringifyVisibly } from "../../lib/foreign-text.ts";
import type { Hex } from "../../lib/hex.ts";
import {
  type EventFilter,
  type EventSubject,
  type FilteredEvent,
  isOpen,
  matchesFilter,
} from "../../protocol/event-filter.ts";
import type { EventRecord, ProgressRecord, UndoRecord } from "../../protocol/event-page.ts";
import type { IndexHead } from "../../schema/reads/read.ts";
import { END_OF_BLOCK, type Finality, type LogPosition } from "../../store/index/event-logs.ts";
import type { DeploymentIdentity } from "../../store/index/prepare.ts";

/** The begin: a cursor as text, before the first event of a block, or at an end of the chain. */
export type EventStart =
  | { readonly cursor: string }
  | { readonly block: number }
  | { readonly end: "genesis" | "head" };

/** The events that a reader gets, and what comes with each. */
export type EventSelection = {
  readonly filter: EventFilter;
  readonly finality: Finality;
  /** Whether events have the rows that they changed. */
  readonly rows: boolean;
  /** Whether events have their sentences in parts, for which the tokens of intents are read. */
  readonly parts: boolean;
};

export const EVERY_EVENT: EventFilter = { types: null, subjects: {} };

export type EventsRequest = Pick<EventSelection, "filter" | "finality"> & {
  readonly from: EventStart | EventCursor;
  /** Newest first if `desc`; absent for the order of the chain. */
  readonly order?: EventOrder;
  /** Most events; fewer if their bytes or the logs that were read exceed a limit. */
  readonly limit: number;
  /**
   * The client that reads history, so that readers share it fairly; null reads at the head, which all readers share.
   */
  readonly client: string | null;
  /** Also reads what links events to such things, for filters that are applied later. */
  readonly linkedSubjects?: readonly EventSubject[];
} & Partial<Pick<EventSelection, "rows" | "parts">>;

/** The record, and the same event as filters see it. */
export type DeliveredEvent = { readonly event: FilteredEvent; readonly record: EventRecord };

export type EventsPage = {
  /** The reader was on a branch that is gone: it undoes what came after this block, then goes on from the cursor. */
  readonly undo: UndoRecord | null;
  readonly events: readonly DeliveredEvent[];
  readonly progress: ProgressRecord;
  /** The begin of the next page. */
  readonly cursor: EventCursor;
  /** Whether the next page can be read at once. */
  readonly hasMore: boolean;
  /** Whether the reader is past everything that may be read, and waits for the chain to come there. */
  readonly isAhead: boolean;
  /** The state of the index that the page is of. */
  readonly head: IndexHead;
  /** Unix seconds of the newest block that may be read. */
  readonly timestamp: number;
};

export function describeProgress(cursor: EventCursor, head: IndexHead): ProgressRecord {
  const { block, logIndex, before } = cursor;
  const last = logIndex === END_OF_BLOCK ? block : block - 1;
  const first = before && (before.logIndex === 0 ? before.block : before.block + 1);
  return {
    block_number: String(first ?? last),
    indexed_block: head.number.toString(),
    finalized_block: head.finalized.toString(),
    cursor: formatCursor(cursor),
    ...(before && { forward_cursor: formatCursor({ ...cursor, before: null }) }),
  };
}

/** Nothing to deliver: keeps the connection from looking dead to proxies. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/** JSON has no line breaks of its own, so that one data line is enough. */
function formatMessage(name: string | null, id: string, data: unknown): string {
  return `${name === null ? "" : `event: ${name}\n`}id: ${id}\ndata: ${stringifyVisibly(data)}\n\n`;
}

/** How long a client waits before it connects again. */
export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}

/**
 * The stream cannot begin at the position that the client names. The empty id makes an EventSource forget the one it
 * has, which it would send again forever.
 */
export function formatRejection(fault: Fault): string {
  return formatMessage("rejected", "", { code: fault.code, error: publicMessage(fault) });
}

/** The messages of a page for readers with different filters; the text of each event is made once for all of them. */
export class PageMessages {
  readonly #page: EventsPage;
  readonly #texts = new Map<DeliveredEvent, string>();
  #all: string | null = null;
  #progress: string | null = null;

  constructor(page: EventsPage) {
    this.#page = page;
  }

  /** The undo, if there is one, and the events that pass the filter; with their number. */
  select(filter: EventFilter): { readonly text: string; readonly count: number } {
    const { events } = this.#page;
    if (isOpen(filter)) {
      this.#all ??= this.#join(events);
      return { text: this.#all, count: events.length };
    }
    const passing = events.filter(({ event }) => matchesFilter(event, filter));
    return { text: this.#join(passing), count: passing.length };
  }

  get progress(): string {
    const { progress } = this.#page;
    this.#progress ??= formatMessage("progress", progress.cursor, progress);
    return this.#progress;
  }

  #join(events: readonly DeliveredEvent[]): string {
    const { undo } = this.#page;
    const first = undo === null ? "" : formatMessage("undo", undo.cursor, undo);
    return first + events.map((each) => this.#textOf(each)).join("");
  }

  #textOf(delivered: DeliveredEvent): string {
    const known = this.#texts.get(delivered);
    if (known !== undefined) return known;
    const text = formatMessage(null, delivered.record.cursor, delivered.record);
    this.#texts.set(delivered, text);
    return text;
  }
}

/** The page as one JSON body. */
export function formatPage({ undo, events, progress, hasMore }: EventsPage): unknown {
  return { undo, events: events.map(({ record }) => record), progress, has_more: hasMore };
}

/** The page as lines of JSON, each with one key that says what it is; the last one is the progress. */
export function formatLines({ undo, events, progress, hasMore }: EventsPage): string {
  const lines = [
    ...(undo === null ? [] : [{ undo }]),
    ...events.map(({ record }) => ({ event: record })),
    { progress: { ...progress, has_more: hasMore } },
  ];
  return lines.map((line) => `${stringifyVisibly(line)}\n`).join("");
}

/** Everything up to and including this position has been delivered; backwards it is the newest one that is read. */
export type EventCursor = {
  readonly deployment: DeploymentId;
  readonly block: number;
  /** Null only if the block was final when the cursor was issued: then it needs no comparison. */
  readonly hash: Hex | null;
  /** END_OF_BLOCK if the reader has passed the whole block. */
  readonly logIndex: number;
  /** Final when the cursor was issued: no reorg removes this block. */
  readonly finalized: number;
  /**
   * The newest block with logs up to here, if it was not final yet. Empty blocks are deleted once they are final; this
   * one shows even then whether the reader is on the chain.
   */
  readonly lastLogBlock: { readonly number: number; readonly hash: Hex } | null;
  /** Set for a reader who goes backwards: everything from here up to the position above has been delivered. */
  readonly before?: LogPosition | null;
};

/** The chain and contracts that a cursor belongs to, as it names them. */
export type DeploymentId = Buffer;

const DEPLOYMENT_BYTES = 8;
const CHECKSUM_BYTES = 4;
const HASH_BYTES = 32;
const VERSION = 1;
const BACKWARD_VERSION = 2;
// Version, deployment, block, hash, log index, finalized block, block with logs and its hash, checksum.
const BYTES = 1 + DEPLOYMENT_BYTES + 6 + HASH_BYTES + 4 + 6 + 6 + HASH_BYTES + CHECKSUM_BYTES;
// A reader who goes backwards has a block and a log index more.
const BACKWARD_BYTES = BYTES + 6 + 4;
// Six bytes: at one block a millisecond, nine thousand years.
export const CURSOR_BLOCK_MAX = 2 ** 48 - 1;
const NO_HASH: Hex = `0x${"0".repeat(2 * HASH_BYTES)}`;

export function identifyDeployment({ chainId, startBlock, contracts }: DeploymentIdentity): DeploymentId {
  const parts = [chainId, startBlock, ...Object.entries(contracts).sort().flat()];
  return digest(JSON.stringify(parts)).subarray(0, DEPLOYMENT_BYTES);
}

/** The same position gives the same text at the same finalized block. */
export function formatCursor(cursor: EventCursor): string {
  const { lastLogBlock } = cursor;
  const numbers = Buffer.alloc(6 + 4 + 6 + 6);
  numbers.writeUIntBE(cursor.block, 0, 6);
  numbers.writeUInt32BE(cursor.logIndex, 6);
  numbers.writeUIntBE(cursor.finalized, 10, 6);
  numbers.writeUIntBE(lastLogBlock?.number ?? 0, 16, 6);
  const before = Buffer.alloc(cursor.before ? 10 : 0);
  if (cursor.before) {
    before.writeUIntBE(cursor.before.block, 0, 6);
    before.writeUInt32BE(cursor.before.logIndex, 6);
  }
  const content = Buffer.concat([
    Buffer.from([cursor.before ? BACKWARD_VERSION : VERSION]),
    cursor.deployment,
    numbers,
    bytesOf(cursor.hash),
    bytesOf(lastLogBlock?.hash ?? null),
    before,
  ]);
  return Buffer.concat([content, checksumOf(content)]).toString("base64url");
}

export const EVENT_ORDERS = ["asc", "desc"] as const;
type EventOrder = (typeof EVENT_ORDERS)[number];

/**
 * Throws a Fault if the text is not a cursor, and for one of another deployment or order. It is not signed: a forged
 * cursor only misleads the reader who forged it.
 */
export function parseCursor(text: string, deployment: DeploymentId, order: EventOrder): EventCursor {
  const bytes = decodeBytes(text);
  const isBackward = bytes[0] === BACKWARD_VERSION;
  if (isBackward !== (order === "desc")) {
    throw new Fault(
      "INPUT_INVALID",
      `The cursor belongs to order=${isBackward ? "desc" : "asc"}: read on in that order, or start again with a block number.`,
    );
  }
  rejectForeignCursor(bytes.subarray(1, 1 + DEPLOYMENT_BYTES), deployment);
  const at = 1 + DEPLOYMENT_BYTES;
  const hashes = at + 22;
  const hash = hashAt(bytes, hashes);
  const lastLogHash = hashAt(bytes, hashes + HASH_BYTES);
  const cursor: EventCursor = {
    deployment,
    block: bytes.readUIntBE(at, 6),
    hash,
    logIndex: bytes.readUInt32BE(at + 6),
    finalized: bytes.readUIntBE(at + 10, 6),
    lastLogBlock: lastLogHash === null ? null : { number: bytes.readUIntBE(at + 16, 6), hash: lastLogHash },
    before: isBackward ? positionAt(bytes, hashes + 2 * HASH_BYTES) : null,
  };
  if ((cursor.before?.logIndex ?? 0) > END_OF_BLOCK) throw malformed();
  if (cursor.logIndex > END_OF_BLOCK || (hash === null && cursor.block > cursor.finalized)) throw malformed();
  return cursor;
}

/** Throws a Fault if a position belongs to another deployment than the one that is indexed. */
export function rejectForeignCursor(given: DeploymentId, indexed: DeploymentId): void {
  if (given.equals(indexed)) return;
  throw new Fault(
    "CURSOR_FOREIGN",
    "The cursor belongs to another chain or to other contracts; start with from=genesis or from=head.",
  );
}

/** Whether a text can only be meant as a cursor. */
export function hasCursorLength(text: string): boolean {
  return [BYTES, BACKWARD_BYTES].some((bytes) => text.length === Math.ceil((bytes * 4) / 3));
}

/** The block of a cursor, of whatever deployment; null for any other text. */
export function blockOfCursor(text: string): number | null {
  return hasCursorLength(text) ? decodeBytes(text).readUIntBE(1 + DEPLOYMENT_BYTES, 6) : null;
}

/** Whether two readers are at the same position of the same branch. */
export function isSamePosition(one: EventCursor, other: EventCursor): boolean {
  const isSamePlace = one.block === other.block && one.logIndex === other.logIndex && one.hash === other.hash;
  return isSamePlace && one.deployment.equals(other.deployment);
}

function decodeBytes(text: string): Buffer {
  if (!hasCursorLength(text) || !/^[A-Za-z0-9_-]+$/.test(text)) throw malformed();
  const bytes = Buffer.from(text, "base64url");
  const version = bytes.length === BACKWARD_BYTES ? BACKWARD_VERSION : VERSION;
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  if (bytes[0] !== version || !checksumOf(content).equals(bytes.subarray(-CHECKSUM_BYTES))) throw malformed();
  return bytes;
}

function malformed(): Fault {
  return new Fault(
    "INPUT_INVALID",
    "The cursor is damaged: pass one unchanged, as it came with an event, a page or as its id.",
  );
}

function hashAt(bytes: Buffer, at: number): Hex | null {
  const hash: Hex = `0x${bytes.toString("hex", at, at + HASH_BYTES)}`;
  return hash === NO_HASH ? null : hash;
}

function positionAt(bytes: Buffer, at: number): LogPosition {
  return { block: bytes.readUIntBE(at, 6), logIndex: bytes.readUInt32BE(at + 6) };
}

function bytesOf(hash: Hex | null): Buffer {
  return Buffer.from((hash ?? NO_HASH).slice(2), "hex");
}

function checksumOf(content: Uint8Array): Buffer {
  return digest(content).subarray(0, CHECKSUM_BYTES);
}

function digest(content: string | Uint8Array): Buffer {
  return createHash("sha256").update(content).digest();
}
