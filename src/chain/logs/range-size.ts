// How many blocks to ask for at once: grows while answers are light, shrinks when a node refuses or an answer is heavy.

export type RangeSize = {
  readonly blocks: number;
  recordSuccess(blocks: number, logs: number, provider: number): void;
  /** The provider could not answer for so many blocks; `stated` is the most it says it accepts. */
  recordRejection(blocks: number, provider: number, stated: number | null): void;
};

export function createRangeSize(options: {
  rangeMax: number;
  rangeFirst: number;
  logsAim: number;
}): RangeSize {
  let blocks = Math.max(1, Math.min(options.rangeFirst, options.rangeMax));
  // Above this size growth is slow: not far above it a node has refused before.
  let cautiousFrom = Number.POSITIVE_INFINITY;
  // Kept per provider: the small limit of a fallback must not hold back the first one when it returns.
  const stated = new Map<number, number>();

  return {
    get blocks() {
      return blocks;
    },
    recordSuccess(asked, logs, provider) {
      // A short last range or a heavy one says nothing in favour of growing.
      if (asked < blocks) return;
      if (logs > options.logsAim * 2) {
        blocks = Math.max(1, Math.floor((asked * options.logsAim) / logs));
        return;
      }
      if (logs > options.logsAim / 2) return;
      const grown = asked < cautiousFrom ? asked * 2 : asked + Math.ceil(asked / 8);
      blocks = Math.min(grown, options.rangeMax, stated.get(provider) ?? options.rangeMax);
    },
    recordRejection(asked, provider, max) {
      if (max !== null) stated.set(provider, Math.max(1, max));
      const half = Math.max(1, asked >> 1);
      if (half < blocks) blocks = max === null ? half : Math.max(1, Math.min(max, asked - 1));
      cautiousFrom = Math.max(1, asked >> 1);
    },
  };
}
