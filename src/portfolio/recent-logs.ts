// Logs of a wallet, paged backwards from the pinned block in ranges that adapt to what the node allows.
import { Deadline } from "../lib/deadline.ts";
import { Fault } from "../lib/fault.ts";
import { BUDGET_MS } from "./time-budgets.ts";
import type { ChainConfig, PinnedChain } from "./types.ts";

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

// The range grows from 10,000 blocks to a month of any chain in three steps; below a range that was rejected more carefully.
const GROW_BY = 8;
const REGROW_BY = 2;

// The range shrinks from 10,000 blocks to the 10 of the strictest public nodes in five steps.
const SHRINK_BY = 4;

// Pages of one search. At the 10,000 blocks of a public node: two weeks of Ethereum, three days of Base.
const REQUESTS_MAX = 16;

// The logs of one search after which no further page is read: more than activity and unlisted tokens need, and a few
// megabytes.
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

/** The range that a chain's nodes allow; the last one is kept, so that the next snapshot does not have to find it again. */
type RangeLimit = {
  readonly size: number;
  /** The smallest range that was rejected, and when. */
  readonly rejected: number;
  readonly rejectedAt: number;
};

const learnedLimits = new WeakMap<ChainConfig, RangeLimit>();

// Another node of the same chain may allow more, and a busy wallet makes every range too large: forget a rejection.
const REJECTION_SECONDS_MAX = 600;

/** Rejects when not even the newest blocks can be read. */
export async function searchRecentLogs<Log>(
  at: PinnedChain,
  readRange: (range: BlockRange, signal: AbortSignal) => Promise<readonly Log[]>,
  signal: AbortSignal,
  budget: SearchBudget = SEARCH_BUDGET,
): Promise<LogHistory<Log>> {
  const deadline = new Deadline(budget.timeMs, signal);
  try {
    return await searchUntil(deadline.signal, { at, readRange, signal, budget });
  } finally {
    deadline.end();
  }
}

type SearchQuery<Log> = {
  readonly at: PinnedChain;
  readonly readRange: (range: BlockRange, signal: AbortSignal) => Promise<readonly Log[]>;
  readonly signal: AbortSignal;
  readonly budget: SearchBudget;
};

async function searchUntil<Log>(
  deadline: AbortSignal,
  { at, readRange, signal, budget }: SearchQuery<Log>,
): Promise<LogHistory<Log>> {
  // As of a block the window follows from the chain and its nodes, not from what this process read before.
  const search = startSearch(at, at.asOf === true || budget.isIsolated === true);
  const found: (readonly Log[])[] = [];
  for (let requests = budget.requests; requests > 0 && !isDone(search); ) {
    const ranges = nextRanges(search, requests);
    requests -= ranges.length;
    const results = await Promise.allSettled(ranges.map((range) => readRange(range, deadline)));
    const failed = results.findIndex(({ status }) => status === "rejected");
    const good = failed === -1 ? results.length : failed;
    for (const [i, range] of ranges.slice(0, good).entries()) {
      const result = results[i];
      const logs = result?.status === "fulfilled" ? result.value : [];
      found.push(logs);
      acceptRange(search, range, logs.length);
    }
    const [failure, range] = [results[failed], ranges[failed]];
    if (failure?.status !== "rejected" || range === undefined) {
      learn(search, search.limit);
      search.limit = { ...search.limit, size: chooseLargerSize(search) };
      continue;
    }
    signal.throwIfAborted();
    if (deadline.aborted) settleAfterTimeout(search, range);
    else if (wantsSmallerRange(failure.reason) && shrinkRange(search, range) && requests > 0) continue;
    // Older blocks are optional: a node may have pruned them, or the budget is used up.
    if (search.reached > at.block.number) throw failure.reason;
    break;
  }
  return { logs: found.toReversed().flat(), fromBlock: Math.min(search.reached, at.block.number) };
}

