// Finalized history through nodes that reject, lag, lie and break.

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { EMITTERS, type LogChain, startLogChain, TOPICS } from "../../../tests/support/chain/log-chain.ts";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  planFaults,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import { startLaggingNode } from "../../../tests/support/nodes/lagging-node.ts";
import type { NodeRpcCall } from "../../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { seededRandom } from "../../../tests/support/seeded-random.ts";
import { isFullDepth, runsOf } from "../../../tests/support/test-depth.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { readHeaders } from "../headers.ts";
import { type Rpc, rawCall } from "../rpc/types.ts";
import { SecondaryProviders } from "./confirm-range.ts";
import { readBlockLogsWithProvider } from "./read-block-logs.ts";
import { type BlockRange, type LogBatch, type StreamLogsOptions, streamLogs } from "./stream-logs.ts";

const readBlockLogs = async (...given: Parameters<typeof readBlockLogsWithProvider>) =>
  (await readBlockLogsWithProvider(...given)).logs;

const HEAD = 60;
const FILTERS = [{ addresses: EMITTERS, topics0: TOPICS }];
let logs: LogChain;
let truth: ChainLog[];
const nodes: FaultyNode[] = [];

beforeAll(async () => {
  logs = await startLogChain({ blocks: HEAD, seed: 11 });
  const { rpc } = createTestRpc([logs.chain.rpcUrl]);
  const headers = await readHeaders(
    rpc,
    Array.from({ length: HEAD + 1 }, (_, i) => i),
  );
  truth = (await Promise.all(headers.map((header) => readBlockLogs(rpc, header, FILTERS)))).flat();
});
afterAll(() => logs.chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function node(plan: FaultyNodeOptions["plan"], liesPerCall = 1): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: logs.chain.request, plan, liesPerCall });
  nodes.push(started);
  return started;
}

/** Waits until no further request arrives. */
async function quiet(only: FaultyNode): Promise<void> {
  for (let before = -1; before !== only.requests.length; ) {
    before = only.requests.length;
    await pause(150);
  }
}

async function collect(rpc: Rpc, options: Partial<StreamLogsOptions> = {}): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const batch of streamLogs(rpc, { fromBlock: 0, toBlock: HEAD, filters: FILTERS, ...options })) {
    batches.push(batch);
  }
  return batches;
}

function expectWhole(batches: readonly LogBatch[], fromBlock = 0, toBlock = HEAD) {
  let next = fromBlock;
  for (const batch of batches) {
    expect(batch.fromBlock).toBe(next);
    for (const log of batch.logs) {
      expect(log.blockNumber).toBeGreaterThanOrEqual(batch.fromBlock);
      expect(log.blockNumber).toBeLessThanOrEqual(batch.toBlock);
    }
    next = batch.toBlock + 1;
  }
  expect(next).toBe(toBlock + 1);
  const wanted = truth.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock);
  expect(batches.flatMap((batch) => batch.logs)).toEqual(wanted);
}

type Query = { readonly fromBlock: string; readonly toBlock: string };

const queryOf = (calls: readonly NodeRpcCall[]): Query | null => {
  const query = calls.find((call) => call.method === "eth_getLogs")?.params[0] as Partial<Query> | undefined;
  return query?.fromBlock && query.toBlock ? { fromBlock: query.fromBlock, toBlock: query.toBlock } : null;
};

const widthOf = (calls: readonly NodeRpcCall[]): number => {
  const query = queryOf(calls);
  return query ? Number(query.toBlock) - Number(query.fromBlock) + 1 : 0;
};

