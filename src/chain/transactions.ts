// The calls that a transaction made, as a node traces them (debug_traceTransaction with geth's callTracer).
import type { Hex } from "../lib/hex.ts";
import { malformedResponse, RpcError, type RpcFailureKind } from "./rpc/errors.ts";
import { readAddress, readData, readObject } from "./rpc/hex-values.ts";
import type { Rpc, RpcCall, RpcCallOptions } from "./rpc/types.ts";

export type TracedCall = { readonly to: Hex; readonly input: Hex };

/** The calls of each transaction that took effect, in the order they were made; absent where no provider traces it. */
export type CallTracer = (
  hashes: readonly Hex[],
  options?: RpcCallOptions,
) => Promise<ReadonlyMap<Hex, readonly TracedCall[]>>;

// What a provider says that does not have the method, or not for us. Another transaction would get the same.
const NOT_OFFERED: ReadonlySet<RpcFailureKind> = new Set(["unsupported", "refused", "invalid-request"]);

/** Remembers which providers do not offer traces, and does not call them again. */
export function createCallTracer(rpc: Rpc): CallTracer {
  const withoutTraces = new Set<number>();

  async function trace(
    only: number,
    hash: Hex,
    options: RpcCallOptions,
  ): Promise<readonly TracedCall[] | null> {
    const { method, params, parse } = traceCall(hash);
    const read = parse ? { ...options, parse } : options;
    try {
      return await rpc.pinned((node) => node.request(method, params, read), {
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
      // The first one shows whether the provider offers traces at all.
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

/** Depth first, as they were made. What a failed call did, and all that it called, was undone. */
function* effectiveCalls(trace: unknown): Generator<TracedCall> {
  const open: unknown[] = [trace];
  while (open.length > 0) {
    const frame = readObject(open.pop(), "a traced call");
    if (frame.error !== undefined && frame.error !== null) continue;
    // Code that is borrowed (DELEGATECALL) emits in the name of the borrower: it is no call to the contract.
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
