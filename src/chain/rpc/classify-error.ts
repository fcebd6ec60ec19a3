// Puts a node's failure into a kind of the one failure table, and reads the block range it may suggest.
import type { Hex } from "../../lib/hex.ts";
import { ERROR_PATTERNS } from "./error-patterns.ts";
import type { RangeHint, RpcFailureKind } from "./errors.ts";

/** What a node answered instead of a result. */
export type RpcErrorResponse = {
  readonly method: string;
  /** HTTP status of the answer that carried it. */
  readonly status: number;
  readonly code: number | null;
  readonly message: string;
  readonly data: unknown;
};

export type ClassifiedError = {
  readonly kind: RpcFailureKind;
  readonly range: RangeHint | null;
  readonly revertData: Hex | null;
  readonly retryAfterMs: number | null;
};

// A node writes this text freely and the patterns are many: they never see more of it than this.
const TEXT_LENGTH_MAX = 1_000;

export function classifyRpcError(refusal: RpcErrorResponse): ClassifiedError {
  const text = wordsOf(refusal).slice(0, TEXT_LENGTH_MAX);
  const kind = kindOf(refusal, text);
  return {
    kind,
    range: kind === "range-too-large" || kind === "timeout" ? readRange(text, refusal.data) : null,
    revertData: kind === "reverted" ? readRevertData(refusal.data) : null,
    retryAfterMs: kind === "rate-limited" ? readPause(text, refusal.data) : null,
  };
}

function kindOf(refusal: RpcErrorResponse, text: string): RpcFailureKind {
  for (const row of ERROR_PATTERNS) {
    if (row.method !== undefined && row.method !== refusal.method) continue;
    if (row.text?.test(text)) return row.kind;
    if (refusal.code !== null && row.codes?.includes(refusal.code)) return row.kind;
    if (row.statuses?.includes(refusal.status)) return row.kind;
  }
  if (refusal.status >= 500) return "transient";
  if (refusal.status >= 400) return "invalid-request";
  return "internal";
}

// Some vendors say "invalid params" and hide the reason in `data` (as text, or under payload, message, reason).
function wordsOf({ message, data }: RpcErrorResponse): string {
  if (typeof data === "string" && !data.startsWith("0x")) return `${message} ${data}`;
  if (typeof data !== "object" || data === null) return message;
  const record = data as Record<string, unknown>;
  const more = [record.message, record.payload, record.reason].filter((part) => typeof part === "string");
  return [message, ...more].join(" ");
}

const RANGE_HEX = /\[\s*(0x[0-9a-f]{1,13})\s*,\s*(0x[0-9a-f]{1,13})\s*\]/i;
const RANGE_DECIMAL = /range\s+(\d{1,15})\s*-\s*(\d{1,15})\b/i;
// The first number near a word of limit, unless it counts results instead of blocks.
const BLOCKS_MAX =
  /(?:limited to|up to|at most|max(?:imum)?(?: is set to)?|range limit|limit of|greater than|over|than)\D{0,48}?(?:0 - )?(\d[\d,]{0,11})\s?(k\b)?(?!\s*(?:results|logs|bytes))/i;

function readRange(text: string, data: unknown): RangeHint | null {
  const named = RANGE_HEX.exec(text) ?? RANGE_DECIMAL.exec(text);
  const record = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const fromBlock = toBlockNumber(named?.[1] ?? record.from);
  const toBlock = toBlockNumber(named?.[2] ?? record.to);
  const blocksMax = /results|\blogs\b|bytes|size/i.test(text) ? null : readBlocksMax(text);
  if (fromBlock === null && toBlock === null && blocksMax === null) return null;
  return { fromBlock, toBlock, blocksMax };
}

function readBlocksMax(text: string): number | null {
  const found = BLOCKS_MAX.exec(text);
  if (!found?.[1]) return null;
  const count = Number(found[1].replaceAll(",", "")) * (found[2] ? 1_000 : 1);
  return Number.isSafeInteger(count) && count > 0 ? count : null;
}

function toBlockNumber(value: unknown): number | null {
  if (typeof value !== "string" || !/^(?:0x[0-9a-f]{1,13}|\d{1,15})$/i.test(value)) return null;
  return Number(value);
}

// "retry in 10s", "try again in 2 seconds", and Infura's data.rate.backoff_seconds.
function readPause(text: string, data: unknown): number | null {
  const worded = /(?:retry|again) (?:in|after) (\d{1,4}(?:\.\d{1,3})?) ?(ms|s\b|sec)/i.exec(text);
  if (worded) return Math.ceil(Number(worded[1]) * (worded[2] === "ms" ? 1 : 1_000));
  const rate = (data as { rate?: { backoff_seconds?: unknown } } | null | undefined)?.rate;
  const seconds = rate?.backoff_seconds;
  return typeof seconds === "number" && seconds >= 0 && seconds < 1e6 ? Math.ceil(seconds * 1_000) : null;
}

// geth: "0x…"; OpenEthereum: "Reverted 0x…"; hardhat and EDR: { data: "0x…" }.
function readRevertData(data: unknown): Hex | null {
  const candidate = typeof data === "object" && data !== null ? (data as { data?: unknown }).data : data;
  if (typeof candidate !== "string") return null;
  const found = /^(?:reverted )?(0x(?:[0-9a-f]{2})*)$/i.exec(candidate);
  return found?.[1] ? (found[1].toLowerCase() as Hex) : null;
}
