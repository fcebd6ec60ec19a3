// Subscriptions over WebSocket: each notification reaches the right socket once, and none after it closed.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { openEdrProvider } from "../edr-provider.ts";
import { type LocalChain, startLocalChain } from "../local-chain.ts";
import {
  EMITTER,
  EMITTER_CODE,
  emitLog,
  encodeTopic,
  PATIENT_POLL,
  readRpcBlock,
} from "../testing/log-emitter.ts";
import { REFRESH_MS, Subscriptions } from "./subscriptions.ts";

type Notification = { readonly subscription: string; readonly result: unknown };

/** A client that keeps every notification it gets. */
class Listener {
  readonly notifications: Notification[] = [];
  readonly socket: WebSocket;
  readonly #opened: Promise<unknown>;
  #nextId = 0;
  readonly #waiting = new Map<number, (reply: { result?: unknown; error?: { code: number } }) => void>();

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.#opened = once(this.socket, "open");
    this.socket.on("message", (data) => {
      const message = JSON.parse(data.toString());
      if (message.method === "eth_subscription") this.notifications.push(message.params);
      else this.#waiting.get(message.id)?.(message);
    });
  }

  async call(method: string, ...params: unknown[]): Promise<{ result?: unknown; error?: { code: number } }> {
    await this.#opened;
    this.#nextId += 1;
    const id = this.#nextId;
    const reply = new Promise<{ result?: unknown }>((resolve) => this.#waiting.set(id, resolve));
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return reply;
  }

  results(subscription: unknown): unknown[] {
    return this.notifications
      .filter((entry) => entry.subscription === subscription)
      .map(({ result }) => result);
  }

  async waitFor(subscription: unknown, count: number): Promise<unknown[]> {
    await vi.waitUntil(() => this.results(subscription).length >= count, PATIENT_POLL);
    return this.results(subscription);
  }
}

let chain: LocalChain;
let one: Listener;
let two: Listener;
beforeEach(async () => {
  chain = await startLocalChain({ chainId: 31337, code: { [EMITTER]: EMITTER_CODE } });
  one = new Listener(chain.wsUrl);
  two = new Listener(chain.wsUrl);
});
afterEach(() => chain.stop());

