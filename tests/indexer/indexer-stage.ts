// A local chain with the protocol and a simulator that runs in parts, so that blocks can be undone in between.
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { type LocalChain, type LocalChainOptions, startLocalChain } from "@sextant/local-chain/local-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { openWorld } from "@sextant/simulator/world";
import { numberToHex } from "viem";
import type { Deployment } from "../../src/protocol/deployment.ts";
import { toDeployment } from "../support/index/test-index.ts";

export type IndexerStage = {
  readonly chain: LocalChain;
  readonly deployment: Deployment;
  /** The same, as the simulator knows it. */
  readonly local: LocalDeployment;
  /** Runs some steps with new accounts, which do not depend on blocks that a reorg removed. */
  runSteps(steps: number, pace?: { readonly stepsPerSecond: number }): Promise<void>;
  head(): Promise<{ readonly number: number; readonly hash: string }>;
};

// The simulator uses forty accounts; a hundred separates the runs.
const CAST_SIZE = 100;
const ACTS_PER_FUNDING = 10;
const OWNER_WEI = 10n ** 24n;
const FIRST_CAST = 1_000;

export async function openIndexerStage(
  seed: number,
  options: Partial<Pick<LocalChainOptions, "chainId" | "finalityDepth" | "reorgDepthMax">> = {},
): Promise<IndexerStage> {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE, ...options });
  const { request } = chain;
  const local = await deploy({ request, owner: chain.accounts.owner });
  let acts = 0;
  return {
    chain,
    deployment: toDeployment(local),
    local,
    async runSteps(steps, pace) {
      // Each cast takes a part of what the owner has: of a million, 24 of them.
      if (acts > 0 && acts % ACTS_PER_FUNDING === 0)
        await request("hardhat_setBalance", [chain.accounts.owner.address, numberToHex(OWNER_WEI)]);
      // A new world each time, because it reads the nonces of the accounts.
      const world = await openWorld({ request, deployment: local, seed: seed + acts });
      await runSimulator({
        world,
        seed: seed + acts,
        steps,
        firstAccountIndex: FIRST_CAST + acts * CAST_SIZE,
        ...pace,
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