describe("a stream of logs", () => {
  it.each([
    { rangeInitial: 1, prefetch: 1 },
    { rangeInitial: 7, prefetch: 3 },
    { rangeMax: 5, prefetch: 8 },
    { rangeInitial: 1_000, logsPerBatchMax: 3 },
    { rangeInitial: 1_000, logsPerBatchMax: 1 },
  ])("streams all logs in order and without overlap with %j", async (options) => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const batches = await collect(rpc, options);
    expectWhole(batches);
    expectWhole(await collect(rpc, { ...options, fromBlock: 13, toBlock: 41 }), 13, 41);
  });

  it("cuts batches between blocks, and only a single block may be larger", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    for (const { logs: list } of await collect(rpc, { rangeInitial: 1_000, logsPerBatchMax: 2 })) {
      if (list.length > 2) expect(new Set(list.map((log) => log.blockNumber)).size).toBe(1);
    }
  });

  it("merges several filters", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const filters = EMITTERS.map((address) => ({ addresses: [address], topics0: TOPICS }));
    expectWhole(await collect(rpc, { filters }));
  });

  it("streams an empty batch if no log matches, and nothing without blocks", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    expect(await collect(rpc, { fromBlock: 5, toBlock: 4 })).toEqual([]);
    const [batch] = await collect(rpc, { filters: [{ addresses: null, topics0: [`0x${"99".repeat(32)}`] }] });
    expect(batch).toEqual({ fromBlock: 0, toBlock: HEAD, logs: [] });
  });

  it("learns the range that a node states", async () => {
    const only = await node((_, calls) =>
      widthOf(calls) > 9
        ? { kind: "member-error", code: -32602, message: "eth_getLogs is limited to a 9 blocks range" }
        : null,
    );
    const { rpc } = createTestRpc([only.url]);
    expectWhole(await collect(rpc, { rangeInitial: 61, prefetch: 1 }));
    const rejections = only.requests.filter((calls) => widthOf(calls) > 9);
    expect(rejections).toHaveLength(1);
  });

  it("takes the range that a node suggests", async () => {
    const only = await node((_, calls) => {
      if (widthOf(calls) <= 20) return null;
      const fromBlock = queryOf(calls)?.fromBlock ?? "0x0";
      const message = `query returned more than 10000 results. Try with this block range [${fromBlock}, 0x${(Number(fromBlock) + 19).toString(16)}].`;
      return { kind: "member-error", code: -32005, message };
    });
    const { rpc } = createTestRpc([only.url]);
    const batches = await collect(rpc, { rangeInitial: 61, prefetch: 1 });
    expectWhole(batches);
    expect(batches[0]).toMatchObject({ fromBlock: 0, toBlock: 19 });
  });

  it.each(["block range is too wide", "Query timed out"])("halves when a node says %j", async (message) => {
    const only = await node((_, calls) =>
      widthOf(calls) > 4 ? { kind: "member-error", code: -32000, message } : null,
    );
    const { rpc } = createTestRpc([only.url]);
    expectWhole(await collect(rpc, { rangeInitial: 61 }));
  });

  it("halves when a node does not respond in time", async () => {
    const only = await node((_, calls) => (widthOf(calls) > 15 ? { kind: "hang" } : null));
    const { rpc } = createTestRpc([only.url], { limits: { requestTimeoutMs: 400 } });
    expectWhole(await collect(rpc, { rangeInitial: 30, prefetch: 1 }));
  });

  it("halves when a response exceeds our limit", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl], { limits: { responseBytesMax: 8_000 } });
    expectWhole(await collect(rpc, { rangeInitial: 61 }));
  });

  it("says so when a single block is too much", async () => {
    const { blockNumber } = truth[0] as ChainLog;
    const only = await node((_, calls) => {
      const query = queryOf(calls);
      const hit = query && Number(query.fromBlock) <= blockNumber && Number(query.toBlock) >= blockNumber;
      return hit
        ? { kind: "member-error", code: -32005, message: "query returned more than 10000 results" }
        : null;
    });
    const { rpc } = createTestRpc([only.url]);
    await expect(collect(rpc)).rejects.toMatchObject({
      code: "LOGS_TOO_LARGE",
      message: `Block ${blockNumber} alone has more logs than the node at ${only.host} can give; use a node without that limit, or raise ours.`,
    });
  });

  it("does not trust a node that returns no logs", async () => {
    const only = await node(() => ({ kind: "empty-logs" }));
    const { rpc } = createTestRpc([only.url]);
    expectWhole(await collect(rpc, { rangeInitial: 20, prefetch: 2 }));
  });

  it("does not trust a node that lags and returns what it has", async () => {
    // As a balancer does it: logs from a machine that is 30 blocks behind, headers from one that is not.
    const only = await node((number) => (number < 8 ? { kind: "lagging", head: HEAD - 30 } : null), 99);
    const { rpc } = createTestRpc([only.url]);
    expectWhole(await collect(rpc, { rangeInitial: 61, prefetch: 1 }));
    const behind = await node(() => ({ kind: "lagging", head: HEAD - 30 }), 99);
    await expect(collect(createTestRpc([behind.url]).rpc)).rejects.toMatchObject({ code: "BLOCK_MISSING" });
  });

  it("waits for a node that does not have the last block yet, and tries another", async () => {
    const other = await startLogChain({ blocks: 2, seed: 1 });
    try {
      const ahead = await node(() => null);
      const { rpc } = createTestRpc([other.chain.rpcUrl, ahead.url]);
      expectWhole(await collect(rpc, { rangeInitial: 61 }));
      const alone = createTestRpc([other.chain.rpcUrl]).rpc;
      await expect(collect(alone)).rejects.toMatchObject({ code: "BLOCK_MISSING" });
    } finally {
      await other.chain.stop();
    }
  });

  it("does not let a narrow fallback set the size for the first provider", async () => {
    const narrow = await node((_, calls) =>
      queryOf(calls)
        ? { kind: "member-error", code: -32602, message: "exceed maximum block range: 2" }
        : null,
    );
    const wide = await node(() => null);
    const { rpc } = createTestRpc([wide.url, narrow.url]);
    const unconfirmed: BlockRange[] = [];
    const onUnconfirmed = (range: BlockRange) => unconfirmed.push(range);
    expectWhole(await collect(rpc, { rangeInitial: 20, prefetch: 1, onUnconfirmed }));
    expect(narrow.requests).toHaveLength(1);
    expect(unconfirmed[0]).toEqual({ fromBlock: 0, toBlock: 19 });
    expect(unconfirmed.at(-1)?.toBlock).toBe(HEAD);
    expect(wide.requests.some((calls) => widthOf(calls) === 20)).toBe(true);
  });

  it("reads ahead, but not without bound", async () => {
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    const stream = streamLogs(rpc, {
      fromBlock: 0,
      toBlock: HEAD,
      filters: FILTERS,
      rangeMax: 2,
      rangeInitial: 2,
      prefetch: 3,
    });
    await stream.next();
    await quiet(only);
    const ranges = new Set(
      only.requests.map((calls) => queryOf(calls)?.toBlock).filter((to) => to !== undefined),
    );
    expect(ranges.size).toBe(4);
    await stream.return();
  });

  it("reads no further ahead while unread logs pile up", async () => {
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    const stream = streamLogs(rpc, {
      fromBlock: 0,
      toBlock: HEAD,
      filters: FILTERS,
      rangeMax: 4,
      rangeInitial: 4,
      prefetch: 5,
      logsPerBatchMax: 1,
    });
    await stream.next();
    await quiet(only);
    const requested = only.requests.map((calls) => Number(queryOf(calls)?.toBlock ?? 0));
    expect(Math.max(...requested)).toBeLessThan(HEAD / 2);
    const rest: LogBatch[] = [];
    for await (const batch of stream) rest.push(batch);
    expect(rest.at(-1)?.toBlock).toBe(HEAD);
  });

  it("ends with the caller's reason, and stops reading ahead when the consumer leaves", async () => {
    const only = await node(() => ({ kind: "hang" }));
    const { rpc } = createTestRpc([only.url], { limits: { requestTimeoutMs: 20_000 } });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 40);
    await expect(collect(rpc, { signal: controller.signal })).rejects.toThrow("enough");
    expect(rpc.providers()[0]?.inFlight).toBe(0);
  });
});

