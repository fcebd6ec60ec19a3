// The logs of one block: complete or a Fault, whatever the node says.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  EMITTERS,
  type LogChain,
  startLogChain,
  TOPICS,
  UNLISTED_EMITTER,
  UNLISTED_TOPIC,
} from "../../../tests/support/chain/log-chain.ts";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  planFaults,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BlockHeader, ChainLog } from "../../schema/chain-log.ts";
import { readHeaders } from "../headers.ts";
import { readBlockLogsWithProvider, readCrossCheckedBlockLogs } from "./read-block-logs.ts";

const readBlockLogs = async (...given: Parameters<typeof readBlockLogsWithProvider>) =>
  (await readBlockLogsWithProvider(...given)).logs;

const FILTERS = [{ addresses: EMITTERS, topics0: TOPICS }];
let logs: LogChain;
let headers: BlockHeader[];
let truth: ChainLog[][];
let busy: BlockHeader;
const nodes: FaultyNode[] = [];

beforeAll(async () => {
  logs = await startLogChain({ blocks: 25, seed: 3 });
  const { rpc } = createTestRpc([logs.chain.rpcUrl]);
  headers = await readHeaders(
    rpc,
    Array.from({ length: 26 }, (_, i) => i),
  );
  truth = await Promise.all(headers.map(honestLogs));
  busy = headers[truth.findIndex((list) => list.length >= 2)] as BlockHeader;
});
afterAll(() => logs.chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

/** Straight from the chain in process, in the plainest way. */
async function honestLogs(header: BlockHeader): Promise<ChainLog[]> {
  const params = { blockHash: header.hash };
  const found = (await logs.chain.request("eth_getLogs", [params])) as Record<string, Hex>[];
  return found
    .filter(
      (log) =>
        EMITTERS.includes(log.address as Hex) && TOPICS.includes((log.topics as unknown as Hex[])[0] as Hex),
    )
    .map((log) => ({
      address: log.address as Hex,
      topics: log.topics as unknown as Hex[],
      data: log.data as Hex,
      blockNumber: header.number,
      blockHash: header.hash,
      blockTimestamp: header.timestamp,
      transactionHash: log.transactionHash as Hex,
      transactionIndex: Number(log.transactionIndex),
      logIndex: Number(log.logIndex),
    }));
}

async function node(plan: FaultyNodeOptions["plan"], liesPerCall = 2): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: logs.chain.rpcUrl, plan, liesPerCall });
  nodes.push(started);
  return started;
}

