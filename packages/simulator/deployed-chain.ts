// A new local chain with the contracts on it, whose history depends only on what a test or simulation does.
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { scriptedTimeline } from "./timeline.ts";
import { openWorld, type World } from "./world.ts";

export type DeployedChain = {
  readonly chain: LocalChain;
  readonly deployment: LocalDeployment;
  readonly world: World;
};

const CHAIN_ID = 31_337;

/** 2026-01-01, so that no history depends on the current date. */
const GENESIS = 1_767_225_600n;
/** Deploying takes seconds of chain time, never an hour. */
const START = GENESIS + 3_600n;

/** Stop the chain when done. */
export async function startDeployedChain(): Promise<DeployedChain> {
  const chain = await startLocalChain({
    chainId: CHAIN_ID,
    genesisTimestamp: GENESIS,
    // This chain is never reorganised, and a snapshot after each block costs a third of the time.
    reorgDepthMax: 0,
    code: LOCAL_GENESIS_CODE,
  });
  try {
    const { request } = chain;
    const deployment = await deploy({ request, owner: chain.accounts.owner });
    const timeline = await scriptedTimeline(request, START);
    return { chain, deployment, world: await openWorld({ request, deployment, timeline }) };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}