describe("subscriptions", () => {
  it("sends new heads in order to each subscribed socket", async () => {
    const first = await one.call("eth_subscribe", "newHeads");
    await chain.mine(3);
    const second = await two.call("eth_subscribe", "newHeads");
    await chain.mine(1);
    const heads = (await one.waitFor(first.result, 4)) as { number: string; hash: string }[];
    expect(heads.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4]);
    expect(heads[3]?.hash).toBe((await readRpcBlock(chain, 4n)).hash);
    expect(await two.waitFor(second.result, 1)).toHaveLength(1);
    expect(two.notifications).toHaveLength(1);
  });

  it("sends one notification per log, and none for blocks without logs", async () => {
    await chain.request("evm_setAutomine", [false]);
    const all = await one.call("eth_subscribe", "logs");
    const some = await one.call("eth_subscribe", "logs", { address: EMITTER, topics: [encodeTopic(2)] });
    const heads = await one.call("eth_subscribe", "newHeads");
    await chain.mine(2);
    await emitLog(chain, 1);
    await emitLog(chain, 2);
    await chain.mine(1);
    const logs = (await one.waitFor(all.result, 2)) as { topics: string[]; removed: boolean }[];
    await one.waitFor(heads.result, 3);
    expect(logs.map(({ topics, removed }) => [Number(topics[0]), removed])).toEqual([
      [1, false],
      [2, false],
    ]);
    expect(await one.waitFor(some.result, 1)).toHaveLength(1);
    expect(one.notifications).toHaveLength(6);
  });

  it("sends pending transactions", async () => {
    const pending = await one.call("eth_subscribe", "newPendingTransactions");
    const hash = await emitLog(chain, 1);
    expect(await one.waitFor(pending.result, 1)).toEqual([hash]);
  });

  it("sends removed logs of a reorg, then those of the new branch", async () => {
    const logs = await one.call("eth_subscribe", "logs", { address: EMITTER });
    const heads = await one.call("eth_subscribe", "newHeads");
    await emitLog(chain, 1);
    await emitLog(chain, 2);
    const { added } = await chain.reorg(1, { replay: "all" });
    const logNotifications = (await one.waitFor(logs.result, 4)) as {
      topics: string[];
      removed: boolean;
      blockHash: string;
    }[];
    expect(logNotifications.map(({ topics, removed }) => [Number(topics[0]), removed])).toEqual([
      [1, false],
      [2, false],
      [2, true],
      [2, false],
    ]);
    expect(logNotifications[2]?.blockHash).toBe(logNotifications[1]?.blockHash);
    expect(logNotifications[3]?.blockHash).toBe(added[0]?.hash);
    const seen = (await one.waitFor(heads.result, 3)) as { number: string; hash: string }[];
    expect(seen.map(({ number }) => Number(number))).toEqual([1, 2, 2]);
    expect(seen[2]?.hash).toBe(added[0]?.hash);
  });

  it("lets only the socket that opened a subscription end it", async () => {
    const { result: id } = await one.call("eth_subscribe", "newHeads");
    expect((await two.call("eth_unsubscribe", id)).result).toBe(false);
    expect((await one.call("eth_unsubscribe", id)).result).toBe(true);
    expect((await one.call("eth_unsubscribe", id)).result).toBe(false);
    expect((await one.call("eth_unsubscribe", {})).result).toBe(false);
    const other = await two.call("eth_subscribe", "newHeads");
    await chain.mine(1);
    await two.waitFor(other.result, 1);
    expect(one.notifications).toEqual([]);
  });

  it("rejects unknown kinds and bad filters", async () => {
    expect((await one.call("eth_subscribe", "syncing")).error?.code).toBe(-32602);
    expect((await one.call("eth_subscribe")).error?.code).toBe(-32602);
    expect((await one.call("eth_subscribe", "logs", "all")).error?.code).toBe(-32602);
    expect((await one.call("eth_subscribe", "logs", { address: 5 })).error?.code).toBe(-32602);
  });

  it("limits the subscriptions of a socket", async () => {
    const replies = await Promise.all(
      Array.from({ length: 1_001 }, () => one.call("eth_subscribe", "newHeads")),
    );
    expect(replies.filter(({ error }) => error?.code === -32005)).toHaveLength(1);
  });

  it("ends the subscriptions of a closed socket", async () => {
    const { result: id } = await one.call("eth_subscribe", "newHeads");
    const other = await two.call("eth_subscribe", "newHeads");
    one.socket.terminate();
    await once(one.socket, "close");
    // EDR returns null for a filter it no longer has.
    await vi.waitUntil(
      async () => (await chain.request("eth_getFilterChanges", [id])) === null,
      PATIENT_POLL,
    );
    expect(await chain.request("eth_getFilterChanges", [other.result])).toEqual(expect.any(Array));
    await chain.mine(1);
    expect(await two.waitFor(other.result, 1)).toHaveLength(1);
  });

  it("polls each open subscription well within EDR's five minutes", async () => {
    const edr = await openEdrProvider({
      chainId: 1,
      instant: true,
      genesisTimestamp: 1_700_000_000n,
      accounts: [],
      code: {},
      onEvent: () => undefined,
    });
    const polled: unknown[] = [];
    const subscriptions = new Subscriptions({
      request: (method, params) => {
        if (method === "eth_getFilterChanges") polled.push(params[0]);
        return edr.request(method, params);
      },
    });
    const sink = () => undefined;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const heads = await subscriptions.open(sink, ["newHeads"]);
      const logs = await subscriptions.open(sink, ["logs"]);
      expect(REFRESH_MS).toBeLessThanOrEqual(150_000);
      vi.advanceTimersByTime(REFRESH_MS);
      while (polled.length < 2) await edr.request("net_version", []);
      expect(polled).toEqual([heads, logs]);
      await subscriptions.closeAll(sink);
      expect(vi.getTimerCount()).toBe(0);
      await expect(subscriptions.open(sink, ["newHeads"])).rejects.toThrow("The socket is closed");
    } finally {
      vi.useRealTimers();
    }
  });
});
