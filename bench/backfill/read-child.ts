// The first ceiling: everything a backfill does up to the database, and nothing written.

import { chainById } from "../../src/chain/chains/chains.ts";
import { local } from "../../src/chain/chains/local.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { backfill } from "../../src/indexer/backfill.ts";
import { chainPort, detailReads } from "../../src/indexer/chain-source.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLogDecoder } from "../../src/protocol/decode/logs.ts";
import { createProtocol } from "../../src/protocol/fold.ts";
import { quietLog } from "../harness/bench-database.ts";
import { createProgress, say } from "../harness/progress.ts";
import { historyChain } from "../history/history.ts";

export type ReadTask = { readonly url: string; readonly seed: number; readonly head: number };

export type ReadReport = { readonly events: number; readonly ms: number; readonly cpuMs: number };

const task = JSON.parse(process.argv[2] ?? "") as ReadTask;
const { deployment } = historyChain(task.seed);
const rpc = createRpc({ urls: [new Secret(task.url)], chainId: deployment.chainId, log: quietLog });
const chain = chainPort(rpc, {
  facts: chainById(deployment.chainId) ?? local,
  decoder: createLogDecoder(deployment),
  wsUrls: [],
  rangeMax: 10_000,
  comparedShare: 0,
  onUnconfirmed: () => undefined,
  log: quietLog,
});
const unused = () => Promise.reject(new Error("nothing is stored here"));
const folded = { latest: () => undefined, write: async () => undefined };
const store = { position: unused, blocksDown: unused, rollback: unused, fold: async () => folded };
const protocol = createProtocol(deployment, detailReads(rpc));
const progress = createProgress();
const startedMs = performance.now();
const startedCpu = process.cpuUsage();
let events = 0;
const range = { from: deployment.startBlock, to: task.head };
for await (const { logs } of backfill({ chain, protocol, store }, range, new AbortController().signal)) {
  events += logs;
  progress(() => `${events} events`);
}
const { user, system } = process.cpuUsage(startedCpu);
rpc.close();
const report: ReadReport = { events, ms: performance.now() - startedMs, cpuMs: (user + system) / 1000 };
say(report);
