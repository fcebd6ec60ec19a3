// Transactions by hash, and the calls that they made as a node traces them (geth's callTracer).
import type { Hex } from "../lib/hex.ts";
import { malformedResponse, missingResult, RpcError, type RpcFailureKind } from "./rpc/errors.ts";
import { readAddress, readData, readHash, readObject, readQuantity } from "./rpc/hex-values.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "./rpc/types.ts";

type Transaction = {
  readonly from: Hex;
  /** Null for a deployment. */
  readonly to: Hex | null;
  readonly input: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: number;
};

/** Mined transactions by hash; throws BLOCK_MISSING, which may be retried, when a node lacks one. */
export async function readTransactions(
  rpc: Rpc,
  hashes: readonly Hex[],
  options: RpcCallOptions = {},
): Promise<Map<Hex, Transaction>> {
  const distinct = [...new Set(hashes.map((hash) => hash.toLowerCase() as Hex))];
  return new Map(unwrapResults(await rpc.batch(distinct.map(transactionCall), options)));
}

/** The call that reads one mined transaction; for callers that put it into a batch of their own. */
export function transactionCall(hash: Hex): RpcCall<readonly [Hex, Transaction]> {
  return {
    method: "eth_getTransactionByHash",
    params: [hash],
    parse: (result) => {
      if (result === null) throw missingResult(`transaction ${hash} not found`);
      const fields = readObject(result, "the transaction");
      if (readHash(fields.hash, "the transaction hash") !== hash) {
        throw malformedResponse(`requested transaction ${hash}, got another one`);
      }
      if (fields.blockHash === null) throw missingResult(`transaction ${hash} is not in a block`);
      const transaction = {
        from: readAddress(fields.from, "the sender"),
        to: fields.to === null || fields.to === undefined ? null : readAddress(fields.to, "the receiver"),
        input: readData(fields.input ?? fields.data, "the calldata"),
        blockHash: readHash(fields.blockHash, "the block hash of a transaction"),
        blockNumber: readQuantity(fields.blockNumber, "the block number of a transaction"),
      };
      return [hash, transaction];
    },
  };
}

type TracedCall = { readonly to: Hex; readonly input: Hex };

/** The calls of each transaction that took effect, in order; absent if no provider traces the transaction. */
type CallTracer = (
  hashes: readonly Hex[],
  options?: RpcCallOptions,
) => Promise<ReadonlyMap<Hex, readonly TracedCall[]>>;

// The provider does not have the method, or not for us: another transaction would fail the same way.
const NOT_OFFERED: ReadonlySet<RpcFailureKind> = new Set(["unsupported", "refused", "invalid-request"]);

/** Remembers which providers do not offer traces, and does not call them again. */
export function createCallTracer(rpc: Rpc): CallTracer {
  const withoutTraces = new Set<number>();

  async function trace(
    only: number,
    hash: Hex,
    options: RpcCallOptions,
  ): Promise<readonly TracedCall[] | null> {
    try {
      return await rpc.pinned((node) => node.request(traceCall(hash), options), {
        ...options,
        only,
        attemptsMax: 1,
      });
    } catch (error) {
      // A trace is one source of several: without it the caller reads the next one.
      if (!(error instanceof RpcError)) throw error;
      if (NOT_OFFERED.has(error.kind)) withoutTraces.add(only);
      return null;
    }
  }

  return async (hashes, options = {}) => {
    const found = new Map<Hex, readonly TracedCall[]>();
    for (const only of rpc.providers().keys()) {
      // The first transaction shows whether the provider offers traces at all.
      const open = hashes.filter((hash) => !found.has(hash));
      for (const group of [open.slice(0, 1), open.slice(1)]) {
        if (withoutTraces.has(only)) break;
        const traced = await Promise.all(group.map((hash) => trace(only, hash, options)));
        for (const [index, calls] of traced.entries()) {
          const hash = group[index];
          if (hash && calls) found.set(hash, calls);
        }
      }
    }
    return found;
  };
}

function traceCall(hash: Hex): RpcCall<readonly TracedCall[]> {
  return {
    method: "debug_traceTransaction",
    params: [hash, { tracer: "callTracer" }],
    parse: (trace) => [...effectiveCalls(trace)],
  };
}

/** Depth first, in order of execution. A failed call took no effect, nor did the calls below it. */
function* effectiveCalls(trace: unknown): Generator<TracedCall> {
  const open: unknown[] = [trace];
  while (open.length > 0) {
    const frame = readObject(open.pop(), "a traced call");
    if (frame.error !== undefined && frame.error !== null) continue;
    // A DELEGATECALL runs another contract's code in the caller's name: it is not a call to that contract.
    if (frame.type === "CALL") {
      yield {
        to: readAddress(frame.to, "a called contract"),
        input: readData(frame.input, "a call's input"),
      };
    }
    const inner = frame.calls ?? [];
    if (!Array.isArray(inner)) throw malformedResponse("the calls of a traced call are not a list");
    for (let i = inner.length - 1; i >= 0; i -= 1) open.push(inner[i]);
  }
}
