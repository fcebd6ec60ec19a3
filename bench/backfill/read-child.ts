// The first ceiling: everything a backfill does up to the database, and nothing written.

import { findChainById, localChain } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { backfill } from "../../src/indexer/backfill.ts";
import { createChainSource, createDetailReads } from "../../src/indexer/chain-source.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import { createAddDetails } from "../../src/protocol/details/read-details.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import { historyChain } from "../history/history.ts";

export type ReadTask = { readonly url: string; readonly seed: number; readonly head: number };

export type ReadReport = { readonly events: number; readonly ms: number; readonly cpuMs: number };

const task = JSON.parse(process.argv[2] ?? "") as ReadTask;
const { deployment } = historyChain(task.seed);
const rpc = createRpc({
  urls: [new Secret(task.url)],
  chainId: deployment.chainId,
  log: benchLog,
  onCall: null,
});
const chain = createChainSource(rpc, {
  facts: findChainById(deployment.chainId) ?? localChain,
  decoder: createLogDecoder(deployment),
  wsUrls: [],
  rangeMax: 10_000,
  comparedShare: 0,
  onUnconfirmed: async () => undefined,
  log: benchLog,
});
const unused = () => Promise.reject(new Error("nothing is stored here"));
const prepared = { latest: () => undefined, write: async () => undefined };
const store = {
  readCheckpoint: unused,
  readBlocksDescending: unused,
  rollback: unused,
  open: () => ({ add: async () => undefined, finish: async () => prepared }),
  prepare: unused,
};
const addDetails = createAddDetails(deployment, createDetailReads(rpc));
const progress = createProgressReporter();
const startedMs = performance.now();
const startedCpu = process.cpuUsage();
let events = 0;
const range = { from: deployment.startBlock, to: task.head };
for await (const { logs } of backfill({ chain, addDetails, store }, range, new AbortController().signal)) {
  events += logs;
  progress(() => `${events} events`);
}
const { user, system } = process.cpuUsage(startedCpu);
rpc.close();
const report: ReadReport = { events, ms: performance.now() - startedMs, cpuMs: (user + system) / 1000 };
sendToParent(report);
