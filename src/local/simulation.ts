// The local chain with the protocol deployed, a simulator that uses it, and the development packages that both need.
import type { LocalAccounts } from "@sextant/local-chain/accounts";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import type { Timeline } from "@sextant/simulator/timeline";
import { localChain } from "../chain/chains/chains.ts";
import { createLocalCallers } from "../http/security/request-guard.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
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

/** A day more than the week that people ask about, so that `7d` finds something on every chain. */
export const HISTORY_DAYS = 8;
export const DAY_SECONDS = 86_400;
// Enough to create every kind of record, few enough to finish in seconds.
const INITIAL_STEPS = 300;
// Less than half of them over the days of the history: the others happen now, so that intents are open.
const STEPS_PER_PAST_DAY = 15;
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
    genesisTimestamp: BigInt(nowSeconds() - HISTORY_DAYS * DAY_SECONDS),
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
  let steps = 0;
  const onStep = () => {
    steps += 1;
  };
  const timeline = spreadOverDays(chain, packages.chainTimeline(request), () => steps);
  const world = await packages.openWorld({ request, deployment, seed, timeline });
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

/** Lets a day of the chain pass after so many steps, until its time is that of this machine. */
function spreadOverDays(chain: LocalChain, timeline: Timeline, stepsTaken: () => number): Timeline {
  let daysAgo = HISTORY_DAYS;
  return {
    ...timeline,
    async now() {
      const due = Math.max(0, HISTORY_DAYS - Math.floor(stepsTaken() / STEPS_PER_PAST_DAY));
      if (due < daysAgo) {
        daysAgo = due;
        await chain.setNextBlockTimestamp(BigInt(nowSeconds() - daysAgo * DAY_SECONDS));
      }
      return timeline.now();
    },
  };
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

export type DevPackages = Awaited<ReturnType<typeof loadDevPackages>>;

/** Loaded only when a local run starts: a production install does not have them. */
export async function loadDevPackages() {
  try {
    const [
      { startLocalChain },
      { LOCAL_GENESIS_CODE },
      { permit2RuntimeBytecode },
      { addPayerActivity, addPayerLoan, deployFundedMarket, publishPrices },
      { openWorld },
      { chainTimeline },
      { runSimulator },
    ] = await Promise.all([
      import("@sextant/local-chain/local-chain"),
      import("@sextant/contracts/deploy/deploy"),
      import("@sextant/contracts/published/permit2"),
      import("@sextant/simulator/fund-market"),
      import("@sextant/simulator/world"),
      import("@sextant/simulator/timeline"),
      import("@sextant/simulator/simulator"),
    ]);
    const market = {
      addPayerActivity,
      addPayerLoan,
      deployFundedMarket,
      publishPrices,
      permit2RuntimeBytecode,
    };
    return { startLocalChain, LOCAL_GENESIS_CODE, ...market, openWorld, chainTimeline, runSimulator };
  } catch (cause) {
    throw new Fault(
      "CONFIG_INVALID",
      "A local run needs packages that are not installed; install again without --omit=dev or --omit=optional.",
      { cause },
    );
  }
}
