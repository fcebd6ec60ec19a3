// Cursors of the event stream: where a reader is, on which branch, and how far back a reorg can have sent it.
import { createHash } from "node:crypto";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { END_OF_BLOCK, type LogPosition } from "../../store/index/event-logs.ts";
import type { DeploymentIdentity } from "../../store/index/prepare.ts";

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
export type EventOrder = (typeof EVENT_ORDERS)[number];

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