describe("the logs of a block", () => {
  it("reads the chain's logs of every block", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    for (const [i, header] of headers.entries())
      expect(await readBlockLogs(rpc, header, FILTERS)).toEqual(truth[i]);
    expect(truth.flat().length).toBeGreaterThan(20);
  });

  it("reads a log once that several filters match", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const both = [...FILTERS, { addresses: null, topics0: TOPICS }];
    for (const header of headers) {
      const anyone = await readBlockLogs(rpc, header, [{ addresses: null, topics0: TOPICS }]);
      expect(await readBlockLogs(rpc, header, both)).toEqual(anyone);
    }
  });

  it("reads logs again when they are empty although the bloom may contain them", async () => {
    const only = await node(() => ({ kind: "empty-logs" }));
    const { rpc } = createTestRpc([only.url]);
    expect(await readBlockLogs(rpc, busy, FILTERS)).toEqual(truth[busy.number]);
    expect(only.requests).toHaveLength(3);
  });

  it("reads empty logs again from another provider first", async () => {
    const [first, second] = [await node(() => ({ kind: "empty-logs" }), 99), await node(() => null)];
    const { rpc } = createTestRpc([first.url, second.url]);
    expect(await readBlockLogs(rpc, busy, FILTERS)).toEqual(truth[busy.number]);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it.each([
    ["alone", null],
    ["next to one that is behind", { kind: "error", code: -32_000, message: "header not found" }],
    ["next to one that is down", { kind: "status", status: 503 }],
  ] as const)("finds logs in the receipts of a node that always omits them, %s", async (_, other) => {
    const omitting = await node(() => ({ kind: "empty-logs" }), 99);
    const urls = [omitting.url, ...(other === null ? [] : [(await node(() => other, 99)).url])];
    const { rpc } = createTestRpc(urls);
    expect(await readBlockLogs(rpc, busy, FILTERS)).toEqual(truth[busy.number]);
  });

  it("believes that there are no logs when the bloom was a false positive", async () => {
    // An unknown contract emits a wanted topic and an emitter an unwanted one: both are in the bloom, together they are
    // not.
    const { chain } = logs;
    const from = chain.accounts.agent.address;
    await chain.request("eth_sendTransaction", [
      { from, to: UNLISTED_EMITTER, data: TOPICS[0], gas: "0xc350" },
    ]);
    await chain.request("eth_sendTransaction", [
      { from, to: EMITTERS[0], data: UNLISTED_TOPIC, gas: "0xc350" },
    ]);
    await chain.mine();
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    const [header] = await readHeaders(rpc, [logs.head + 1]);
    expect(await readBlockLogs(rpc, header as BlockHeader, FILTERS)).toEqual([]);
    // The header, three reads of the logs, the transactions of the block and their receipts.
    expect(only.requests).toHaveLength(6);
  });

  it("needs one request when the bloom rules the logs out", async () => {
    const empty = headers.find((header) => /^0x0+$/.test(header.logsBloom)) as BlockHeader;
    const only = await node(() => null);
    const { rpc } = createTestRpc([only.url]);
    expect(await readBlockLogs(rpc, empty, FILTERS)).toEqual([]);
    expect(only.requests).toHaveLength(1);
  });

  it.each(["wrong-hash", "other-block", "garbage", "null-result"] as const)(
    "does not take logs with %s",
    async (kind) => {
      const only = await node(planFaults([{ kind }]));
      const { rpc, calls } = createTestRpc([only.url]);
      expect(await readBlockLogs(rpc, busy, FILTERS)).toEqual(truth[busy.number]);
      expect(calls[0]?.outcome).toBe("malformed");
    },
  );

  it("reports the logs of a block that left the chain as missing", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const gone = { ...busy, hash: `0x${"77".repeat(32)}` as Hex };
    await expect(readBlockLogs(rpc, gone, FILTERS)).rejects.toMatchObject({ code: "BLOCK_MISSING" });
  });

  it("rejects logs that the bloom does not know, unless the chain's bloom is partial", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl], { limits: { attemptsMax: 2 } });
    const blind = { ...busy, logsBloom: `0x${"0".repeat(512)}` as Hex };
    await expect(readBlockLogs(rpc, blind, FILTERS)).rejects.toMatchObject({ kind: "malformed" });
    expect(await readBlockLogs(rpc, blind, FILTERS, { bloom: "partial" })).toEqual(truth[busy.number]);
  });

  it.each([
    { addresses: [], topics0: TOPICS },
    { addresses: EMITTERS, topics0: [] },
    { addresses: null, topics0: null },
  ])("rejects a filter that a node would read as everything: %j", async (filter) => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    await expect(readBlockLogs(rpc, busy, [filter])).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

describe("the logs of a block, compared with a second node", () => {
  const duplicate = () => {
    const list = truth.find((logs) =>
      logs.some((log, i) =>
        logs.some((other, j) => i < j && log.address === other.address && log.topics[0] === other.topics[0]),
      ),
    );
    const log = list?.find((one) =>
      list.some(
        (other) => other !== one && other.address === one.address && other.topics[0] === one.topics[0],
      ),
    );
    if (!list || !log) throw new Error("no block has two logs of one contract and event");
    return { list, log, header: headers[log.blockNumber] as BlockHeader };
  };
  const omitting = ({ blockNumber, logIndex }: ChainLog, receipts = false) =>
    node(() => ({ kind: "omit-log", block: blockNumber, logIndex, receipts }), Number.POSITIVE_INFINITY);

  it("reads all logs although one node omits one that the bloom cannot show", async () => {
    const { list, log, header } = duplicate();
    const liar = await omitting(log);
    for (const urls of [
      [liar.url, logs.chain.rpcUrl],
      [logs.chain.rpcUrl, liar.url],
    ]) {
      const { rpc } = createTestRpc(urls);
      expect(await readCrossCheckedBlockLogs(rpc, header, FILTERS)).toEqual(list);
    }
  });

  it("takes no logs when two nodes disagree and nothing decides", async () => {
    const { log, header } = duplicate();
    const liar = await omitting(log, true);
    const { rpc } = createTestRpc([liar.url, logs.chain.rpcUrl]);
    await expect(readCrossCheckedBlockLogs(rpc, header, FILTERS)).rejects.toMatchObject({
      code: "NODES_DISAGREE",
    });
  });

  it("reads logs without a second node that hangs or lacks the block", async () => {
    const { list, header } = duplicate();
    const hanging = await node(() => ({ kind: "hang" }));
    const lagging = await node(() => ({ kind: "member-error", code: -32_000, message: "unknown block" }));
    for (const second of [hanging, lagging]) {
      const { rpc } = createTestRpc([logs.chain.rpcUrl, second.url], {
        limits: { requestTimeoutMs: 60_000 },
      });
      expect(await readCrossCheckedBlockLogs(rpc, header, FILTERS, { secondMsMax: 50 })).toEqual(list);
      rpc.close();
    }
  });
});