describe("a node that always omits one log in the middle of a range", () => {
  const EMITS = Object.fromEntries(EMITTERS.map((address) => [address, TOPICS]));
  const filters = [{ addresses: EMITTERS, topics0: TOPICS, topicsByAddress: EMITS }];
  const omitting = ({ blockNumber, logIndex }: ChainLog, receipts = false) =>
    node(() => ({ kind: "omit-log", block: blockNumber, logIndex, receipts }), Number.POSITIVE_INFINITY);
  const middle = () => truth.slice(5, -5);
  const neighbours = (log: ChainLog) =>
    truth.filter((each) => each.blockNumber === log.blockNumber && each.logIndex !== log.logIndex);

  it("finds an omitted log with an honest second node, whichever log it is", async () => {
    // A prime step meets lonely logs, first and last ones of a block, and ones with neighbours.
    const chosen = middle().filter((_, i) => i % 3 === 0);
    expect(new Set(chosen.map((log) => neighbours(log).length)).size).toBeGreaterThan(2);
    for (const log of chosen.filter((_, i) => isFullDepth() || i % 5 === 0)) {
      const liar = await omitting(log);
      for (const urls of [
        [liar.url, logs.chain.rpcUrl],
        [logs.chain.rpcUrl, liar.url],
      ]) {
        const { rpc } = createTestRpc(urls);
        expectWhole(await collect(rpc, { filters, rangeInitial: 1_000, prefetch: 1 }));
      }
      await liar.stop();
    }
  });

  it("outvotes a node with two honest ones although its receipts omit the log too", async () => {
    const log = truth[Math.floor(truth.length / 2)] as ChainLog;
    const liar = await omitting(log, true);
    const { rpc, logged } = createTestRpc([liar.url, logs.chain.rpcUrl, `${logs.chain.rpcUrl}/`]);
    expectWhole(await collect(rpc, { filters, rangeInitial: 1_000, prefetch: 1 }));
    expect(logged()).toContain(`the logs of block ${log.blockNumber} differ from those of other nodes`);
  });

  it("stops with a fault when one other node contradicts it and nothing shows which is wrong", async () => {
    const log = truth[Math.floor(truth.length / 2)] as ChainLog;
    const liar = await omitting(log, true);
    const { rpc } = createTestRpc([liar.url, logs.chain.rpcUrl]);
    await expect(collect(rpc, { filters, rangeInitial: 1_000 })).rejects.toMatchObject({
      code: "NODES_DISAGREE",
      message: expect.stringContaining(`block ${log.blockNumber}`),
    });
  });

  it("detects a log omitted by the only node by bloom and receipts of the block", async () => {
    const alone = middle().filter(
      (log) =>
        neighbours(log).length > 0 &&
        !neighbours(log).some((each) => each.address === log.address && each.topics[0] === log.topics[0]),
    );
    expect(alone.length).toBeGreaterThan(5);
    for (const log of alone.slice(0, runsOf(8, { min: 3 }))) {
      const liar = await omitting(log);
      const { rpc } = createTestRpc([liar.url], { limits: { attemptsMax: 2 } });
      await expect(collect(rpc, { filters, rangeInitial: 1_000 })).rejects.toMatchObject({
        kind: "malformed",
        message: expect.stringContaining(`the logs of block ${log.blockNumber} were omitted`),
      });
      await liar.stop();
    }
  });

  it("detects a block's only log, omitted by the only node, by a sampled header", async () => {
    const lonely = middle().filter((log) => neighbours(log).length === 0);
    const log = lonely[0] as ChainLog;
    const liar = await omitting(log);
    const { rpc } = createTestRpc([liar.url], { limits: { attemptsMax: 1 } });
    const stream = collect(rpc, {
      filters,
      rangeInitial: 1_000,
      random: () => (log.blockNumber + 0.5) / HEAD,
    });
    await expect(stream).rejects.toMatchObject({ kind: "malformed" });
  });

  describe("while the second node is unavailable", () => {
    const UNAVAILABLE = { kind: "status", status: 503 } as const;
    const lonely = () => middle().filter((log) => neighbours(log).length === 0);
    // The first block of a range is sampled and no other: the header of the omitted log's block is never read.
    const blind = { filters, rangeInitial: 1_000, prefetch: 1, random: () => 0 };

    async function collectWith(rpc: Rpc, options: Partial<StreamLogsOptions>) {
      const unconfirmed: BlockRange[] = [];
      const onUnconfirmed = (range: BlockRange) => unconfirmed.push(range);
      return { batches: await collect(rpc, { ...options, onUnconfirmed }), unconfirmed };
    }

    it.each([1, 5, 9])(
      "finds the omitted log when the second node fails %i times and returns",
      async (failures) => {
        const [log] = lonely();
        const liar = await omitting(log as ChainLog);
        const flaky = await node(planFaults(Array(failures).fill(UNAVAILABLE)));
        const { rpc, clock } = createTestRpc([liar.url, flaky.url]);
        const { batches, unconfirmed } = await collectWith(rpc, blind);
        expectWhole(batches);
        expect(unconfirmed).toEqual([]);
        expect(clock.sleptMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(120_000);
      },
    );

    it("finds the omitted log when the second node hangs once", async () => {
      const [log] = lonely();
      const liar = await omitting(log as ChainLog);
      const slow = await node(planFaults([{ kind: "hang" }]));
      const { rpc } = createTestRpc([liar.url, slow.url], { limits: { requestTimeoutMs: 500 } });
      const { batches, unconfirmed } = await collectWith(rpc, blind);
      expectWhole(batches);
      expect(unconfirmed).toEqual([]);
    });

    it("finds the omitted log when the second node catches up in the middle of a batch", async () => {
      const log = lonely().find(({ blockNumber }) =>
        truth.every((each) => each.blockNumber <= blockNumber || each.blockNumber > blockNumber + 1),
      ) as ChainLog;
      const toBlock = log.blockNumber + 1;
      const liar = await omitting(log);
      const late = await startLaggingNode(logs.chain.rpcUrl, HEAD - log.blockNumber + 1);
      let calls = 0;
      late.onCall = () => {
        calls += 1;
        if (calls === 2) late.behind = 0;
      };
      const { rpc } = createTestRpc([liar.url, late.url]);
      const { batches, unconfirmed } = await collectWith(rpc, { ...blind, toBlock });
      expectWhole(batches, 0, toBlock);
      expect(unconfirmed).toEqual([]);
      await late.stop();
    });

    it("retries a node that rejected a range a hundred ranges ago", async () => {
      const first = await node(() => null);
      const message = "exceed maximum block range: 2";
      const narrow = await node(planFaults([{ kind: "member-error", code: -32602, message }]));
      const { rpc } = createTestRpc([first.url, narrow.url]);
      const others = new SecondaryProviders();
      const begins: number[] = [];
      for (let pass = 0; pass < 2; pass += 1) {
        await collect(rpc, {
          filters,
          rangeMax: 1,
          prefetch: 1,
          secondaryProviders: others,
          onUnconfirmed: () => begins.push(narrow.requests.length),
        });
      }
      expect(begins.length).toBeGreaterThan(90);
      expect(new Set(begins)).toEqual(new Set([1]));
      expect(narrow.requests.length).toBeGreaterThan(1);
    });

    it("finds the omitted log when the second node already cools down as the range is read", async () => {
      const [log] = lonely();
      const liar = await omitting(log as ChainLog);
      const flaky = await node(planFaults([UNAVAILABLE]));
      const { rpc } = createTestRpc([liar.url, flaky.url]);
      await rpc
        .pinned((only) => only.request(rawCall("eth_chainId")), { only: 1, attemptsMax: 1 })
        .catch(() => 0);
      expect(rpc.providers()[1]?.state).toBe("cooling-down");
      expectWhole(await collect(rpc, blind));
    });

    // One rest of a node that keeps failing.
    const REST_MS_MAX = 30_000;

    it("reports unconfirmed ranges, waits long once per outage, and compares again afterwards", async () => {
      const first = await node(() => null);
      let isDown = true;
      const second = await node(() => (isDown ? UNAVAILABLE : null));
      const { rpc, clock } = createTestRpc([first.url, second.url]);
      const unconfirmed: BlockRange[] = [];
      const sizes = { rangeInitial: 10, rangeMax: 10, prefetch: 1, filters };
      const slept: number[] = [];
      const batches: LogBatch[] = [];
      for await (const batch of streamLogs(rpc, {
        fromBlock: 0,
        toBlock: HEAD,
        ...sizes,
        onUnconfirmed: async (range) => {
          await new Promise(setImmediate);
          unconfirmed.push(range);
        },
      })) {
        batches.push(batch);
        // A caller that stores the logs must not forget that they are unconfirmed.
        if (isDown) expect(unconfirmed.at(-1)?.toBlock).toBe(batch.toBlock);
        slept.push(clock.sleptMs.reduce((sum, ms) => sum + ms, 0));
        if (batch.toBlock >= 29) isDown = false;
        // Its rest passes while the consumer works.
        if (batch.toBlock >= 29) await clock.sleep(60_000);
      }
      expectWhole(batches);
      expect(slept[0]).toBeGreaterThan(30_000);
      expect(slept[0]).toBeLessThan(120_000);
      expect((slept[1] ?? 0) - (slept[0] ?? 0)).toBeLessThanOrEqual(REST_MS_MAX);
      // The range after these was read while the node returned: either is right for it.
      const begins = unconfirmed.map(({ fromBlock }) => fromBlock);
      expect(begins.filter((block) => block !== 30)).toEqual([0, 10, 20]);
    });

    it("counts a node that was proven wrong as checked, and does not wait for it", async () => {
      const [log] = lonely();
      const liar = await omitting(log as ChainLog);
      const { rpc, clock } = createTestRpc([logs.chain.rpcUrl, liar.url]);
      const { batches, unconfirmed } = await collectWith(rpc, blind);
      expectWhole(batches);
      expect(unconfirmed).toEqual([]);
      expect(rpc.providers()[1]?.state).toBe("cooling-down");
      expect(clock.sleptMs).toEqual([]);
    });
  });

  it("compares the given share of heavy ranges with the second node", async () => {
    const [first, second] = [await node(() => null), await node(() => null)];
    const ranges = async (comparedShare: number) => {
      const before = second.requests.length;
      const { rpc } = createTestRpc([first.url, second.url]);
      const sizes = { rangeMax: 5, rangeInitial: 5, lightLogsMax: 0 };
      expectWhole(
        await collect(rpc, { filters, ...sizes, crossCheckFraction: comparedShare, random: seededRandom(5) }),
      );
      return second.requests.slice(before).filter((calls) => widthOf(calls) === 5).length;
    };
    expect(await ranges(1)).toBeGreaterThanOrEqual(12);
    const some = await ranges(0.5);
    expect(some).toBeGreaterThan(1);
    expect(some).toBeLessThan(12);
    expect(await ranges(0)).toBeLessThanOrEqual(some);
  });

  it("costs one request to the second node for a light range while both are fit", async () => {
    const [first, second] = [await node(() => null), await node(() => null)];
    const { rpc, clock } = createTestRpc([first.url, second.url]);
    expectWhole(await collect(rpc, { filters, rangeInitial: 1_000 }));
    // The range and the headers; the second look.
    expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
    expect(clock.sleptMs).toEqual([]);
  });

  it("costs an honest node two more requests for all suspicious blocks of a range", async () => {
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    expectWhole(await collect(rpc, { rangeInitial: 1_000 }));
    // The range, the headers, the cross-check; then blocks and receipts, because another contract emits the topics too.
    expect(only.requests).toHaveLength(5);
  });
});
