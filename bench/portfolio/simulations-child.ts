// Simulations over a node of the benchmark, as the service makes them: time, processor time and requests of each.

import { createRpc } from "../../src/chain/rpc/client.ts";
import { createSignatureCodec } from "../../src/lib/abi/codec.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { spenderList } from "../../src/portfolio/exposure/spenders.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import type { WalletCall } from "../../src/portfolio/simulation/request.ts";
import { simulateTransactions } from "../../src/portfolio/simulation/simulate.ts";
import { benchLog } from "../harness/bench-database.ts";
import { createProgressReporter, sendToParent } from "../harness/progress.ts";
import type { NodeWork } from "./caching-node.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { describeChain } from "./paid-reads.ts";

export type SimulationsTask = { readonly node: ReadyNode; readonly tokens: number; readonly rounds: number };

/** The mean of all rounds. */
export type SimulationCell = {
  readonly transactions: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly requests: number;
};
export type SimulationsReport = { readonly cells: readonly SimulationCell[] };

const { node, tokens, rounds } = JSON.parse(process.argv[2] ?? "") as SimulationsTask;
const rpc = createRpc({ urls: [new Secret(node.url)], chainId: node.chainId, log: benchLog, onCall: null });
const progress = createProgressReporter();
const { signal } = new AbortController();
const chain = describeChain(node, tokens);
const services = {
  chains: new Map([[chain.slug, createChainAccess(rpc, chain)]]),
  priceSources: createPriceSources({ feeds: new Map([[node.chainId, node.feeds]]) }),
  spenders: spenderList,
};
const transfer = createSignatureCodec("function transfer(address,uint256)");
const RECEIVER = `0x${"a1".repeat(20)}` as const;
// Until the compiler has seen the code.
const WARM_ROUNDS = 30;

async function countRequests(): Promise<number> {
  const response = await fetch(`${node.url}/work`);
  return ((await response.json()) as NodeWork).requests;
}

async function measure(count: number): Promise<SimulationCell> {
  const calls = Array.from(
    { length: count },
    (_, index): WalletCall => ({
      ...{ to: node.stablecoin, value: 0n },
      data: transfer.encodeCall([RECEIVER, BigInt(index + 1)]),
    }),
  );
  const query = { wallet: node.wallet, slug: chain.slug, block: undefined, calls };
  const repeat = async (times: number) => {
    for (let round = 0; round < times; round += 1) {
      await simulateTransactions(services, query, signal);
      progress(() => `simulations of ${count}`);
    }
  };
  await repeat(WARM_ROUNDS);
  const before = await countRequests();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await repeat(rounds);
  const ms = (performance.now() - startedMs) / rounds;
  const { user, system } = process.cpuUsage(cpu);
  const requests = ((await countRequests()) - before) / rounds;
  return { transactions: count, ms, cpuMs: (user + system) / 1_000 / rounds, requests };
}

const cells: SimulationCell[] = [];
for (const count of [1, 10]) cells.push(await measure(count));
rpc.close();
sendToParent({ cells } satisfies SimulationsReport);
