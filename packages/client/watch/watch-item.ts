// The items of a watch, and the check that a message of the service is one of them.
import { isServiceCode, SextantError } from "../errors.ts";
import type { EventProgress, EventUndo, ProtocolEvent } from "../generated/records.ts";
import { parseJson, shorten } from "../http/transport.ts";
import type { ServerMessage } from "./message-parser.ts";

/** An event of the chain. */
export interface WatchedEvent {
  readonly kind: "event";
  readonly event: ProtocolEvent;
  /** Everything up to here was delivered: pass it as `from` to go on. */
  readonly cursor: string;
}

/** A reorg: forget every event after `undo.block_number`. Events of the new branch follow. */
export interface WatchedUndo {
  readonly kind: "undo";
  readonly undo: EventUndo;
  readonly cursor: string;
}

/** No event comes later in a block up to `progress.block_number`, unless an undo takes it back. */
export interface WatchedProgress {
  readonly kind: "progress";
  readonly progress: EventProgress;
  readonly cursor: string;
}

export type WatchItem = WatchedEvent | WatchedUndo | WatchedProgress;

type Fields = Readonly<Record<string, unknown>>;

const EVENT_TEXTS = [
  ...["id", "type", "contract", "address", "description", "tx_hash"],
  ...["block_number", "block_hash", "block_timestamp"],
];
const PROGRESS_TEXTS = ["block_number", "indexed_block", "finalized_block"];
const BLOCK = /^\d{1,20}$/;
// It becomes a header and a file of the caller: nothing but what cursors are made of.
const CURSOR = /^[A-Za-z0-9_-]{1,1024}$/;

/** Whether the service ends the stream because what was paid for is over. */
export function isPaymentOver({ name, data }: ServerMessage): boolean {
  return name === "ended" && (parseJson(data) as Fields | null)?.code === "PAYMENT_REQUIRED";
}

/** Null for a message of a later version. Throws what the service rejects the request with. */
export function readItem({ name, data }: ServerMessage): WatchItem | null {
  if (!Object.hasOwn(READERS, name)) return null;
  const value = parseJson(data);
  const fields = (typeof value === "object" && value !== null ? value : {}) as Fields;
  return READERS[name as keyof typeof READERS](fields);
}

const READERS = {
  message(fields: Fields): WatchItem {
    if (!isEvent(fields)) throw malformed("event");
    return { kind: "event", event: fields, cursor: cursorOf(fields, "event") };
  },
  undo(fields: Fields): WatchItem {
    if (!isUndo(fields)) throw malformed("undo");
    return { kind: "undo", undo: fields, cursor: cursorOf(fields, "undo") };
  },
  progress(fields: Fields): WatchItem {
    if (!isProgress(fields)) throw malformed("progress");
    return { kind: "progress", progress: fields, cursor: cursorOf(fields, "progress") };
  },
  rejected({ code, error }: Fields): never {
    const known = typeof code === "string" && isServiceCode(code) ? code : "INPUT_INVALID";
    const sentence = typeof error === "string" ? shorten(error) : "The service rejects the cursor.";
    throw new SextantError(known, sentence, { retry: "never" });
  },
};

function isEvent(fields: Fields): fields is Fields & ProtocolEvent {
  const { args, log_index, rows = null } = fields;
  const isWhole = isObject(args) && Number.isSafeInteger(log_index);
  const hasRows = rows === null || (Array.isArray(rows) && rows.every(isRowChange));
  return isWhole && hasRows && hasTexts(fields, EVENT_TEXTS);
}

function isUndo(fields: Fields): fields is Fields & EventUndo {
  const { block_hash } = fields;
  return (block_hash === null || typeof block_hash === "string") && hasTexts(fields, ["block_number"]);
}

const isProgress = (fields: Fields): fields is Fields & EventProgress => hasTexts(fields, PROGRESS_TEXTS);

function isRowChange(change: unknown): boolean {
  const { table, key, before, after } = (change ?? {}) as Fields;
  return (
    typeof table === "string" && isObject(key) && isObject(after) && (before === null || isObject(before))
  );
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

function hasTexts(fields: Fields, names: readonly string[]): boolean {
  const isBlock = typeof fields.block_number === "string" && BLOCK.test(fields.block_number);
  return isBlock && names.every((name) => typeof fields[name] === "string");
}

function cursorOf({ cursor }: Fields, what: string): string {
  if (typeof cursor === "string" && CURSOR.test(cursor)) return cursor;
  throw malformed(what);
}

function malformed(what: string): SextantError {
  return new SextantError("RESPONSE_INVALID", `The stream has a malformed ${what}.`);
}
