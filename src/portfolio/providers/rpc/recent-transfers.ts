// A wallet's token transfers, paged backwards from the pinned block in ranges that adapt to what the node allows.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { ChainConfig, PinnedBlock, PinnedChain, TransferLog } from "../../types.ts";

export type TransferHistory = {
  readonly logs: readonly TransferLog[];
  /** The oldest searched block. */
  readonly fromBlock: number;
};

const DAY_MS = 86_400_000;

// Older transfers say little about what a wallet holds now, and nodes search long ranges slowly.
const DAYS_MAX = 30;

// A day, capped by what most nodes search at once, and at least enough for a wallet with little activity.
const FIRST_RANGE_MIN = 1_000;
const FIRST_RANGE_MAX = 10_000;

// From 10,000 blocks to a month of any chain in three steps; below a range that was rejected more carefully.
const GROW_BY = 8;
const REGROW_BY = 2;

// From 10,000 blocks to the 10 of the strictest public nodes in five steps.
const SHRINK_BY = 4;

// Pages of one side. At the 10,000 blocks of a public node: two weeks of Ethereum, three days of Base.
const REQUESTS_MAX = 16;

// Pages at the same time once the node's limit is known: four round trips use up the requests.
const CONCURRENT_MAX = 4;

// Transfers are optional and must not delay the balances for long.
const TIME_MS_MAX = 6_000;

type Range = { readonly fromBlock: number; readonly toBlock: number };

type TransferBudget = { readonly timeMs: number; readonly requests: number };

const BUDGET: TransferBudget = { timeMs: TIME_MS_MAX, requests: REQUESTS_MAX };

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
export async function readRecentTransfers(
  at: PinnedChain,
  wallet: Hex,
  side: "from" | "to",
  signal: AbortSignal,
  budget: TransferBudget = BUDGET,
): Promise<TransferHistory> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(budget.timeMs)]);
  const pages = createPages(at);
  const found: (readonly TransferLog[])[] = [];
  for (let requests = budget.requests; requests > 0 && !pages.isDone(); ) {
    const ranges = pages.next(requests);
    requests -= ranges.length;
    const results = await Promise.allSettled(
      ranges.map((range) => at.transfers({ wallet, side, ...range }, deadline)),
    );
    const failed = results.findIndex(({ status }) => status === "rejected");
    const good = failed === -1 ? results.length : failed;
    for (const [i, range] of ranges.slice(0, good).entries()) {
      const result = results[i];
      if (result?.status === "fulfilled") found.push(result.value);
      pages.accept(range);
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
function createPages({ chain, block }: PinnedChain) {
  const end = Math.max(0, block.number - Math.floor((DAYS_MAX * DAY_MS) / chain.blockTimeMs) + 1);
  const learned = learnedRanges.get(chain);
  // Never the large range first: the newest blocks matter most, and a small range returns soon.
  let size = Math.min(firstRange(chain), learned?.size ?? Number.POSITIVE_INFINITY);
  /** The smallest range that was rejected: only smaller ones are tried. */
  let rejected = learned && isRecent(learned, block) ? learned.rejected : Number.POSITIVE_INFINITY;
  let rejectedAt = learned?.rejectedAt ?? block.timestamp;
  /** The largest range that was returned; 0 when none was. */
  let returned = 0;
  let reached = block.number + 1;
  const grown = () => {
    const larger = rejected === Number.POSITIVE_INFINITY ? size * GROW_BY : size * REGROW_BY;
    return [learned?.size ?? 0, larger].find((next) => next > size && next < rejected) ?? size;
  };
  return {
    isDone: () => reached <= end,
    oldest: () => (reached > block.number ? null : reached),
    /** Several at once where the size has proved itself and cannot grow. */
    next(requests: number): readonly Range[] {
      const isSettled = returned >= size && grown() === size;
      const count = isSettled ? Math.min(CONCURRENT_MAX, requests) : 1;
      const ranges: Range[] = [];
      for (let toBlock = reached - 1; ranges.length < count && toBlock >= end; toBlock -= size) {
        ranges.push({ fromBlock: Math.max(end, toBlock - size + 1), toBlock });
      }
      return ranges;
    },
    accept({ fromBlock }: Range): void {
      reached = fromBlock;
      returned = Math.max(returned, size);
    },
    grow(): void {
      learnedRanges.set(chain, { size, rejected, rejectedAt });
      size = grown();
    },
    /** False when the range cannot be smaller. */
    shrink({ fromBlock, toBlock }: Range): boolean {
      const blocks = toBlock - fromBlock + 1;
      rejected = blocks;
      rejectedAt = block.timestamp;
      if (returned >= blocks) returned = 0;
      size = Math.max(returned, Math.floor(blocks / SHRINK_BY), blocks > 1 ? 1 : 0);
      return size > 0;
    },
    /** After a range that used up the time: the next snapshot tries none that is larger than what returned. */
    settle({ fromBlock, toBlock }: Range): void {
      const blocks = toBlock - fromBlock + 1;
      size = returned || Math.max(1, Math.floor(blocks / SHRINK_BY));
      learnedRanges.set(chain, { size, rejected: size + 1, rejectedAt: block.timestamp });
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

/** Newest first. */
export function compareNewestFirst(a: TransferLog, b: TransferLog): number {
  return b.blockNumber - a.blockNumber || b.logIndex - a.logIndex;
}
