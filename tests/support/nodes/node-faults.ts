// The faults that a faulty node injects: each changes or replaces the honest response.

export type NodeRpcCall = {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
};
export type NodeRpcResponse = Record<string, unknown>;

export type NodeFaultInjection =
  /** An HTTP status with a text, without a request to the node. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** A gateway's web page instead of JSON. */
  | { readonly kind: "page" }
  /** The honest response, truncated. */
  | { readonly kind: "truncated" }
  /** The connection dies in the middle of the response, or before it. */
  | { readonly kind: "cut-connection" }
  | { readonly kind: "reset" }
  | { readonly kind: "hang" }
  /** This result in place of the honest one. */
  | { readonly kind: "result"; readonly result: unknown }
  /** A JSON-RPC error, with HTTP 200 by default; in place of a whole batch, or of its queries for logs. */
  | {
      readonly kind: "error" | "member-error";
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
      readonly status?: number;
    }
  | { readonly kind: "wrong-id" | "reversed" | "left-out" | "doubled" }
  | { readonly kind: "null-result" | "garbage" | "empty-logs" | "wrong-hash" | "other-block" }
  /** Logs as a machine behind a balancer has them whose head is this block: less by range, unknown by hash. */
  | { readonly kind: "lagging"; readonly head: number }
  /** The log in the middle of a longer list is left out. */
  | { readonly kind: "omit-middle" }
  /** Another block in place of the finalized one. */
  | { readonly kind: "final-at"; readonly block: string }
  /** One log is left out of every list of logs; `receipts`: out of its transaction's receipt as well. */
  | {
      readonly kind: "omit-log";
      readonly block: number;
      readonly logIndex: number;
      readonly receipts?: boolean;
    };

/** Visible failures: the client can tell that something went wrong. */
export const FLAKY_FAULTS: readonly NodeFaultInjection[] = [
  { kind: "status", status: 429, retryAfter: "0" },
  { kind: "status", status: 500 },
  { kind: "page" },
  { kind: "truncated" },
  { kind: "reset" },
  { kind: "cut-connection" },
  { kind: "left-out" },
  { kind: "wrong-id" },
];

/** The same, and responses that are wrong or incomplete. */
export const LIAR_FAULTS: readonly NodeFaultInjection[] = [
  ...FLAKY_FAULTS,
  { kind: "reversed" },
  { kind: "null-result" },
  { kind: "garbage" },
  { kind: "empty-logs" },
  { kind: "wrong-hash" },
  { kind: "other-block" },
  { kind: "lagging", head: 60 },
  { kind: "error", code: -32_000, message: "header not found" },
  { kind: "error", code: -32_005, message: "query returned more than 10000 results" },
];

/** Wrong content from a node that seems healthy; only so often per call, as from one bad machine among good ones. */
export const LYING_FAULTS: ReadonlySet<string> = new Set([
  "null-result",
  "garbage",
  "empty-logs",
  "wrong-hash",
  "other-block",
  "lagging",
  "omit-log",
  "omit-middle",
]);

export const ERROR_PAGE_HTML =
  "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1>Please try again.</body></html>";

/** Changes the list of responses, in the order of the calls. */
export function tamperEnvelopes(
  kind: NodeFaultInjection["kind"],
  responses: NodeRpcResponse[],
): NodeRpcResponse[] {
  if (kind === "reversed") return [...responses].reverse();
  if (kind === "left-out") return responses.length > 1 ? responses.slice(1) : responses;
  if (kind === "doubled") return responses.length > 1 ? [...responses, ...responses.slice(0, 1)] : responses;
  if (kind === "wrong-id") return responses.map((response) => ({ ...response, id: 999_999_999 }));
  return responses;
}

/** Changes the result of one response. */
export function tamperResult(injection: NodeFaultInjection, call: NodeRpcCall, result: unknown): unknown {
  const { kind } = injection;
  if (kind === "lagging") {
    if (call.method !== "eth_getLogs" || !Array.isArray(result)) return result;
    return result.filter((log: { blockNumber: string }) => Number(log.blockNumber) <= injection.head);
  }
  if (kind === "omit-middle") return withoutMiddle(call, result);
  if (kind === "omit-log") return withoutLog(injection, call, result);
  if (kind === "null-result") return null;
  if (kind === "garbage") return Array.isArray(result) ? [{ address: "0x12", topics: "none" }] : "0xnonsense";
  if (kind === "empty-logs") return call.method === "eth_getLogs" ? [] : result;
  if (kind === "wrong-hash") return withWrongHash(call, result);
  if (kind === "other-block") return withOtherNumber(call, result);
  return result;
}

/** The call as it is forwarded. */
export function rewriteCall(injection: NodeFaultInjection | null, call: NodeRpcCall): NodeRpcCall {
  if (injection?.kind !== "final-at" || call.params[0] !== "finalized") return call;
  return { ...call, params: [injection.block, ...call.params.slice(1)] };
}

// Shorter lists are what payments and balances are read from, by one node at a time.
const MIDDLE_OF_MIN = 3;

function withoutMiddle(call: NodeRpcCall, result: unknown): unknown {
  if (call.method !== "eth_getLogs" || !Array.isArray(result) || result.length < MIDDLE_OF_MIN) return result;
  return result.toSpliced(result.length >> 1, 1);
}

function withoutLog(
  { block, logIndex, receipts }: Extract<NodeFaultInjection, { kind: "omit-log" }>,
  call: NodeRpcCall,
  result: unknown,
): unknown {
  const keep = (log: { blockNumber: string; logIndex: string }) =>
    Number(log.blockNumber) !== block || Number(log.logIndex) !== logIndex;
  if (call.method === "eth_getLogs" && Array.isArray(result)) return result.filter(keep);
  if (receipts !== true || call.method !== "eth_getTransactionReceipt" || result === null) return result;
  const receipt = result as { logs: { blockNumber: string; logIndex: string }[] };
  return { ...receipt, logs: receipt.logs.filter(keep) };
}

/** Whether a machine that lags rejects the query by hash. */
export function rejectsBlockHash(injection: NodeFaultInjection, call: NodeRpcCall): boolean {
  const [filter] = call.params;
  return injection.kind === "lagging" && call.method === "eth_getLogs" && "blockHash" in (filter as object);
}

const WRONG_HASH = `0x${"ab".repeat(32)}`;

function withWrongHash(call: NodeRpcCall, result: unknown): unknown {
  if (call.method === "eth_getLogs" && Array.isArray(result)) {
    return result.map((log: object) => ({ ...log, blockHash: WRONG_HASH }));
  }
  if (call.method.startsWith("eth_getBlockBy") && result !== null)
    return { ...(result as object), hash: WRONG_HASH };
  return result;
}

function withOtherNumber(call: NodeRpcCall, result: unknown): unknown {
  if (call.method === "eth_getLogs" && Array.isArray(result)) {
    return result.map((log: object) => ({ ...log, blockNumber: "0xfffff" }));
  }
  if (call.method === "eth_getBlockByNumber" && result !== null)
    return { ...(result as object), number: "0xfffff" };
  return result;
}
