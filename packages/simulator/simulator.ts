// An economy that plays itself: chance chooses among the moves that are possible now, and never one that would revert.
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
  /** Two economies with the same seed on equal worlds do the same. */
  readonly seed: number;
  /** How many moves to play; without it the economy runs until it is told to stop. */
  readonly steps?: number;
  /** As fast as the chain can, by default. */
  readonly stepsPerSecond?: number;
  /** Stops after the move that is being played. */
  readonly signal?: AbortSignal;
  /** Told after each move. */
  readonly onStep?: (step: { readonly number: number; readonly move: string }) => void;
  /** A second economy on the same chain needs people of its own: forty accounts from this index on. */
  readonly firstAccountIndex?: number;
};

/** A move never played before is this much more likely: a few hundred steps show everything. */
const NOVELTY = 8;

/** Some turns fill a block with several moves. */
const SHARED_BLOCK_PERCENT = 40;
const MOVES_PER_BLOCK_MAX = 8;

type Chosen = { readonly move: SimulatorAction; readonly play: () => Promise<unknown> };

/** Plays; resolves with the number of moves played. A transaction that reverts ends it with an error. */
export async function runSimulator(options: SimulatorOptions): Promise<number> {
  const { seed, steps = Number.POSITIVE_INFINITY, signal, onStep } = options;
  const world: World = { ...options.world, random: new Random(seed) };
  const cast = await fundAccounts(world, options.firstAccountIndex ?? FIRST_ACCOUNT_INDEX);
  const turn = new Turn(world, cast, createSimulatorState(cast));
  const played = new Set<SimulatorAction>();
  const startedAt = performance.now();
  let number = 0;
  while (number < steps && signal?.aborted !== true) {
    turn.begin(await world.timeline.now());
    const chosen = chooseMoves(turn, Math.min(movesOfTurn(world.random), steps - number), played);
    await carryOut(world, chosen, number + 1);
    for (const { move } of chosen) {
      number += 1;
      played.add(move);
      onStep?.({ number, move: move.name });
    }
    if (options.stepsPerSecond !== undefined) {
      await rest(startedAt + (number * 1_000) / options.stepsPerSecond, signal);
    }
  }
  return number;
}

function movesOfTurn(random: Random): number {
  return random.chance(SHARED_BLOCK_PERCENT) ? 2 + random.below(MOVES_PER_BLOCK_MAX - 1) : 1;
}

function chooseMoves(turn: Turn, count: number, played: ReadonlySet<SimulatorAction>): Chosen[] {
  const chosen: Chosen[] = [];
  const candidates = new Set(
    count === 1 ? SIMULATOR_ACTIONS : SIMULATOR_ACTIONS.filter(({ alone }) => alone !== true),
  );
  while (chosen.length < count && candidates.size > 0) {
    const move = weighted(turn.random, [...candidates], played);
    const play = move.prepare(turn);
    if (play === undefined) candidates.delete(move);
    else chosen.push({ move, play });
  }
  return chosen;
}

function weighted(
  random: Random,
  moves: readonly SimulatorAction[],
  played: ReadonlySet<SimulatorAction>,
): SimulatorAction {
  const weights = moves.map((move) => (played.has(move) ? move.weight : NOVELTY * move.weight));
  let left = random.below(weights.reduce((sum, weight) => sum + weight, 0));
  for (const [index, move] of moves.entries()) {
    left -= weights[index] ?? 0;
    if (left < 0) return move;
  }
  throw new RangeError("No moves to choose from");
}

async function carryOut(world: World, chosen: readonly Chosen[], firstNumber: number): Promise<void> {
  const plays = chosen.map(({ move, play }, index) => async () => {
    try {
      await play();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`Step ${firstNumber + index}, "${move.name}", failed: ${reason}`, { cause });
    }
  });
  const [only] = plays;
  if (plays.length === 1 && only !== undefined) await only();
  else await world.inOneBlock(plays);
}

/** Waits until the moment, or until told to stop. */
async function rest(until: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = until - performance.now();
  if (ms <= 0) return;
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
}
