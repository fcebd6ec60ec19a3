// The benchmarks' history is a possible one, and the replay node responds like a node.
// A tool of benchmarks, not a rule of the product.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveGrowingHistory } from "../../bench/history/growing-history.ts";
import { generateHistory } from "../../bench/history/history.ts";
import { actionMixOf, BUSY_MIX } from "../../bench/history/mix.ts";
import { type ReplayNode, startReplayNode } from "../../bench/history/replay-node.ts";
import { type ServedHistory, serveHistory } from "../../bench/history/served-history.ts";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import { startTestIndex } from "../support/index/test-index.ts";

// As few as have every kind of event, in three parts of the growing history.
const EVENTS = 1_200;
const EVENTS_PER_PART = 400;
const options = { seed: 3, mix: actionMixOf(EVENTS), eventsMax: EVENTS };

type Log = { address: string; topics: string[]; blockNumber: string; blockHash: string; logIndex: string };
type Block = { number: string; hash: string; parentHash: string; transactions: string[] };

let served: ServedHistory;
let node: ReplayNode;

beforeAll(async () => {
  served = serveHistory(options, () => undefined);
  node = await startReplayNode(served);
});

afterAll(() => node.close());

async function request<T>(method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(node.url, { method: "POST", body });
  return ((await response.json()) as { result: T }).result;
}

const quantity = (value: number) => `0x${value.toString(16)}`;

describe("a history", () => {
  it("a history is the same for the same seed, and another for another", () => {
    const text = (seed: number) =>
      JSON.stringify([...generateHistory({ ...options, seed })], (_, value) =>
        typeof value === "bigint" ? String(value) : value,
      );
    expect(text(3)).toBe(text(3));
    expect(text(3)).not.toBe(text(4));
  });

  it("a history has every kind of event that its mix names", () => {
    const kinds = new Set(
      [...generateHistory(options)].flatMap(({ transactions }) =>
        transactions.flatMap(({ logs }) => logs.map(({ topics }) => topics[0])),
      ),
    );
    // A fill makes two, and an account's domain is never changed.
    expect(kinds.size).toBe(Object.keys(BUSY_MIX).length + 1);
  });

  it("spends exactly the counts of its mix if nothing stands in the way", () => {
    const mix = { registerAgent: 120, submitIntent: 40, registerSolver: 10, submitBid: 80 };
    const steps = [...generateHistory({ seed: 5, mix })].flatMap(({ transactions }) =>
      transactions.flatMap(({ logs }) => logs),
    );
    expect(steps).toHaveLength(250);
  });
});

describe("the node that replays it", () => {
  it("gives blocks that are linked, by number, hash and tag", async () => {
    const [last, parent] = await Promise.all([
      request<Block>("eth_getBlockByNumber", "finalized", false),
      request<Block>("eth_getBlockByNumber", quantity(served.head - 1), false),
    ]);
    expect(Number(last.number)).toBe(served.head);
    expect(last.parentHash).toBe(parent.hash);
    expect(await request("eth_getBlockByHash", parent.hash, false)).toEqual(parent);
    expect(await request("eth_getBlockByNumber", quantity(served.head + 1), false)).toBeNull();
  });

  it("filters logs, by the indexer's own filters and by others", async () => {
    const { addresses, topics0, anyEmitterTopics0 } = createLogDecoder(served.chain.deployment);
    const range = { fromBlock: quantity(1_000), toBlock: quantity(served.head) };
    const own = await request<Log[]>("eth_getLogs", { ...range, address: addresses, topics: [topics0] });
    const others = await request<Log[]>("eth_getLogs", { ...range, topics: [anyEmitterTopics0] });
    expect(own.length + others.length).toBe(served.events);
    const [address] = addresses;
    const some = await request<Log[]>("eth_getLogs", { ...range, address });
    expect(some).toEqual(own.filter((log) => log.address === address));
    expect(some.length).toBeGreaterThan(0);
    const [log] = own;
    const ofBlock = await request<Log[]>("eth_getLogs", {
      blockHash: log?.blockHash,
      address: addresses,
      topics: [topics0],
    });
    expect(ofBlock).toEqual(own.filter(({ blockHash }) => blockHash === log?.blockHash));
  });

  it("knows every transaction of a block, and no other", async () => {
    const block = await request<Block>("eth_getBlockByNumber", quantity(1_000), false);
    const found = await Promise.all(
      block.transactions.map((hash) => request<{ hash: string }>("eth_getTransactionByHash", hash)),
    );
    expect(found.map(({ hash }) => hash)).toEqual(block.transactions);
    expect(await request("eth_getTransactionByHash", `0x${"ab".repeat(32)}`)).toBeNull();
  });

  it("an indexer indexes a replayed history to the last event", async () => {
    const index = await startTestIndex({ urls: [node.url], deployment: served.chain.deployment });
    await index.waitUntilIndexed({ number: served.head, hash: served.chain.hashOf(served.head) });
    const { rows } = await index.database.query<{ count: string }>("select count(*) from logs");
    expect(Number(rows[0]?.count)).toBe(served.events);
    await index.close();
  });
});

describe("a history that grows as it is read", () => {
  const grow = (fromBlock: number) =>
    serveGrowingHistory({
      ...options,
      eventsMax: EVENTS,
      fromBlock,
      eventsPerPart: EVENTS_PER_PART,
      progress: () => undefined,
    });

  it("a growing history is the same, in parts that are forgotten behind the reader", async () => {
    const growing = grow(0);
    const growingNode = await startReplayNode(growing);
    const index = await startTestIndex({ urls: [growingNode.url], deployment: served.chain.deployment });
    await index.waitUntilIndexed({ number: served.head, hash: served.chain.hashOf(served.head) });
    const { rows } = await index.database.query<{ count: string }>("select count(*) from logs");
    expect(Number(rows[0]?.count)).toBe(served.events);
    expect(growing.head).toBe(served.head);
    expect(growing.block(served.chain.deployment.startBlock)).toBeNull();
    const text = (history: ServedHistory) =>
      Buffer.concat(history.logs("contracts", served.head - 20, served.head)).toString();
    expect(text(growing)).toBe(text(served));
    await index.close();
    await growingNode.close();
  });

  it("goes on from where a reader was cut", () => {
    const middle = Math.floor((served.chain.deployment.startBlock + served.head) / 2);
    const resumed = grow(middle);
    expect(resumed.block(middle)).toEqual(served.block(middle));
    expect(resumed.head).toBeGreaterThan(middle);
  });
});
