// Classifies a node's error into a kind of the failure table, and reads the block range it may suggest.

import type { Hex } from "../../lib/hex.ts";
import type { RangeHint, RpcFailureKind } from "./errors.ts";

/** How nodes and vendors word their errors: the first matching row decides. */
type ErrorPattern = {
  readonly kind: RpcFailureKind;
  readonly text?: RegExp;
  readonly codes?: readonly number[];
  readonly statuses?: readonly number[];
  /** Limits the row to this method if the text alone would be too common. */
  readonly method?: string;
};

// Vendors use the same code for different things (-32005 is a rate limit here and a log limit there, -32602 a bad
// parameter or a wide range), so texts come before codes, and codes before HTTP statuses.
const ERROR_PATTERNS: readonly ErrorPattern[] = [
  // Contract execution ended the call. First, because a revert reason is free text and may contain any other phrase.
  { kind: "reverted", codes: [3] },
  { kind: "reverted", text: /^(?:vm exception|vm execution error|execution reverted|revert)/i },
  {
    kind: "reverted",
    text: /execution reverted|reverted with|out of gas|invalid opcode|stack (?:underflow|limit)|invalid jump|gas required exceeds|always failing transaction/i,
  },

  // The node lacks the block or its state. Before the range rows, which also mention ranges and blocks.
  { kind: "missing", codes: [4444, -39001] },
  {
    kind: "missing",
    text: /header not found|header for hash not found|unknown block|block not found|(?:block|header) (?:with|for) .{0,80}(?:not found|unknown)|could not find block|cannot find block|blocks? specified in filter .{0,80}cannot be found|block ?hash cannot be found|invalid block tag .{0,80}latest block number|resource not found|missing trie node|beyond current head|after last accepted block|is not yet available|(?:block|finalized|safe) .{0,40}is not (?:available|known)|out of (?:block )?range\b.{0,20}block|invalid block number|unfinalized data|(?:state|history) .{0,40}(?:unavailable|not available|pruned)|pruned (?:history|state)|(?:with|due to) state pruning|no state available/i,
  },

  // The log query is too wide, or its response too long.
  {
    kind: "range-too-large",
    text: /response size (?:exceeded|limit)|response size should not|response (?:is )?too (?:large|big)|(?:query|logs?) (?:returned|matched|exceeds?) .{0,40}(?:more than|exceeds?|max|limit)|query returned more than|exceeds max (?:results|block range)|too many (?:logs|results)|too many blocks|max logs per response|returned more than \d+ (?:results|logs)/i,
  },
  {
    kind: "range-too-large",
    text: /range.{0,30}(?:too (?:large|wide|big)|exceed|greater than|bigger than|limit)|(?:exceed|limit|max(?:imum)?|reduc|ranges? over|up to).{0,60}(?:block|getlogs).{0,10} range|ranges over \d+ blocks|limited to .{0,30}range|blocks? (?:range|distance|limit).{0,40}(?:exceed|max|limit|large|wide)|blocks distance|(?:at most|more than|maximum|allowed).{0,40}\d+ blocks|number of requested blocks|narrow your (?:filter|query)/i,
    method: "eth_getLogs",
  },
  { kind: "range-too-large", codes: [-32614], method: "eth_getLogs" },

  {
    kind: "timeout",
    text: /quer(?:y|ies) .{0,20}(?:timeout|timed out|took too long)|request timed out|request timeout|execution (?:aborted|timeout)|deadline exceeded|took too long/i,
  },

  {
    kind: "rate-limited",
    text: /rate.?limit|too many requests|request limit|requests? per (?:second|minute|day)|request count exceeded|request rate exceeded|compute units|throughput|capacity (?:limit )?exceeded|limit exceeded|limit reached|quota|throttl|error code: 1015|exceeded .{0,40}(?:plan|capacity|calls)|slow down/i,
  },
  { kind: "rate-limited", statuses: [429] },
  { kind: "rate-limited", codes: [429, -32005, -32007, -32016, -32029, -32097] },

  {
    kind: "refused",
    text: /must be authenticated|unauthori[sz]ed|invalid (?:api.?key|project id|access token)|(?:api.?key|token|project) .{0,30}(?:not found|invalid|disabled|expired|inactive)|access denied|forbidden|payment required/i,
  },

  {
    kind: "unsupported",
    text: /method .{0,60}(?:not (?:found|supported|available|allowed|exist|whitelisted|enabled)|does not exist|unsupported|disabled)|unsupported method|unknown method|not (?:available|supported) (?:on|in|by) (?:your|this|the) |not whitelisted|archive .{0,60}(?:plan|tier|paid|require|not)/i,
  },
  { kind: "unsupported", codes: [-32601, -32004] },

  {
    kind: "transient",
    text: /no (?:available |healthy )?(?:backend|upstream|node)|no backend|temporar|unavailable|overload|too busy|try again|bad gateway|gateway time|connection (?:reset|refused|closed)|upstream|unexpected eof|backend (?:is )?offline|cannot fulfill request|still syncing|node is syncing/i,
  },
  { kind: "transient", codes: [-32002, -32011, -32020, -32050] },

  { kind: "response-too-large", statuses: [413] },
  { kind: "refused", statuses: [301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 410, 451] },
  { kind: "timeout", statuses: [408, 504, 524] },
  { kind: "invalid-request", codes: [-32600, -32602, -32604, -32700] },
  {
    kind: "invalid-request",
    text: /invalid (?:argument|param|request|json|input)|missing (?:value|required|param)|exceed max (?:topics|addresses)|specify an address|must (?:be|have|specify)|parse error|cannot unmarshal/i,
  },
];