/** Null when not even the newest blocks can be read; rejects only when the caller aborts. */
export async function findRecentLogs<Log>(
  ...[at, readRange, signal, budget]: Parameters<typeof searchRecentLogs<Log>>
): Promise<LogHistory<Log> | null> {
  try {
    return await searchRecentLogs(at, readRange, signal, budget);
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/** The blocks to search next: newest first, in ranges that shrink on rejection and grow on success. */
type Search = {
  readonly at: PinnedChain;
  readonly isIsolated: boolean;
  /** The oldest block to search. */
  readonly end: number;
  readonly learned: RangeLimit | undefined;
  limit: RangeLimit;
  /** The largest range that was returned; 0 when none was. */
  returned: number;
  /** The oldest block that was searched. */
  reached: number;
  found: number;
};

function startSearch(at: PinnedChain, isIsolated: boolean): Search {
  const { chain, block } = at;
  const learned = isIsolated ? undefined : learnedLimits.get(chain);
  const isRecent = learned && block.timestamp - learned.rejectedAt < REJECTION_SECONDS_MAX;
  return {
    at,
    isIsolated,
    end: Math.max(0, block.number - Math.floor((DAYS_MAX * DAY_MS) / chain.blockTimeMs) + 1),
    learned,
    limit: {
      // Never the large range first: the newest blocks matter most, and a small range returns soon.
      size: Math.min(firstRange(chain), learned?.size ?? Number.POSITIVE_INFINITY),
      rejected: isRecent ? learned.rejected : Number.POSITIVE_INFINITY,
      rejectedAt: learned?.rejectedAt ?? block.timestamp,
    },
    returned: 0,
    reached: block.number + 1,
    found: 0,
  };
}

function isDone({ reached, end, found }: Search): boolean {
  return reached <= end || found >= LOGS_MAX;
}

/** Estimates the logs of so many blocks by those found so far. */
function expectLogs({ at, found, reached }: Search, blocks: number): number {
  return found === 0 ? 0 : (found / (at.block.number + 1 - reached)) * blocks;
}

function chooseLargerSize(search: Search): number {
  const { size, rejected } = search.limit;
  const larger = size * (rejected === Number.POSITIVE_INFINITY ? GROW_BY : REGROW_BY);
  const fits = (next: number) => next > size && next < rejected && expectLogs(search, next) <= LOGS_MAX;
  return [search.learned?.size ?? 0, larger].find(fits) ?? size;
}

/** Returns several ranges at once if their size has proved itself and cannot grow. */
function nextRanges(search: Search, requests: number): readonly BlockRange[] {
  const { returned, found, reached, end, limit } = search;
  const { size } = limit;
  const isSettled = returned >= size && chooseLargerSize(search) === size;
  const wanted = Math.ceil((LOGS_MAX - found) / Math.max(1, expectLogs(search, size)));
  const count = isSettled ? Math.min(CONCURRENT_MAX, requests, wanted) : 1;
  const ranges: BlockRange[] = [];
  for (let toBlock = reached - 1; ranges.length < count && toBlock >= end; toBlock -= size) {
    ranges.push({ fromBlock: Math.max(end, toBlock - size + 1), toBlock });
  }
  return ranges;
}

function acceptRange(search: Search, { fromBlock }: BlockRange, logs: number): void {
  search.reached = fromBlock;
  search.found += logs;
  search.returned = Math.max(search.returned, search.limit.size);
}

/** False when the range cannot be smaller. */
function shrinkRange(search: Search, { fromBlock, toBlock }: BlockRange): boolean {
  const rejected = toBlock - fromBlock + 1;
  if (search.returned >= rejected) search.returned = 0;
  const size = Math.max(search.returned, Math.floor(rejected / SHRINK_BY), rejected > 1 ? 1 : 0);
  search.limit = { size, rejected, rejectedAt: search.at.block.timestamp };
  return size > 0;
}

/**
 * After a range that used up the time, the next snapshot tries none that is larger than what returned. If nothing
 * returned, it begins with less, but may grow: perhaps the wallet was to blame.
 */
function settleAfterTimeout(search: Search, { fromBlock, toBlock }: BlockRange): void {
  const { returned } = search;
  const rejected = toBlock - fromBlock + 1;
  const size = returned || Math.max(1, Math.floor(rejected / SHRINK_BY));
  search.limit = { size, rejected, rejectedAt: search.at.block.timestamp };
  learn(search, { ...search.limit, rejected: returned ? size + 1 : Number.POSITIVE_INFINITY });
}

/** Stores the limit for the next search, unless a busy wallet caused the rejection. */
function learn(search: Search, limit: RangeLimit): void {
  const { rejected } = search.limit;
  const isBusy = rejected < Number.POSITIVE_INFINITY && expectLogs(search, rejected) >= BUSY_LOGS_MIN;
  if (!search.isIsolated && !isBusy) learnedLimits.set(search.at.chain, limit);
}

function firstRange({ blockTimeMs }: ChainConfig): number {
  return Math.min(FIRST_RANGE_MAX, Math.max(FIRST_RANGE_MIN, Math.floor(DAY_MS / blockTimeMs)));
}

function wantsSmallerRange(error: unknown): boolean {
  return error instanceof Fault && error.code === "LOGS_TOO_LARGE";
}
