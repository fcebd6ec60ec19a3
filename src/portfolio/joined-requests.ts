// Joins the node requests that readers make at the same moment into one batch, without tying their fates together.
import { RPC_FAILURES, RpcError } from "../chain/rpc/errors.ts";
import type { Rpc, RpcCall, RpcCallOptions, RpcResult, RpcResults } from "../chain/rpc/types.ts";
import { untilAborted } from "../lib/until-aborted.ts";

/** Calls that one reader sends together, and how it gets their results. */
type Ask = {
  readonly calls: readonly RpcCall[];
  readonly options: RpcCallOptions;
  resolve(results: readonly RpcResult[] | Promise<readonly RpcResult[]>): void;
};

/** Half of the shortest time that a part of a snapshot has: a call that hangs must not use up the time of the others. */
const JOINED_MS_MAX = 1_000;

/**
 * The same client, for the reads of one wallet at one block. A joined batch has one attempt: whatever it leaves without a
 * result, or leaves waiting for too long, is sent by itself then, with all the attempts that it has without this.
 * `signal` ends all requests.
 */
export function joinRequests(rpc: Rpc, signal: AbortSignal): Rpc {
  let waiting: Ask[] = [];
  const sendWaiting = () => {
    const asks = waiting.filter(({ options }) => options.signal?.aborted !== true);
    for (const ask of waiting) if (!asks.includes(ask)) ask.resolve(sendAlone(rpc, ask));
    waiting = [];
    const [first] = asks;
    if (asks.length === 1 && first) first.resolve(sendAlone(rpc, first));
    else if (asks.length > 1) sendJoined(rpc, asks, signal);
  };
  const ask = (calls: readonly RpcCall[], options: RpcCallOptions) => {
    const results = new Promise<readonly RpcResult[]>((resolve) => {
      // Readers that got their results in the same response all ask again before the next turn of the event loop.
      if (waiting.length === 0) setImmediate(sendWaiting);
      waiting.push({ calls, options, resolve });
    });
    return options.signal === undefined || options.signal === signal
      ? results
      : untilAborted(results, options.signal);
  };
  return {
    async request<T>(call: RpcCall<T>, options: RpcCallOptions = {}) {
      const [result] = (await ask([call], options)) as readonly [RpcResult<T>];
      if ("error" in result) throw result.error;
      return result.ok;
    },
    batch: <const Calls extends readonly RpcCall[]>(calls: Calls, options: RpcCallOptions = {}) =>
      ask(calls, options) as unknown as Promise<RpcResults<Calls>>,
    pinned: (work, options) => rpc.pinned(work, options),
    providers: () => rpc.providers(),
    close: () => rpc.close(),
  };
}

/** As if there were no other reader. */
async function sendAlone(rpc: Rpc, { calls, options }: Ask): Promise<readonly RpcResult[]> {
  const [only] = calls;
  if (calls.length !== 1 || only === undefined) return rpc.batch(calls, options);
  try {
    return [{ ok: await rpc.request(only, options) }];
  } catch (error) {
    if (error instanceof RpcError) return [{ error }];
    throw error;
  }
}

function sendJoined(rpc: Rpc, asks: readonly Ask[], signal: AbortSignal): void {
  const open = new Set(asks);
  const finish = () => {
    clearTimeout(timer);
    for (const ask of open) ask.resolve(sendAlone(rpc, ask));
    open.clear();
  };
  const timer = setTimeout(finish, JOINED_MS_MAX);
  const joined = asks.flatMap(({ calls }) => calls);
  rpc
    .pinned((node) => node.batch(joined, { signal }), { signal, attemptsMax: 1 })
    .then((results: readonly RpcResult[]) => {
      let start = 0;
      for (const ask of asks) {
        const own = results.slice(start, start + ask.calls.length);
        start += ask.calls.length;
        if (open.has(ask) && own.every(isFinal)) {
          open.delete(ask);
          ask.resolve(own);
        }
      }
    })
    // Each reader that is left sends its calls again, and gets its own error.
    .then(finish, finish);
}

/** A result, or a failure that no other attempt would cure. */
function isFinal(result: RpcResult): boolean {
  return "ok" in result || RPC_FAILURES[result.error.kind].next === "give-up";
}
