// Under any plan of faults, what is read from the chain is exactly what is on it, or a Fault is thrown.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMITTERS, type LogChain, startLogChain, TOPICS } from "../../tests/support/chain/log-chain.ts";
import { type FaultyNode, planFaults, startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import { isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { Fault } from "../lib/fault.ts";
import type { BlockHeader, ChainLog } from "../schema/chain-log.ts";
import { readHeaders } from "./headers.ts";
import { readBlockLogsWithProvider } from "./logs/read-block-logs.ts";
import { streamLogs } from "./logs/stream-logs.ts";
import type { Rpc } from "./rpc/types.ts";

const readBlockLogs = async (...given: Parameters<typeof readBlockLogsWithProvider>) =>
  (await readBlockLogsWithProvider(...given)).logs;

const HEAD = 40;
const FILTERS = [{ addresses: EMITTERS, topics0: TOPICS }];
const NUMBERS = Array.from({ length: HEAD + 1 }, (_, i) => i);
// Hanging costs real time; every honest response takes a few milliseconds.
const LIMITS = { requestTimeoutMs: 250, batchMax: 20 };

let logs: LogChain;
let headers: BlockHeader[];
let truth: ChainLog[];

beforeAll(async () => {
  logs = await startLogChain({ blocks: HEAD, seed: 21, logsPerBlockMax: 3 });
  const { rpc } = createTestRpc([logs.chain.rpcUrl]);
  headers = await readHeaders(rpc, NUMBERS);
  truth = (await Promise.all(headers.map((header) => readBlockLogs(rpc, header, FILTERS)))).flat();
  expect(truth.length).toBeGreaterThan(20);
});
afterAll(() => logs.chain.stop());

const error = (code: number, message: string, more: object = {}) =>
  [
    { kind: "error", code, message, ...more },
    { kind: "member-error", code, message, ...more },
  ] as NodeFaultInjection[];

/** Everything that may pass when tried again. */
const FAULTS: readonly NodeFaultInjection[] = [
  { kind: "status", status: 429 },
  { kind: "status", status: 429, retryAfter: "3" },
  { kind: "status", status: 500 },
  { kind: "status", status: 502, body: "<html>502</html>" },
  { kind: "page" },
  { kind: "truncated" },
  { kind: "cut-connection" },
  { kind: "reset" },
  { kind: "wrong-id" },
  { kind: "reversed" },
  { kind: "left-out" },
  { kind: "doubled" },
  { kind: "null-result" },
  { kind: "garbage" },
  { kind: "empty-logs" },
  { kind: "wrong-hash" },
  { kind: "other-block" },
  ...error(-32005, "daily request count exceeded, request rate limited"),
  ...error(-32016, "over rate limit"),
  ...error(-32011, "no backend is currently healthy to serve traffic", { status: 503 }),
  ...error(-32603, "Internal error"),
  ...error(-32000, "header not found"),
  ...error(-32000, "context deadline exceeded"),
  ...error(-32602, "query exceeds max results 20000, retry with the range 0-3"),
  ...error(-32602, "Log response size exceeded."),
  ...error(-32600, "Batch requests are not supported"),
];

const plans = fc.array(fc.option(fc.constantFrom(...FAULTS), { freq: 3, nil: null }), { maxLength: 40 });

async function withNodes(
  lists: readonly (readonly (NodeFaultInjection | null)[])[],
  work: (rpc: Rpc) => Promise<void>,
  liesPerCall = 1,
): Promise<void> {
  const nodes: FaultyNode[] = [];
  try {
    for (const list of lists) {
      nodes.push(await startFaultyNode({ upstream: logs.chain.rpcUrl, plan: planFaults(list), liesPerCall }));
    }
    const { rpc } = createTestRpc(
      nodes.map((node) => node.url),
      { limits: LIMITS, chainId: 31337 },
    );
    await work(rpc).catch((thrown: unknown) => {
      if (!(thrown instanceof Fault)) throw thrown;
      outcomes.faults += 1;
    });
    outcomes.runs += 1;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

// A suite in which everything ends in a Fault would prove nothing.
const outcomes = { runs: 0, faults: 0 };
afterAll(() => {
  if (!isFullDepth()) return;
  expect(outcomes.runs).toBeGreaterThan(30);
  expect(outcomes.faults).toBeLessThan(outcomes.runs / 2);
});

async function expectStream(rpc: Rpc, options: { rangeInitial: number; prefetch: number }): Promise<void> {
  const found: ChainLog[] = [];
  let next = 0;
  for await (const batch of streamLogs(rpc, { fromBlock: 0, toBlock: HEAD, filters: FILTERS, ...options })) {
    expect(batch.fromBlock).toBe(next);
    next = batch.toBlock + 1;
    found.push(...batch.logs);
    expect(found).toEqual(truth.slice(0, found.length));
    expect(truth[found.length]?.blockNumber ?? next).toBeGreaterThanOrEqual(next);
  }
  expect(next).toBe(HEAD + 1);
  expect(found).toEqual(truth);
}

describe("with faults of every kind", () => {
  const RUNS = { numRuns: runsOf(25) };
  const sizes = fc.record({ rangeInitial: fc.constantFrom(3, 10, 41), prefetch: fc.constantFrom(1, 3) });

  it("a stream of logs is the chain's, or a Fault", async () => {
    await fc.assert(
      fc.asyncProperty(plans, sizes, (plan, options) =>
        withNodes([plan], (rpc) => expectStream(rpc, options)),
      ),
      RUNS,
    );
  });

  it("a stream of logs from two providers is the chain's, or a Fault", async () => {
    const honestLater = plans.map((plan) => plan.filter((fault) => fault?.kind !== "empty-logs"));
    await fc.assert(
      fc.asyncProperty(plans, honestLater, sizes, (first, second, options) =>
        withNodes([first, second], (rpc) => expectStream(rpc, options)),
      ),
      RUNS,
    );
  });

  it("the logs of each block are the chain's, or a Fault", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 0, max: HEAD }), (plan, number) =>
        withNodes(
          [plan],
          async (rpc) => {
            const found = await readBlockLogs(rpc, headers[number] as BlockHeader, FILTERS);
            expect(found).toEqual(truth.filter((log) => log.blockNumber === number));
          },
          2,
        ),
      ),
      RUNS,
    );
  });

  it("headers are the chain's, or a Fault", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 0, max: HEAD - 10 }), (plan, from) =>
        withNodes([plan], async (rpc) => {
          const found = await readHeaders(rpc, NUMBERS.slice(from, from + 10));
          // No child confirms the hash of the last one; reading its logs by hash shows it.
          expect(found.slice(0, -1)).toEqual(headers.slice(from, from + 9));
          expect(found.at(-1)?.parentHash).toBe(headers[from + 8]?.hash);
        }),
      ),
      RUNS,
    );
  });

  it("a node that hangs now and then delays, but does not change anything", async () => {
    const plan: (NodeFaultInjection | null)[] = [
      null,
      { kind: "hang" },
      null,
      null,
      { kind: "hang" },
      { kind: "hang" },
    ];
    await withNodes([plan], (rpc) => expectStream(rpc, { rangeInitial: 10, prefetch: 2 }));
  });
});
