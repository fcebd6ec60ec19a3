// The local chain with the protocol on it and people who use it.
import type { LocalAccounts } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { localChain } from "../chain/chains/local.ts";
import type { Hex } from "../lib/hex.ts";
import { type Deployment, parseDeployment } from "../protocol/deployment.ts";
import { type DevPackages, loadDevPackages } from "./dev-packages.ts";

export type SimulationCounters = { readonly steps: number };

export type LocalSimulation = {
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly accounts: LocalAccounts;
  /** The dollar of this chain, which snapshots are paid with. */
  readonly usdCoin: Hex;
  counters(): SimulationCounters;
  /** Goes on at an easy pace until the signal aborts. Rejects when a step fails. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

// Enough that every kind of record exists, few enough to be there in a few seconds.
const SEED_STEPS = 300;
// Lively to watch, gentle on a laptop.
const STEPS_PER_SECOND = 2;

/** Starts a chain, deploys, and plays enough to look at. */
export async function startLocalSimulation(options: {
  seed: number;
  signal: AbortSignal;
}): Promise<LocalSimulation> {
  const parts = await loadDevPackages();
  const chain = await parts.startLocalChain({ chainId: localChain.chainId, code: parts.LOCAL_GENESIS_CODE });
  try {
    return await populate(chain, parts, options);
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

async function populate(
  chain: LocalChain,
  parts: DevPackages,
  { seed, signal }: { seed: number; signal: AbortSignal },
): Promise<LocalSimulation> {
  const { request } = chain;
  const deployment = await parts.openMarket(chain, "local");
  const { network, chainId, startBlock, contracts } = deployment;
  const world = await parts.openWorld({ request, deployment, seed });
  let steps = 0;
  const onStep = () => {
    steps += 1;
  };
  await parts.playEconomy({ world, seed, steps: SEED_STEPS, signal, onStep });
  return {
    deployment: parseDeployment({ network, chainId, startBlock, contracts }, network),
    rpcUrl: chain.rpcUrl,
    wsUrl: chain.wsUrl,
    accounts: chain.accounts,
    usdCoin: deployment.local.UsdCoin.toLowerCase() as Hex,
    counters: () => ({ steps }),
    // People of its own: the first economy's know things that this one would have to learn.
    run: async (signal) => {
      const pace = { stepsPerSecond: STEPS_PER_SECOND, firstAccountIndex: SECOND_CAST_INDEX };
      await parts.playEconomy({ world, seed: seed + 1, signal, onStep, ...pace });
    },
    stop: () => chain.stop(),
  };
}

const SECOND_CAST_INDEX = 2_000;