/** The response of a node in place of a result. */
type RpcErrorResponse = {
  readonly method: string;
  /** HTTP status of the response that carried it. */
  readonly status: number;
  readonly code: number | null;
  readonly message: string;
  readonly data: unknown;
};

type ClassifiedError = {
  readonly kind: RpcFailureKind;
  readonly range: RangeHint | null;
  readonly revertData: Hex | null;
  readonly retryAfterMs: number | null;
};

// A node writes this text freely and the patterns are many: they read only this much of it.
const TEXT_LENGTH_MAX = 1_000;

export function classifyRpcError(response: RpcErrorResponse): ClassifiedError {
  const text = textOf(response).slice(0, TEXT_LENGTH_MAX);
  const kind = kindOf(response, text);
  return {
    kind,
    range: kind === "range-too-large" || kind === "timeout" ? readRange(text, response.data) : null,
    revertData: kind === "reverted" ? readRevertData(response.data) : null,
    retryAfterMs: kind === "rate-limited" ? readPause(text, response.data) : null,
  };
}

/** Results of one word: no such result is too large, so a node that says so is confused and may recover. */
const ONE_WORD_METHODS: ReadonlySet<string> = new Set([
  "eth_chainId",
  "eth_blockNumber",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getTransactionCount",
]);

function kindOf(response: RpcErrorResponse, text: string): RpcFailureKind {
  const kind = matchPattern(response, text);
  return kind === "range-too-large" && ONE_WORD_METHODS.has(response.method) ? "internal" : kind;
}

function matchPattern(response: RpcErrorResponse, text: string): RpcFailureKind {
  for (const row of ERROR_PATTERNS) {
    if (row.method !== undefined && row.method !== response.method) continue;
    if (row.text?.test(text)) return row.kind;
    if (response.code !== null && row.codes?.includes(response.code)) return row.kind;
    if (row.statuses?.includes(response.status)) return row.kind;
  }
  if (response.status >= 500) return "transient";
  if (response.status >= 400) return "invalid-request";
  return "internal";
}

// Some vendors say "invalid params" and hide the reason in `data` (as text, or under payload, message, reason).
function textOf({ message, data }: RpcErrorResponse): string {
  if (typeof data === "string" && !data.startsWith("0x")) return `${message} ${data}`;
  if (typeof data !== "object" || data === null) return message;
  const record = data as Record<string, unknown>;
  const more = [record.message, record.payload, record.reason].filter((part) => typeof part === "string");
  return [message, ...more].join(" ");
}

const RANGE_HEX = /\[\s*(0x[0-9a-f]{1,13})\s*,\s*(0x[0-9a-f]{1,13})\s*\]/i;
const RANGE_DECIMAL = /range\s+(\d{1,15})\s*-\s*(\d{1,15})\b/i;
// The first number near a limit word, unless it counts results instead of blocks.
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
  const stated = /(?:retry|again) (?:in|after) (\d{1,4}(?:\.\d{1,3})?) ?(ms|s\b|sec)/i.exec(text);
  if (stated) return Math.ceil(Number(stated[1]) * (stated[2] === "ms" ? 1 : 1_000));
  const rate = (data as { rate?: { backoff_seconds?: unknown } } | null | undefined)?.rate;
  const seconds = rate?.backoff_seconds;
  return typeof seconds === "number" && seconds >= 0 && seconds < 1e6 ? Math.ceil(seconds * 1_000) : null;
}

// geth: "0x…"; OpenEthereum: "Reverted 0x…"; hardhat and EDR: { data: "0x…" }.
function readRevertData(data: unknown): Hex | null {
  const candidate = innerData(data);
  if (typeof candidate !== "string") return null;
  const found = /^(?:reverted )?(0x(?:[0-9a-f]{2})*)$/i.exec(candidate);
  return found?.[1] ? (found[1].toLowerCase() as Hex) : null;
}

/** The data of an error if it is hex: any other text could repeat a key. */
export function readHexData(data: unknown): Hex | null {
  const candidate = innerData(data);
  return typeof candidate === "string" && /^0x[0-9a-f]*$/i.test(candidate) ? (candidate as Hex) : null;
}

function innerData(data: unknown): unknown {
  return typeof data === "object" && data !== null ? (data as { data?: unknown }).data : data;
}
