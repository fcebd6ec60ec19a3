// The local chain with the protocol deployed, a simulator that uses it, and the development packages that both need.
import type { LocalAccounts } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import { localChain } from "../chain/chains/chains.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { createLocalCallers } from "../lib/local-callers.ts";
import { type Deployment, parseDeployment } from "../protocol/deployment.ts";

type SimulationCounters = { readonly steps: number };

export type LocalSimulation = {
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly accounts: LocalAccounts;
  /** Token that snapshots are paid with. */
  readonly usdCoin: Hex;
  counters(): SimulationCounters;
  /** Continues slowly until the signal aborts. Rejects when a step fails. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

// Enough to create every kind of record, few enough to finish in seconds.
const INITIAL_STEPS = 300;
// Visible progress without loading a laptop.
const STEPS_PER_SECOND = 2;
// Beyond the accounts of the initial steps.
const TRAFFIC_ACCOUNT_INDEX = 2_000;

/** Starts a chain, deploys the protocol and creates initial data. */
export async function startLocalSimulation(options: {
  seed: number;
  signal: AbortSignal;
}): Promise<LocalSimulation> {
  const packages = await loadDevPackages();
  const chain = await packages.startLocalChain({
    chainId: localChain.chainId,
    code: packages.LOCAL_GENESIS_CODE,
    findForeignCaller: createLocalCallers({ publicUrl: null }),
  });
  try {
    return await populate(chain, packages, options);
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

async function populate(
  chain: LocalChain,
  packages: DevPackages,
  { seed, signal }: { seed: number; signal: AbortSignal },
): Promise<LocalSimulation> {
  const { request } = chain;
  const deployment = await packages.deployFundedMarket(chain, "local");
  const { network, chainId, startBlock, contracts, local } = deployment;
  const tokens = {
    // The coin of the chain has no contract: bonds and payments in it have the zero address.
    [`0x${"0".repeat(40)}`]: { symbol: "ETH", decimals: 18 },
    [local.UsdCoin]: { symbol: "USDC", decimals: 6 },
    [local.WrappedEther]: { symbol: "WETH", decimals: 18 },
  };
  const world = await packages.openWorld({ request, deployment, seed });
  let steps = 0;
  const onStep = () => {
    steps += 1;
  };
  await packages.runSimulator({ world, seed, steps: INITIAL_STEPS, signal, onStep });
  return {
    deployment: parseDeployment({ network, chainId, startBlock, contracts, tokens }, network),
    rpcUrl: chain.rpcUrl,
    wsUrl: chain.wsUrl,
    accounts: chain.accounts,
    usdCoin: deployment.local.UsdCoin.toLowerCase() as Hex,
    counters: () => ({ steps }),
    // New accounts: this simulator does not know the state of the initial ones.
    run: async (signal) => {
      await packages.runSimulator({
        world,
        seed: seed + 1,
        signal,
        onStep,
        stepsPerSecond: STEPS_PER_SECOND,
        firstAccountIndex: TRAFFIC_ACCOUNT_INDEX,
      });
    },
    stop: () => chain.stop(),
  };
}

export type DevPackages = Awaited<ReturnType<typeof loadDevPackages>>;

/** Loaded only when a local run starts: a production install does not have them. */
export async function loadDevPackages() {
  try {
    const [
      { startLocalChain },
      { LOCAL_GENESIS_CODE },
      { permit2RuntimeBytecode },
      { addPayerActivity, addPayerLoan, deployFundedMarket },
      { openWorld },
      { runSimulator },
    ] = await Promise.all([
      import("@sextant/local-chain/local-chain"),
      import("@sextant/contracts/deploy/deploy"),
      import("@sextant/contracts/published/permit2"),
      import("@sextant/simulator/fund-market"),
      import("@sextant/simulator/world"),
      import("@sextant/simulator/simulator"),
    ]);
    const market = { addPayerActivity, addPayerLoan, deployFundedMarket, permit2RuntimeBytecode };
    return { startLocalChain, LOCAL_GENESIS_CODE, ...market, openWorld, runSimulator };
  } catch (cause) {
    throw new Fault(
      "CONFIG_INVALID",
      "A local run needs packages that are not installed; install again without --omit=dev or --omit=optional.",
      { cause },
    );
  }
}
