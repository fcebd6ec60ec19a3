// Records the position of the primary's write-ahead log over time: it shows for how long a replica has been missing something.

type Sample = { readonly position: bigint; readonly atMs: number };

// Samples of each kind. Recent ones come once a second, and with every change of the index.
const SAMPLES_MAX = 1_000;
// Samples that are kept for sixteen hours: the longest lag that can be allowed is an hour.
const SPARSE_EVERY_MS = 60_000;

export class WalPositions {
  #recent: Sample[] = [];
  #sparse: Sample[] = [];

  add(position: bigint, atMs: number): void {
    const last = this.#recent.at(-1);
    if (last?.position === position) return;
    // After a fail-over the log may continue from an earlier position.
    if (last && position < last.position) {
      this.#recent = [];
      this.#sparse = [];
    }
    const sample = { position, atMs };
    append(this.#recent, sample);
    const sparse = this.#sparse.at(-1);
    if (!sparse || atMs - sparse.atMs >= SPARSE_EVERY_MS) append(this.#sparse, sample);
  }

  /**
   * 0 for a replica that has replayed all that was seen, also while the primary is idle or down. A lag that began
   * before the recent samples is up to a minute longer than what is returned.
   */
  lagMs(replayed: bigint, nowMs: number): number {
    const isMissing = ({ position }: Sample) => position > replayed;
    const missing = [this.#sparse.find(isMissing), this.#recent.find(isMissing)];
    return Math.max(0, ...missing.map((sample) => (sample ? nowMs - sample.atMs : 0)));
  }
}

function append(samples: Sample[], sample: Sample): void {
  samples.push(sample);
  if (samples.length > SAMPLES_MAX) samples.shift();
}
