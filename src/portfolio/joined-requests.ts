// Joins the node requests that readers make at the same moment into one batch, without tying their fates together.
import { RpcError } from "../chain/rpc/errors.ts";
import type { Rpc, RpcCall, RpcCallOptions, RpcResult, RpcResults } from "../chain/rpc/types.ts";
import { untilAborted } from "../lib/until-aborted.ts";

/** Calls that one reader sends together, and how it gets their results. */
type Ask = {
  readonly calls: readonly RpcCall[];
  readonly options: RpcCallOptions;
  resolve(results: readonly RpcResult[] | Promise<readonly RpcResult[]>): void;
};

/** Half of the time for names of tokens or for activity: a call that hangs must not use up the time of the others. */
const JOINED_MS_MAX = 1_000;

/**
 * The same client, for the reads of one wallet at one block. A joined batch has one attempt: whatever it leaves without a
 * result, or leaves waiting for too long, is sent by itself then, with all the attempts that it has without this.
 * After a batch that took too long there are no others: a slow or busy node would get every call twice.
 * `signal` ends all requests.
 */
export function joinRequests(rpc: Rpc, signal: AbortSignal): Rpc {
  let waiting: Ask[] = [];
  let isTooSlow = false;
  const onLate = () => {
    isTooSlow = true;
  };
  const sendWaiting = () => {
    const asks = waiting.filter(({ options }) => options.signal?.aborted !== true);
    const joined = isTooSlow || asks.length === 1 ? [] : asks;
    for (const ask of waiting) if (!joined.includes(ask)) ask.resolve(sendAlone(rpc, ask));
    waiting = [];
    if (joined.length > 0) sendJoined(rpc, joined, { signal, onLate });
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

type JoinedOptions = { readonly signal: AbortSignal; readonly onLate: () => void };

function sendJoined(rpc: Rpc, asks: readonly Ask[], options: JoinedOptions): void {
  const open = new Set(asks);
  const late = new AbortController();
  const finish = () => {
    clearTimeout(timer);
    for (const ask of open) ask.resolve(sendAlone(rpc, ask));
    open.clear();
  };
  const timer = setTimeout(() => {
    options.onLate();
    // It may not even have left the queue for the node.
    late.abort();
    finish();
  }, JOINED_MS_MAX);
  const joined = asks.flatMap(({ calls }) => calls);
  const signal = AbortSignal.any([options.signal, late.signal]);
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

/** A contract has decided. Any other failure may be that of the joined batch: its size, or that of its response. */
function isFinal(result: RpcResult): boolean {
  return "ok" in result || result.error.kind === "reverted";
}
