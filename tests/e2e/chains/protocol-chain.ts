// The chain with the protocol: simulator runs, reorgs between them, and dollars for the payers.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { type LocalAccount, localAccount } from "@sextant/local-chain/accounts";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { openWorld } from "@sextant/simulator/world";
import { encodeFunctionData, type Hex } from "viem";
import { createConcurrencyLimit } from "../../../src/lib/concurrency-limit.ts";
import type { Branches, ObservedHead } from "./branches.ts";

export type ProtocolChain = {
  readonly chain: LocalChain;
  readonly deployment: LocalDeployment;
  /** The dollar that is paid with. */
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly facilitator: LocalAccount;
  /** People with dollars; the one behind them has none. */
  readonly payers: readonly LocalAccount[];
  readonly poor: LocalAccount;
  /** A third party with gas to spend. */
  readonly outsider: LocalAccount;
  /** Plays some steps with people who have seen nothing yet: what a reorg took from others does not matter. */
  act(steps: number, options: { stepsPerSecond?: number; signal?: AbortSignal }): Promise<number>;
  /** Replaces as many of the last blocks, or fewer if more would exceed finality. */
  reorg(depth: number, keep: "none" | "all"): Promise<void>;
  head(): Promise<ObservedHead>;
  /** The last block that no reorg here will ever replace. */
  finalized(): Promise<number>;
};

export const E2E_FINALITY_DEPTH = 32;
// Within finality, with a margin for the blocks that payments add while the depth is chosen.
const DEPTH_MAX = 24;

// A simulator run uses forty accounts; a hundred separate the runs.
const CAST_SIZE = 100;
const FIRST_CAST = 1_000;
// Prefunded accounts that the simulator does not use.
const FACILITATOR = 20;
const PAY_TO = 21;
const POOR = 22;
const FIRST_PAYER = 23;
const OUTSIDER = 31;
const PLENTY = `0x${(10n ** 24n).toString(16)}`;
const DOLLARS = 1_000n * 1_000_000n;

export async function openProtocolChain(options: {
  readonly seed: number;
  readonly payers: number;
  readonly branches: Branches;
}): Promise<ProtocolChain> {
  const { seed, branches } = options;
  const chain = await startLocalChain({
    chainId: 31_337,
    code: LOCAL_GENESIS_CODE,
    finalityDepth: E2E_FINALITY_DEPTH,
    reorgDepthMax: DEPTH_MAX,
  });
  try {
    const { request } = chain;
    const deployment = await deploy({ request, owner: chain.accounts.owner });
    const asset = deployment.local.UsdCoin.toLowerCase() as Hex;
    const payers = Array.from({ length: options.payers }, (_, index) => localAccount(FIRST_PAYER + index));
    for (const { address } of payers) await mint(chain, asset, address);
    // No reorg may remove the contracts or the payers' dollars.
    await chain.mine(E2E_FINALITY_DEPTH);
    const firm = await headOf(chain);
    const turn = createConcurrencyLimit({ runningMax: 1, waitingMax: 100 });
    let acts = 0;
    return {
      chain,
      deployment,
      asset,
      payTo: localAccount(PAY_TO).address.toLowerCase() as Hex,
      facilitator: localAccount(FACILITATOR),
      payers,
      poor: localAccount(POOR),
      outsider: localAccount(OUTSIDER),
      act: (steps, pace) =>
        turn.run(async () => {
          acts += 1;
          // Each run funds its accounts with forty thousand ether, and the number of runs is unknown.
          await request("hardhat_setBalance", [chain.accounts.owner.address, PLENTY]);
          // A new world each time, so that it reads the accounts' nonces.
          const world = await openWorld({ request, deployment, seed: seed + acts });
          const firstCastIndex = FIRST_CAST + acts * CAST_SIZE;
          return runSimulator({
            world,
            seed: seed + acts,
            steps,
            firstAccountIndex: firstCastIndex,
            ...pace,
          });
        }),
      reorg: (depth, keep) =>
        turn.run(async () => {
          const { number } = await headOf(chain);
          const possible = Math.min(depth, DEPTH_MAX, number - firm.number);
          if (possible < 1) return;
          branches.recordReorg(await chain.reorg(possible, { replay: keep }));
        }),
      head: () => headOf(chain),
      finalized: async () => (await headOf(chain)).number - E2E_FINALITY_DEPTH,
    };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

async function headOf({ request }: LocalChain): Promise<ObservedHead> {
  const block = (await request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  return { number: Number(block.number), hash: String(block.hash) };
}

async function mint({ request, accounts }: LocalChain, asset: Hex, to: Hex): Promise<void> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [to, DOLLARS] });
  const call = { from: accounts.owner.address, to: asset, data };
  const { status } = await awaitReceipt(request, (await request("eth_sendTransaction", [call])) as Hex);
  if (status !== "0x1") throw new Error(`the payer ${to} could not be given dollars`);
}
