// Routes EDR's events to the sockets that subscribed, one notification per log.
import type { EdrProvider, SubscriptionEvent } from "../edr-provider.ts";
import { JSON_RPC_CODES, JsonRpcError } from "./json-rpc-error.ts";

/** A socket's way to send one message. Its identity is the owner of the subscriptions opened with it. */
export type NotificationSink = (message: string) => void;

type Subscription = {
  readonly id: string;
  readonly sink: NotificationSink;
  readonly logFilter: object | undefined;
};

/** Far more than a client needs; stops a loop that never unsubscribes before it slows every block. */
const SUBSCRIPTIONS_PER_SINK_MAX = 1_000;

/** EDR drops filters, subscriptions included, that were not polled for five minutes, and buffers their events till then. */
export const REFRESH_MS = 60_000;

const KINDS = new Set(["newHeads", "logs", "newPendingTransactions"]);

export class Subscriptions {
  readonly #edr: EdrProvider;
  readonly #byFilter = new Map<bigint, Subscription>();
  readonly #bySink = new Map<NotificationSink, Set<bigint>>();
  readonly #closed = new WeakSet<NotificationSink>();
  #refresher: NodeJS.Timeout | undefined;

  constructor(edr: EdrProvider) {
    this.#edr = edr;
  }

  /** Must run in the write queue: no block may be mined between EDR's response and storing the id. */
  async open(sink: NotificationSink, params: readonly unknown[]): Promise<string> {
    const [kind, filter] = params;
    if (typeof kind !== "string" || !KINDS.has(kind)) {
      throw new JsonRpcError(JSON_RPC_CODES.invalidParams, `Subscriptions are ${[...KINDS].join(", ")}`);
    }
    // The rest of a batch may still be running when its socket is long closed.
    if (this.#closed.has(sink)) throw new JsonRpcError(JSON_RPC_CODES.server, "The socket is closed");
    const own = this.#bySink.get(sink) ?? new Set();
    if (own.size >= SUBSCRIPTIONS_PER_SINK_MAX) {
      throw new JsonRpcError(
        JSON_RPC_CODES.limitExceeded,
        `At most ${SUBSCRIPTIONS_PER_SINK_MAX} subscriptions per socket`,
      );
    }
    const logFilter = kind === "logs" ? toLogFilter(filter) : undefined;
    const id: string = JSON.parse(
      await this.#edr.request("eth_subscribe", logFilter ? [kind, logFilter] : [kind]),
    );
    this.#byFilter.set(BigInt(id), { id, sink, logFilter });
    this.#bySink.set(sink, own.add(BigInt(id)));
    this.#refresher ??= setInterval(() => void this.#refresh(), REFRESH_MS).unref();
    return id;
  }

  /** False if this socket has no such subscription: a socket cannot end those of others. */
  async close(sink: NotificationSink, id: unknown): Promise<boolean> {
    const own = this.#bySink.get(sink);
    const filter = typeof id === "string" && /^0x[0-9a-f]{1,16}$/i.test(id) ? BigInt(id) : undefined;
    if (!own || filter === undefined || !own.delete(filter)) return false;
    if (own.size === 0) this.#bySink.delete(sink);
    const subscription = this.#byFilter.get(filter);
    this.#byFilter.delete(filter);
    if (this.#byFilter.size === 0) {
      clearInterval(this.#refresher);
      this.#refresher = undefined;
    }
    if (subscription) await this.#edr.request("eth_unsubscribe", [subscription.id]);
    return true;
  }

  /** For a closed socket: it gets nothing more and cannot subscribe again. */
  async closeAll(sink: NotificationSink): Promise<void> {
    this.#closed.add(sink);
    for (const filter of [...(this.#bySink.get(sink) ?? [])])
      await this.close(sink, `0x${filter.toString(16)}`);
  }

  deliver(event: SubscriptionEvent): void {
    const subscription = this.#byFilter.get(event.filterId);
    // An event of a subscription that was just closed may still be on its way.
    if (!subscription) return;
    // EDR sends the logs of a block as one array, also when there are none.
    const results = subscription.logFilter && Array.isArray(event.result) ? event.result : [event.result];
    for (const result of results) notify(subscription, result);
  }

  async #refresh(): Promise<void> {
    for (const { id } of [...this.#byFilter.values()]) await this.#edr.request("eth_getFilterChanges", [id]);
  }

  /** As nodes do in a reorg: sends the logs of the blocks about to go to their subscribers again, marked removed. */
  async retractLogs(fromBlock: bigint, toBlock: bigint): Promise<void> {
    const range = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` };
    for (const subscription of this.#byFilter.values()) {
      if (!subscription.logFilter) continue;
      const logs: object[] = JSON.parse(
        await this.#edr.request("eth_getLogs", [{ ...subscription.logFilter, ...range }]),
      );
      for (const log of logs) notify(subscription, { ...log, removed: true });
    }
  }
}

/** Only what narrows by contract and topic: a live subscription has no block range. */
function toLogFilter(filter: unknown): object {
  if (filter === undefined || filter === null) return {};
  if (typeof filter !== "object")
    throw new JsonRpcError(JSON_RPC_CODES.invalidParams, "A log filter is an object");
  const { address, topics } = filter as { address?: unknown; topics?: unknown };
  return { ...(address === undefined ? {} : { address }), ...(topics === undefined ? {} : { topics }) };
}

function notify({ id, sink }: Subscription, result: unknown): void {
  sink(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params: { subscription: id, result } }));
}
