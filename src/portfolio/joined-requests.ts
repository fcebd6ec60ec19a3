// Joins the node requests that readers make at the same moment into one batch, without tying their fates together.
import { RpcError } from "../chain/rpc/errors.ts";
import type { Rpc, RpcCall, RpcCallOptions, RpcResult, RpcResults } from "../chain/rpc/types.ts";
import { Deadline, untilAborted } from "../lib/deadline.ts";

type Results = readonly RpcResult[];

/** Calls that one reader sends together, and how it gets what they lead to. */
type JoinedRead<T> = {
  readonly calls: readonly RpcCall[];
  /** May throw. */
  interpret(results: Results): T;
  /** The same with all the attempts that it has by itself. */
  readAlone(): Promise<T>;
};

type WaitingRead = {
  readonly calls: readonly RpcCall[];
  readonly signal: AbortSignal | undefined;
  accept(results: Results): void;
  sendAlone(): void;
};

/**
 * Half of the time for names of tokens or for activity: a call that hangs must not use up the time of the others. It
 * begins when the node gets the request: behind a long queue, many requests in place of one only make it longer.
 */
const JOINED_MS_MAX = 1_000;

/**
 * The reads of one wallet at one block that are asked for in the same turn, as one batch with one attempt; equal calls
 * are sent once. A read that is left without its results, or whose node takes longer than `msMax`, is sent alone then.
 * After a batch that took too long there are no others: a slow node would get every call twice. `signal` ends all
 * requests.
 */
export class RequestJoiner {
  readonly #rpc: Rpc;
  readonly #signal: AbortSignal;
  readonly #msMax: number;
  #waiting: WaitingRead[] = [];
  #isTooSlow = false;

  constructor(rpc: Rpc, signal: AbortSignal, msMax: number = JOINED_MS_MAX) {
    this.#rpc = rpc;
    this.#signal = signal;
    this.#msMax = msMax;
  }

  /** The wait for it ends with a `signal` of its own. */
  read<T>({ calls, interpret, readAlone }: JoinedRead<T>, signal?: AbortSignal): Promise<T> {
    const result = new Promise<T>((resolve, reject) => {
      // Readers that got their results in the same response all ask again before the next turn of the event loop.
      if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting());
      this.#waiting.push({
        calls,
        signal,
        accept: (results) => {
          try {
            resolve(interpret(results));
          } catch (error) {
            reject(error);
          }
        },
        sendAlone: () => void readAlone().then(resolve, reject),
      });
    });
    return signal === undefined || signal === this.#signal ? result : untilAborted(result, signal);
  }

  #sendWaiting(): void {
    const reads = this.#waiting.filter(({ signal }) => signal?.aborted !== true);
    const joined = this.#isTooSlow || reads.length === 1 ? [] : reads;
    for (const read of this.#waiting) if (!joined.includes(read)) read.sendAlone();
    this.#waiting = [];
    if (joined.length > 0) this.#sendJoined(joined);
  }

  #sendJoined(reads: readonly WaitingRead[]): void {
    const open = new Set(reads);
    const deadline = new Deadline(null, this.#signal);
    const finish = () => {
      deadline.end();
      this.#isTooSlow ||= deadline.isLate;
      for (const read of open) read.sendAlone();
      open.clear();
    };
    deadline.signal.addEventListener("abort", finish);
    const calls = [...new Set(reads.flatMap((read) => read.calls))];
    const { signal } = deadline;
    const onSend = () => deadline.begin(this.#msMax);
    this.#rpc
      .pinned((node) => node.batch(calls, { signal, onSend }), { signal, attemptsMax: 1 })
      .then((results: Results) => {
        const resultOf = new Map(calls.map((call, index) => [call, results[index]]));
        for (const read of reads) {
          const own = read.calls.flatMap((call) => resultOf.get(call) ?? []);
          if (open.has(read) && own.every(isFinal)) {
            open.delete(read);
            read.accept(own);
          }
        }
      })
      // Each read that is left is sent again, and gets its own error.
      .then(finish, finish);
  }
}

/** The same client, with the requests of each turn joined. */
export function joinRequests(rpc: Rpc, signal: AbortSignal, msMax: number = JOINED_MS_MAX): Rpc {
  const joiner = new RequestJoiner(rpc, signal, msMax);
  const read = (calls: readonly RpcCall[], options: RpcCallOptions) =>
    joiner.read(
      { calls, interpret: (results) => results, readAlone: () => sendAlone(rpc, calls, options) },
      options.signal,
    );
  return {
    async request<T>(call: RpcCall<T>, options: RpcCallOptions = {}) {
      const [result] = (await read([call], options)) as readonly [RpcResult<T>];
      if ("error" in result) throw result.error;
      return result.ok;
    },
    batch: <const Calls extends readonly RpcCall[]>(calls: Calls, options: RpcCallOptions = {}) =>
      read(calls, options) as unknown as Promise<RpcResults<Calls>>,
    pinned: (work, options) => rpc.pinned(work, options),
    providers: () => rpc.providers(),
    close: () => rpc.close(),
  };
}

/** As if there were no other reader. */
async function sendAlone(rpc: Rpc, calls: readonly RpcCall[], options: RpcCallOptions): Promise<Results> {
  const [only] = calls;
  if (calls.length !== 1 || only === undefined) return rpc.batch(calls, options);
  try {
    return [{ ok: await rpc.request(only, options) }];
  } catch (error) {
    if (error instanceof RpcError) return [{ error }];
    throw error;
  }
}

/** A contract has decided. Any other failure may be that of the joined batch: its size, or that of its response. */
function isFinal(result: RpcResult): boolean {
  return "ok" in result || result.error.kind === "reverted";
}
