// How long each part of a snapshot may take: a part that is late is left out and named, and the balances are still sold.
import { Deadline } from "../lib/deadline.ts";

/** All of a chain. Below the 25 seconds that paid work has, so that the error can still name the chain that hangs. */
export const CHAIN_MS_MAX = 20_000;

/**
 * Finding the newest block of each chain, if a difference ends there: with what follows still below those 25 seconds.
 */
export const NEWEST_BLOCKS_MS_MAX = 4_000;

/**
 * Parts run one after another in this order, and together they end before the chain's own time does. Balances have no
 * budget: without them there is no snapshot.
 */
export const BUDGET_MS = {
  /** Searching transfers, while balances are read. */
  transfers: 5_000,
  /** Senders and times of recent transactions. */
  activity: 2_000,
  /** Names and decimals of tokens. */
  metadata: 2_000,
  /** The time of each position reader from when the tokens are known; they run side by side. */
  positions: 5_000,
  /** The time of all price sources together. */
  prices: 4_000,
  /** Few tokens: those that may stand in for positions without a value. */
  receiptPrices: 1_000,
} as const;

/**
 * Reads of the account itself, at the same time as balances; no longer than the search for transfers, which runs as
 * well.
 */
export const ACCOUNT_MS_MAX: number = BUDGET_MS.transfers;

type Outcome<T> = { readonly value: T } | { readonly failure: "failed" | "late" };

/**
 * Gives up at the end of the budget even when the work does not heed its signal. Rejects only when the caller aborts. Work
 * that may begin before its turn has its whole budget from then on.
 */
export async function runWithinBudget<T>(
  work: (stop: AbortSignal) => Promise<T>,
  budgetMs: number,
  signal: AbortSignal,
  turn?: Promise<unknown>,
): Promise<Outcome<T>> {
  const [outcome] = await runAllWithinBudget([work], budgetMs, signal, turn);
  return outcome ?? { failure: "failed" };
}

/**
 * The same for works that run side by side: a snapshot has dozens, and a signal for each of them was a thirtieth of its
 * processor time. What a work that has failed still waits for ends with the last of them.
 */
export async function runAllWithinBudget<T>(
  works: readonly ((stop: AbortSignal) => Promise<T>)[],
  budgetMs: number,
  signal: AbortSignal,
  turn?: Promise<unknown>,
): Promise<readonly Outcome<T>[]> {
  signal.throwIfAborted();
  if (works.length === 0) return [];
  const deadline = new Deadline(turn ? null : budgetMs, signal);
  const begin = () => deadline.begin(budgetMs);
  turn?.then(begin, begin);
  const outcomes = new Map<number, Outcome<T>>();
  await new Promise<void>((resolve) => {
    const settle = (index: number, outcome: Outcome<T>) => {
      if (deadline.signal.aborted) return;
      outcomes.set(index, outcome);
      if (outcomes.size === works.length) resolve();
    };
    deadline.signal.addEventListener("abort", () => resolve(), { once: true });
    for (const [index, work] of works.entries()) {
      // Async, so that work that throws at once rejects as well.
      const working = (async () => work(deadline.signal))();
      working.then(
        (value) => settle(index, { value }),
        () => settle(index, { failure: "failed" }),
      );
    }
  });
  const unfinished: Outcome<T> = { failure: deadline.isLate ? "late" : "failed" };
  const results = works.map((_, index) => outcomes.get(index) ?? unfinished);
  deadline.end(results.every((outcome) => "value" in outcome) ? undefined : STOPPED);
  signal.throwIfAborted();
  return results;
}

/** Work that was started along with work that failed is of no use. */
const STOPPED = new Error("The work that this was part of has failed.");
