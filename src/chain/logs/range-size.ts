// How many blocks to read at once: grows while responses are light, shrinks when a node rejects one or it is heavy.

type RangeSizeOptions = {
  readonly rangeMax: number;
  readonly rangeInitial: number;
  readonly logsTarget: number;
};

export class RangeSize {
  readonly #options: RangeSizeOptions;
  #blocks: number;
  // Above this size growth is slow: a node has rejected one not far above it.
  #cautiousFrom = Number.POSITIVE_INFINITY;
  // Per provider: the small limit of a fallback must not hold back the first one when it returns.
  readonly #statedMax = new Map<number, number>();

  constructor(options: RangeSizeOptions) {
    this.#options = options;
    this.#blocks = Math.max(1, Math.min(options.rangeInitial, options.rangeMax));
  }

  get blocks(): number {
    return this.#blocks;
  }

  recordSuccess(blocks: number, logs: number, provider: number): void {
    const { rangeMax, logsTarget } = this.#options;
    // A short last range is no reason to grow.
    if (blocks < this.#blocks) return;
    if (logs > logsTarget * 2) {
      this.#blocks = Math.max(1, Math.floor((blocks * logsTarget) / logs));
      return;
    }
    if (logs > logsTarget / 2) return;
    const grown = blocks < this.#cautiousFrom ? blocks * 2 : blocks + Math.ceil(blocks / 8);
    this.#blocks = Math.min(grown, rangeMax, this.#statedMax.get(provider) ?? rangeMax);
  }

  /** The provider rejected so many blocks; `statedMax` is the most it says it accepts. */
  recordRejection(blocks: number, provider: number, statedMax: number | null): void {
    if (statedMax !== null) this.#statedMax.set(provider, Math.max(1, statedMax));
    const half = Math.max(1, blocks >> 1);
    if (half < this.#blocks) {
      this.#blocks = statedMax === null ? half : Math.max(1, Math.min(statedMax, blocks - 1));
    }
    this.#cautiousFrom = half;
  }
}
