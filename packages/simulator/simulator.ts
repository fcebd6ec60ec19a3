// The simulator: picks random actions among those possible now, never one that would revert.
import { setTimeout as sleep } from "node:timers/promises";
import { agentActions } from "./actions/agents.ts";
import { catalogActions } from "./actions/catalog.ts";
import { commerceActions } from "./actions/commerce.ts";
import { intentActions } from "./actions/intents.ts";
import { policyActions } from "./actions/policies.ts";
import { policyAccountActions } from "./actions/policy-accounts.ts";
import { registryActions } from "./actions/registries.ts";
import { sessionKeyActions } from "./actions/session-keys.ts";
import { settlementActions } from "./actions/settlements.ts";
import { timeActions } from "./actions/time.ts";
import { Random } from "./random.ts";
import { FIRST_ACCOUNT_INDEX, fundAccounts } from "./state/accounts.ts";
import { createSimulatorState } from "./state/simulator-state.ts";
import { type SimulatorAction, Turn } from "./turn.ts";
import type { World } from "./world.ts";

export const SIMULATOR_ACTIONS: readonly SimulatorAction[] = [
  ...agentActions,
  ...policyActions,
  ...policyAccountActions,
  ...sessionKeyActions,
  ...intentActions,
  ...registryActions,
  ...catalogActions,
  ...commerceActions,
  ...settlementActions,
  ...timeActions,
];

export type SimulatorOptions = {
  readonly world: World;
  /** Equal seeds on equal worlds give equal histories. */
  readonly seed: number;
  /** Number of actions; without it the simulator runs until aborted. */
  readonly steps?: number;
  /** As fast as the chain can, by default. */
  readonly stepsPerSecond?: number;
  /** Stops after the current actions. */
  readonly signal?: AbortSignal;
  /** Called after each action. */
  readonly onStep?: (step: { readonly number: number; readonly action: string }) => void;
  /** A second simulator on the same chain needs other accounts: it takes forty from this index on. */
  readonly firstAccountIndex?: number;
};

/** Actions not taken yet are this much more likely, so that a few hundred steps cover all. */
const NOVELTY = 8;

/** Some turns fill a block with several actions. */
const SHARED_BLOCK_PERCENT = 40;
const ACTIONS_PER_BLOCK_MAX = 8;

type PreparedAction = { readonly action: SimulatorAction; readonly run: () => Promise<unknown> };

/** Resolves with the number of actions taken. A transaction that reverts ends it with an error. */
export async function runSimulator(options: SimulatorOptions): Promise<number> {
  const { seed, steps = Number.POSITIVE_INFINITY, signal, onStep } = options;
  const world: World = { ...options.world, random: new Random(seed) };
  const accounts = await fundAccounts(world, options.firstAccountIndex ?? FIRST_ACCOUNT_INDEX);
  const turn = new Turn(world, accounts, createSimulatorState(accounts));
  const taken = new Set<SimulatorAction>();
  const startedAt = performance.now();
  let number = 0;
  while (number < steps && signal?.aborted !== true) {
    turn.begin(await world.timeline.now());
    const prepared = prepareActions(turn, Math.min(drawTurnSize(world.random), steps - number), taken);
    await runActions(world, prepared, number + 1);
    for (const { action } of prepared) {
      number += 1;
      taken.add(action);
      onStep?.({ number, action: action.name });
    }
    if (options.stepsPerSecond !== undefined) {
      await sleepUntil(startedAt + (number * 1_000) / options.stepsPerSecond, signal);
    }
  }
  return number;
}

function drawTurnSize(random: Random): number {
  return random.chance(SHARED_BLOCK_PERCENT) ? 2 + random.below(ACTIONS_PER_BLOCK_MAX - 1) : 1;
}

function prepareActions(turn: Turn, count: number, taken: ReadonlySet<SimulatorAction>): PreparedAction[] {
  const prepared: PreparedAction[] = [];
  const candidates = new Set(
    count === 1 ? SIMULATOR_ACTIONS : SIMULATOR_ACTIONS.filter(({ alone }) => alone !== true),
  );
  while (prepared.length < count && candidates.size > 0) {
    const action = pickWeighted(turn.random, [...candidates], taken);
    const run = action.prepare(turn);
    if (run === undefined) candidates.delete(action);
    else prepared.push({ action, run });
  }
  return prepared;
}

function pickWeighted(
  random: Random,
  actions: readonly SimulatorAction[],
  taken: ReadonlySet<SimulatorAction>,
): SimulatorAction {
  const weights = actions.map((action) => (taken.has(action) ? action.weight : NOVELTY * action.weight));
  let left = random.below(weights.reduce((sum, weight) => sum + weight, 0));
  for (const [index, action] of actions.entries()) {
    left -= weights[index] ?? 0;
    if (left < 0) return action;
  }
  throw new RangeError("No actions to choose from");
}

async function runActions(
  world: World,
  prepared: readonly PreparedAction[],
  firstNumber: number,
): Promise<void> {
  const tasks = prepared.map(({ action, run }, index) => async () => {
    try {
      await run();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`Step ${firstNumber + index}, "${action.name}", failed: ${reason}`, { cause });
    }
  });
  const [only] = tasks;
  if (tasks.length === 1 && only !== undefined) await only();
  else await world.inOneBlock(tasks);
}

/** Resolves at that time, or when aborted. */
async function sleepUntil(until: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = until - performance.now();
  if (ms <= 0) return;
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
}
