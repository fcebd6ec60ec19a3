// Logs of a wallet, paged backwards from the pinned block in ranges that adapt to what the node allows.
import { Fault } from "../lib/fault.ts";
import { BUDGET_MS } from "./time-budgets.ts";
import type { ChainConfig, PinnedBlock, PinnedChain } from "./types.ts";

export type LogHistory<Log> = {
  /** Ascending by position. */
  readonly logs: readonly Log[];
  /** The oldest searched block. */
  readonly fromBlock: number;
};

const DAY_MS = 86_400_000;

// Older logs say little about what a wallet holds now, and nodes search long ranges slowly.
const DAYS_MAX = 30;

// A day, capped by what most nodes search at once, and at least enough for a wallet with little activity.
const FIRST_RANGE_MIN = 1_000;
const FIRST_RANGE_MAX = 10_000;

// From 10,000 blocks to a month of any chain in three steps; below a range that was rejected more carefully.
const GROW_BY = 8;
const REGROW_BY = 2;

// From 10,000 blocks to the 10 of the strictest public nodes in five steps.
const SHRINK_BY = 4;

// Pages of one search. At the 10,000 blocks of a public node: two weeks of Ethereum, three days of Base.
const REQUESTS_MAX = 16;

// Of one search, after which no further page is read: more than activity and unlisted tokens need, and a few megabytes.
const LOGS_MAX = 10_000;

// A range in which a wallet has about this many logs may be rejected for their number: that says nothing about the
// node's limit, and must not shorten the search for other wallets.
const BUSY_LOGS_MIN = 500;

// Pages at the same time once the node's limit is known: four round trips use up the requests.
const CONCURRENT_MAX = 4;

type BlockRange = { readonly fromBlock: number; readonly toBlock: number };

export type SearchBudget = {
  readonly timeMs: number;
  readonly requests: number;
  /** Neither uses nor stores what nodes allowed other searches. */
  readonly isIsolated?: boolean;
};

export const SEARCH_BUDGET: SearchBudget = { timeMs: BUDGET_MS.transfers, requests: REQUESTS_MAX };

/** What a chain's nodes allowed last, so that the next snapshot does not have to find it again. */
type LearnedRange = {
  readonly size: number;
  /** The smallest range that was rejected, and when. */
  readonly rejected: number;
  readonly rejectedAt: number;
};

const learnedRanges = new WeakMap<ChainConfig, LearnedRange>();

// Another node of the same chain may allow more, and a busy wallet makes every range too large: forget a rejection.
const REJECTION_SECONDS_MAX = 600;

/** Rejects when not even the newest blocks can be read. */
export async function searchRecentLogs<Log>(
  at: PinnedChain,
  readRange: (range: BlockRange, signal: AbortSignal) => Promise<readonly Log[]>,
  signal: AbortSignal,
  budget: SearchBudget = SEARCH_BUDGET,
): Promise<LogHistory<Log>> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(budget.timeMs)]);
  // As of a block the window follows from the chain and its nodes, not from what this process read before.
  const pages = createPages(at, at.asOf === true || budget.isIsolated === true);
  const found: (readonly Log[])[] = [];
  for (let requests = budget.requests; requests > 0 && !pages.isDone(); ) {
    const ranges = pages.next(requests);
    requests -= ranges.length;
    const results = await Promise.allSettled(ranges.map((range) => readRange(range, deadline)));
    const failed = results.findIndex(({ status }) => status === "rejected");
    const good = failed === -1 ? results.length : failed;
    for (const [i, range] of ranges.slice(0, good).entries()) {
      const result = results[i];
      const logs = result?.status === "fulfilled" ? result.value : [];
      found.push(logs);
      pages.accept(range, logs.length);
    }
    const [failure, range] = [results[failed], ranges[failed]];
    if (failure?.status !== "rejected" || range === undefined) {
      pages.grow();
      continue;
    }
    signal.throwIfAborted();
    if (deadline.aborted) pages.settle(range);
    else if (wantsSmallerRange(failure.reason) && pages.shrink(range) && requests > 0) continue;
    // Older blocks are optional: a node may have pruned them, or the budget is used up.
    if (pages.oldest() === null) throw failure.reason;
    break;
  }
  return { logs: found.toReversed().flat(), fromBlock: pages.oldest() ?? at.block.number };
}

