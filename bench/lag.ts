// How long after a transaction's receipt the API shows its block, on a chain that mines every transaction at once.
import { setTimeout as sleep } from "node:timers/promises";
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { registerAgent } from "@sextant/simulator/transactions/agents";
import { openWorld } from "@sextant/simulator/world";
import type { ServerReady } from "./api/cpu-time.ts";
import { openBenchDatabase, startBenchServer } from "./harness/bench-database.ts";
import {
  type Bench,
  type BenchOptions,
  type BenchReport,
  chooseSize,
  type Measurement,
  quantilesOf,
} from "./harness/measurement.ts";
import { logProgress } from "./harness/progress.ts";
import { type StartChild, withChildren } from "./harness/with-children.ts";
import type { LagIndexerReady, LagIndexerTask } from "./lag/indexer-child.ts";

const SCHEMA = "sextant";
const RECEIPTS = { quick: 5, usual: 200, full: 200 };
// Each takes seconds, because the chain has to be quiet before it.
const QUIET_RECEIPTS = { quick: 1, usual: 10, full: 100 };
const WARM_RECEIPTS = { quick: 2, usual: 20, full: 20 };
// Longer than five of the chain's block times, and never in step with a poll.
const QUIET_MS_MIN = 5_000;
const QUIET_MS_SPAN = 600;
// Short alongside the lag, long enough to leave the API time for the notification.
const LOOK_MS = 2;
const LOOKS_MS_MAX = 30_000;
const ZERO_HASH = `0x${"00".repeat(32)}` as const;

/** Sends a transaction; resolves with its block as soon as there is a receipt. */
type SendTransaction = () => Promise<number>;
/** Resolves as soon as the API shows the block. */
type WaitForBlock = (block: number) => Promise<void>;

export const lagBench: Bench = {
  name: "lag",
  run: (options) =>
    withChildren(async (start) => {
      const server = await startBenchServer("embedded");
      const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE });
      try {
        const place = { connection: server.connection, schema: SCHEMA };
        const { send, url } = await startStack(start, chain, place);
        return reportOf(await measureLags(send, url, options));
      } finally {
        await chain.stop();
        await server.stop();
      }
    }),
};

async function startStack(
  start: StartChild,
  chain: LocalChain,
  place: Pick<LagIndexerTask, "connection" | "schema">,
): Promise<{ send: SendTransaction; url: string }> {
  const { request } = chain;
  const deployment = await deploy({ request, owner: chain.accounts.owner });
  const { network, chainId, startBlock, contracts } = deployment;
  const world = await openWorld({ request, deployment });
  // Migrated here, so that the two processes do not both try.
  await (await openBenchDatabase(place)).close();
  const task: LagIndexerTask = {
    ...place,
    urls: [chain.rpcUrl, chain.wsUrl],
    deployment: { network, chainId, startBlock, contracts },
  };
  await start("indexer", "lag/indexer-child.ts", task).next<LagIndexerReady>();
  const { url } = await start("api", "api/server-child.ts", place).next<ServerReady>();
  const profile = { metadataURI: "", pubkey: ZERO_HASH, capabilitiesHash: ZERO_HASH };
  return {
    url,
    async send() {
      await registerAgent(world, world.actors.owner, profile);
      return world.counters.block;
    },
  };
}

type Lags = { readonly what: string; readonly note: string; readonly lagsMs: readonly number[] };

async function measureLags(send: SendTransaction, url: string, options: BenchOptions): Promise<Lags[]> {
  const receipts = chooseSize(options, RECEIPTS);
  const quietReceipts = chooseSize(options, QUIET_RECEIPTS);
  const looking: WaitForBlock = (block) => lookUntil(url, block);
  // The first reads open connections and prepare statements.
  await measure("warming up", send, looking, {
    receipts: chooseSize(options, WARM_RECEIPTS),
    quiet: false,
  });
  return [
    {
      what: "one after the other",
      note: `looking every ${LOOK_MS} ms`,
      lagsMs: await measure("one after the other", send, looking, { receipts, quiet: false }),
    },
    {
      what: "one read with x-min-block",
      note: "which waits for the block",
      lagsMs: await measure("one read", send, (block) => readOnce(url, block), {
        receipts,
        quiet: false,
      }),
    },
    {
      what: "after a quiet time",
      note: `${QUIET_MS_MIN / 1000} to ${(QUIET_MS_MIN + QUIET_MS_SPAN) / 1000} s without a block before each`,
      lagsMs: await measure("quiet", send, looking, { receipts: quietReceipts, quiet: true }),
    },
  ];
}

async function measure(
  what: string,
  send: SendTransaction,
  wait: WaitForBlock,
  { receipts, quiet }: { readonly receipts: number; readonly quiet: boolean },
): Promise<number[]> {
  logProgress(`${receipts} receipts, ${what}`);
  const lagsMs: number[] = [];
  for (let n = 0; n < receipts; n += 1) {
    if (quiet) await sleep(QUIET_MS_MIN + Math.random() * QUIET_MS_SPAN);
    const block = await send();
    const startedMs = performance.now();
    await wait(block);
    lagsMs.push(performance.now() - startedMs);
  }
  return lagsMs;
}

async function lookUntil(url: string, block: number): Promise<void> {
  for (let startedMs = performance.now(); performance.now() - startedMs < LOOKS_MS_MAX; ) {
    if ((await readIndexedBlock(url, {})) >= block) return;
    await sleep(LOOK_MS);
  }
  throw new Error(`the API did not show block ${block} in time`);
}

async function readOnce(url: string, block: number): Promise<void> {
  const found = await readIndexedBlock(url, { "x-min-block": String(block) });
  if (found < block) throw new Error(`the API was asked for block ${block} and shows ${found}`);
}

async function readIndexedBlock(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${url}/agents/1`, { headers });
  await response.arrayBuffer();
  return Number(response.headers.get("x-indexed-block"));
}

function reportOf(all: readonly Lags[]): BenchReport {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const measurements = all.flatMap(({ what, note, lagsMs }): Measurement[] => {
    const { medianMs, p99Ms } = quantilesOf(lagsMs);
    return [
      { what: `${what}, median`, value: ms(medianMs), note: `${lagsMs.length} receipts, ${note}` },
      { what: `${what}, p99`, value: ms(p99Ms) },
      { what: `${what}, worst`, value: ms(Math.max(...lagsMs)) },
    ];
  });
  const headlines = all.map(({ what, lagsMs }) => ({
    what: `lag after a receipt, ${what}`,
    value: `${ms(quantilesOf(lagsMs).medianMs)} median`,
    ceiling: `${ms(Math.max(...lagsMs))} worst of ${lagsMs.length}`,
    ratio: "-",
    aim: null,
  }));
  return { measurements, headlines };
}
