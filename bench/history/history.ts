// A synthetic but consistent history of the protocol, block by block: as long as wanted, never all in memory.
import type { Hex } from "../../src/lib/hex.ts";
import { CONTRACT_NAMES, type Deployment, parseDeployment } from "../../src/protocol/deployment.ts";
import { HISTORY_ACTIONS } from "./actions/actions.ts";
import { createDerivedValues, type DerivedValues } from "./derived-values.ts";
import { createHistoryState, type HistoryState, type HistoryStep } from "./history-state.ts";
import { ACTION_NAMES, type ActionMix, type ActionName } from "./mix.ts";
import { createSeededDraws } from "./seeded-random.ts";

export type HistoryOptions = {
  readonly seed: number;
  /** How often each action is to happen; the history ends when all are spent. */
  readonly mix: ActionMix;
  /** Ends the history early, at the first whole block with so many. */
  readonly eventsMax?: number;
};

type HistoryTransaction = HistoryStep & { readonly hash: Hex };

/** A block with events. The numbers in between belong to blocks without any. */
export type HistoryBlock = {
  readonly number: number;
  readonly transactions: readonly HistoryTransaction[];
};

/** The properties of all blocks, also of those without events. */
export type HistoryChain = {
  readonly deployment: Deployment;
  hashOf(block: number): Hex;
  timestampOf(block: number): number;
};

const CHAIN_ID = 31_337;
const START_BLOCK = 1_000;
const START_SECONDS = 1_750_000_000;
const BLOCK_SECONDS = 2;
// A busy L2: most blocks have something, and what they have comes in several transactions.
const EVENTS_PER_BLOCK = { min: 3, max: 10 };
const EMPTY_BLOCKS = 0.25;
const STEPS_PER_TRANSACTION_MAX = 3;
// Enough of each kind that no action waits for them.
const OPENING: readonly (readonly [ActionName, number])[] = [
  ["registerAgent", 20],
  ["registerSolver", 10],
  ["registerAttestor", 5],
  ["registerMerchant", 10],
  ["registerService", 20],
  ["registerFacilitator", 5],
  ["setSpendLimit", 10],
  ["setPaymentPolicy", 10],
];

export function historyChain(seed: number): HistoryChain {
  const entropy = createDerivedValues(seed);
  return {
    deployment: deploymentOf(entropy),
    hashOf: (block) => entropy.hashOfPlace("block", block, 0),
    timestampOf: (block) => START_SECONDS + block * BLOCK_SECONDS,
  };
}

export function* generateHistory(options: HistoryOptions): Generator<HistoryBlock, void, void> {
  const chain = historyChain(options.seed);
  const dice = createSeededDraws(options.seed);
  const entropy = createDerivedValues(options.seed);
  // Accounts with policies are fewer than agents; their number bounds what has to be remembered of them.
  const accounts = Math.min(5_000, Math.max(50, Math.floor((options.mix.registerAgent ?? 0) / 20)));
  const world = createHistoryState({ contracts: chain.deployment.contracts, dice, entropy, accounts });
  const steps = stepsOf(world, options.mix);
  const eventsMax = options.eventsMax ?? Number.POSITIVE_INFINITY;
  let events = 0;
  let number = START_BLOCK;
  let held: HistoryStep | null = null;
  for (;;) {
    world.now = chain.timestampOf(number);
    const wanted = dice.between(EVENTS_PER_BLOCK.min, EVENTS_PER_BLOCK.max);
    const transactions: HistoryTransaction[] = [];
    let inBlock = 0;
    while (inBlock < wanted) {
      const bundle: HistoryStep[] = [];
      // A call whose calldata matters has its own transaction; others are bundled.
      const size = dice.between(1, STEPS_PER_TRANSACTION_MAX);
      while (bundle.length < size) {
        const step: HistoryStep | null = held ?? steps.next().value ?? null;
        held = null;
        if (step === null) break;
        if (step.call !== null && bundle.length > 0) {
          held = step;
          break;
        }
        bundle.push(step);
        if (step.call !== null) break;
      }
      const [first] = bundle;
      if (!first) break;
      const hash = entropy.hashOfPlace("transaction", number, transactions.length);
      const logs = bundle.flatMap((step) => step.logs);
      transactions.push({ hash, logs, call: first.call });
      inBlock += logs.length;
    }
    if (transactions.length === 0) return;
    yield { number, transactions };
    events += inBlock;
    if (events >= eventsMax) return;
    number += 1;
    while (dice.chance(EMPTY_BLOCKS)) number += 1;
  }
}

/** Spends the mix: what is left of an action is how likely it comes next. */
function* stepsOf(world: HistoryState, mix: ActionMix): Generator<HistoryStep, void, void> {
  const left = ACTION_NAMES.map((name) => mix[name] ?? 0);
  let total = left.reduce((sum, count) => sum + count, 0);
  const perform = (index: number): HistoryStep | null => {
    const name = ACTION_NAMES[index];
    const step = name && (left[index] ?? 0) > 0 ? HISTORY_ACTIONS[name](world) : null;
    if (step === null) return null;
    left[index] = (left[index] ?? 0) - 1;
    total -= 1;
    return step;
  };
  for (const [name, count] of OPENING) {
    for (let i = 0; i < count; i += 1) {
      const step = perform(ACTION_NAMES.indexOf(name));
      if (step) yield step;
    }
  }
  // Some actions may stay impossible at the end: a fill needs an intent with a selected bid.
  for (let failures = 0; total > 0 && failures < 1_000; ) {
    const step = perform(draw(left, world.dice.roll() * total));
    failures = step ? 0 : failures + 1;
    if (step) yield step;
  }
}

function draw(left: readonly number[], at: number): number {
  let rest = at;
  for (const [index, count] of left.entries()) {
    rest -= count;
    if (rest < 0) return index;
  }
  return left.length - 1;
}

function deploymentOf(entropy: DerivedValues): Deployment {
  return parseDeployment(
    {
      network: "bench",
      chainId: CHAIN_ID,
      startBlock: START_BLOCK,
      contracts: Object.fromEntries(CONTRACT_NAMES.map((name, n) => [name, entropy.address("contract", n)])),
    },
    "bench",
  );
}
