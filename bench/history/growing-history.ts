// A history of any length that fits memory: made a part at a time as it is read, and forgotten behind the reader.
import { generateHistory, type HistoryOptions, historyChain } from "./history.ts";
import { type HistoryPart, type ServedHistory, serveParts, writeHistoryPart } from "./served-history.ts";

type GrowingOptions = Omit<HistoryOptions, "eventsMax"> & {
  /** The end of its growth: the first whole block with so many events. */
  readonly eventsMax: number;
  /** The last block that the reader has: what is far before it is made and forgotten at once. */
  readonly fromBlock: number;
  readonly eventsPerPart?: number;
  readonly progress: (events: number) => void;
};

// A few hundred megabytes of text, made in a few seconds.
const EVENTS_PER_PART = 100_000;
// The blocks that a reorg may undo: at the end of the history, they are followed one by one.
const UNFINALIZED_BLOCKS = 64;
// A reader verifies its last blocks before it goes on.
const BLOCKS_BEHIND = 1_000;

/** It goes on when a reader of the finalized block has read everything up to it. */
export function serveGrowingHistory({
  eventsMax,
  fromBlock,
  eventsPerPart = EVENTS_PER_PART,
  progress,
  ...options
}: GrowingOptions): ServedHistory {
  const chain = historyChain(options.seed);
  const blocks = generateHistory(options);
  // The newest two: a reader may still be in the one before.
  let parts: readonly HistoryPart[] = [];
  let events = 0;
  let next = chain.deployment.startBlock;
  let readUpTo = fromBlock;

  const skipTo = (block: number): void => {
    while (next < block) {
      const skipped = blocks.next();
      if (skipped.done) return;
      for (const { logs } of skipped.value.transactions) events += logs.length;
      next = skipped.value.number + 1;
      progress(events);
    }
  };
  const grow = (): void => {
    const wanted = Math.min(eventsPerPart, eventsMax - events);
    if (wanted <= 0) return;
    const partOptions = {
      start: next,
      eventsMax: wanted,
      progress: (made: number) => progress(events + made),
    };
    const made = writeHistoryPart(chain, blocks, partOptions);
    if (!made) return;
    parts = [...parts.slice(-1), made];
    events += made.events;
    next = made.end;
  };
  const finalized = () => Math.max(chain.deployment.startBlock - 1, next - 1 - UNFINALIZED_BLOCKS);

  skipTo(fromBlock - BLOCKS_BEHIND);
  let before: number;
  do {
    before = next;
    grow();
  } while (next <= fromBlock && next > before);
  const served = serveParts(chain, () => parts);
  return {
    ...served,
    chain,
    get events() {
      return events;
    },
    get head() {
      return next - 1;
    },
    get bytes() {
      return parts.reduce((sum, { ownLogs, otherLogs }) => sum + ownLogs.bytes + otherLogs.bytes, 0);
    },
    readFinalized() {
      if (readUpTo >= finalized()) grow();
      return finalized();
    },
    logs(emitters, from, to) {
      readUpTo = Math.max(readUpTo, to);
      return served.logs(emitters, from, to);
    },
  };
}
