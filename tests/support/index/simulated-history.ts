// A simulated chain with its index as a database template, for tests that only read either of them.
import { startDeployedChain } from "@sextant/simulator/deployed-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { inject } from "vitest";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import { FAKE_ACCOUNT_BEHAVIOURS, fakeAccountCode } from "../chain/fake-policy-account.ts";
import { createDatabaseOn, type TestServer } from "../database/test-database.ts";
import { startTestIndex, toDeployment } from "./test-index.ts";

export type SimulatedHistory = {
  /** Must not be written to: other files read the same chain. */
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly head: number;
  /** Name of a database to copy, with the index of the whole chain. */
  readonly template: string;
};

declare module "vitest" {
  interface ProvidedContext {
    /** Responds with the history that all files share; the first request makes it. */
    sharedHistoryUrl: string;
  }
}

export const FAKE_ACCOUNT_KINDS = Object.keys(
  FAKE_ACCOUNT_BEHAVIOURS,
) as (keyof typeof FAKE_ACCOUNT_BEHAVIOURS)[];

/** For the hook that asks for it: the first one waits until it is made, on a busy machine for a minute. */
export const SHARED_HISTORY_MS_MAX = 120_000;

// Enough that every table has rows in several states.
const STEPS = 500;

/** The history that all files of the run share. */
export async function readSharedHistory(): Promise<SimulatedHistory> {
  const response = await fetch(inject("sharedHistoryUrl"));
  const text = await response.text();
  if (!response.ok) throw new Error(`there is no shared history: ${text}`);
  return JSON.parse(text) as SimulatedHistory;
}

export type SimulatedHistoryOptions = {
  readonly server: TestServer;
  readonly migratedTemplate: string;
  readonly seed: number;
};

/** The tables have rows of accounts that are none, as anyone can deploy them. */
export async function simulateHistory({
  server,
  migratedTemplate,
  seed,
}: SimulatedHistoryOptions): Promise<{ history: SimulatedHistory; close(): Promise<void> }> {
  const { chain, world, deployment: local } = await startDeployedChain();
  const deployment = toDeployment(local);
  for (const [offset, behaviour] of FAKE_ACCOUNT_KINDS.entries()) {
    const data = fakeAccountCode(behaviour, world.actors.agent.address, 2_000_000_000 + offset);
    await world.actors.agent.send({ data });
  }
  await runSimulator({ world, seed, steps: STEPS });
  const readHead = async () =>
    (await chain.request("eth_getBlockByNumber", ["latest", false])) as { number: string; hash: string };
  const { number, hash } = await readHead();
  const head = Number(number);
  const template = await createDatabaseOn(server, { template: migratedTemplate });
  const index = await startTestIndex({ urls: [chain.rpcUrl], deployment, place: template });
  await index.waitUntilIndexed({ number: head, hash });
  await index.stopIndexing();
  // A database can be copied only while no one is connected to it.
  await index.database.close();
  return {
    history: { rpcUrl: chain.rpcUrl, deployment, head, template: template.name },
    async close() {
      const last = await readHead();
      await chain.stop();
      await template.drop();
      if (last.hash !== hash) throw new Error("a test has written to the chain that all files share");
    },
  };
}