/** Which blocks to search next: newest first, in ranges that shrink on rejection and grow on success. */
function createPages({ chain, block }: PinnedChain, isIsolated: boolean) {
  const end = Math.max(0, block.number - Math.floor((DAYS_MAX * DAY_MS) / chain.blockTimeMs) + 1);
  const learned = isIsolated ? undefined : learnedRanges.get(chain);
  // Never the large range first: the newest blocks matter most, and a small range returns soon.
  let size = Math.min(firstRange(chain), learned?.size ?? Number.POSITIVE_INFINITY);
  /** The smallest range that was rejected: only smaller ones are tried. */
  let rejected = learned && isRecent(learned, block) ? learned.rejected : Number.POSITIVE_INFINITY;
  let rejectedAt = learned?.rejectedAt ?? block.timestamp;
  /** The largest range that was returned; 0 when none was. */
  let returned = 0;
  let reached = block.number + 1;
  let found = 0;
  /** By what was found so far. */
  const expectLogs = (blocks: number) => (found === 0 ? 0 : (found / (block.number + 1 - reached)) * blocks);
  const isBusy = () => rejected < Number.POSITIVE_INFINITY && expectLogs(rejected) >= BUSY_LOGS_MIN;
  const grown = () => {
    const larger = rejected === Number.POSITIVE_INFINITY ? size * GROW_BY : size * REGROW_BY;
    const fits = (next: number) => next > size && next < rejected && expectLogs(next) <= LOGS_MAX;
    return [learned?.size ?? 0, larger].find(fits) ?? size;
  };
  const learn = (next: LearnedRange) => {
    if (!isIsolated && !isBusy()) learnedRanges.set(chain, next);
  };
  return {
    isDone: () => reached <= end || found >= LOGS_MAX,
    oldest: () => (reached > block.number ? null : reached),
    /** Several at once where the size has proved itself and cannot grow. */
    next(requests: number): readonly BlockRange[] {
      const isSettled = returned >= size && grown() === size;
      const wanted = Math.ceil((LOGS_MAX - found) / Math.max(1, expectLogs(size)));
      const count = isSettled ? Math.min(CONCURRENT_MAX, requests, wanted) : 1;
      const ranges: BlockRange[] = [];
      for (let toBlock = reached - 1; ranges.length < count && toBlock >= end; toBlock -= size) {
        ranges.push({ fromBlock: Math.max(end, toBlock - size + 1), toBlock });
      }
      return ranges;
    },
    accept({ fromBlock }: BlockRange, logs: number): void {
      reached = fromBlock;
      found += logs;
      returned = Math.max(returned, size);
    },
    grow(): void {
      learn({ size, rejected, rejectedAt });
      size = grown();
    },
    /** False when the range cannot be smaller. */
    shrink({ fromBlock, toBlock }: BlockRange): boolean {
      const blocks = toBlock - fromBlock + 1;
      rejected = blocks;
      rejectedAt = block.timestamp;
      if (returned >= blocks) returned = 0;
      size = Math.max(returned, Math.floor(blocks / SHRINK_BY), blocks > 1 ? 1 : 0);
      return size > 0;
    },
    /**
     * After a range that used up the time: the next snapshot tries none that is larger than what returned. If nothing
     * returned, it begins with less, but may grow: perhaps the wallet was to blame.
     */
    settle({ fromBlock, toBlock }: BlockRange): void {
      const blocks = toBlock - fromBlock + 1;
      rejected = blocks;
      rejectedAt = block.timestamp;
      size = returned || Math.max(1, Math.floor(blocks / SHRINK_BY));
      learn({ size, rejected: returned ? size + 1 : Number.POSITIVE_INFINITY, rejectedAt });
    },
  };
}

function isRecent({ rejectedAt }: LearnedRange, block: PinnedBlock): boolean {
  return block.timestamp - rejectedAt < REJECTION_SECONDS_MAX;
}

function firstRange({ blockTimeMs }: ChainConfig): number {
  return Math.min(FIRST_RANGE_MAX, Math.max(FIRST_RANGE_MIN, Math.floor(DAY_MS / blockTimeMs)));
}

function wantsSmallerRange(error: unknown): boolean {
  return error instanceof Fault && error.code === "LOGS_TOO_LARGE";
}
