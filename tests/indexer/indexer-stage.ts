// A local chain with the protocol on it, and an economy that is played in acts, so that blocks can be undone between.
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { openWorld } from "@sextant/simulator/world";
import type { Deployment } from "../../src/protocol/deployment.ts";
import { toDeployment } from "../support/index/test-index.ts";

export type IndexerStage = {
  readonly chain: LocalChain;
  readonly deployment: Deployment;
  /** Plays some steps with people who have seen nothing yet: what a reorg took from others does not matter. */
  runSteps(steps: number): Promise<void>;
  head(): Promise<{ readonly number: number; readonly hash: string }>;
};

// The economy's cast is forty people; a hundred keeps the acts apart.
const CAST_SIZE = 100;
const FIRST_CAST = 1_000;

export async function openIndexerStage(
  seed: number,
  options: { finalityDepth?: number } = {},
): Promise<IndexerStage> {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE, ...options });
  const { request } = chain;
  const local = await deploy({ request, owner: chain.accounts.owner });
  let acts = 0;
  return {
    chain,
    deployment: toDeployment(local),
    async runSteps(steps) {
      // A world of its own each time: it reads the accounts' nonces anew.
      const world = await openWorld({ request, deployment: local, seed: seed + acts });
      await runSimulator({
        world,
        seed: seed + acts,
        steps,
        firstAccountIndex: FIRST_CAST + acts * CAST_SIZE,
      });
      acts += 1;
    },
    async head() {
      const block = (await request("eth_getBlockByNumber", ["latest", false])) as {
        number: string;
        hash: string;
      };
      return { number: Number(block.number), hash: block.hash };
    },
  };
}
