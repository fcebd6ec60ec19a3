// Where the primary's write-ahead log was, and when: shows for how long a replica has been missing something.

type Sample = { readonly position: bigint; readonly atMs: number };

// A quarter of an hour at one a second. A replica that is further behind counts as that far behind at least.
const SAMPLES_MAX = 1_000;

export class WalPositions {
  #samples: Sample[] = [];

  add(position: bigint, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last?.position === position) return;
    // After a fail-over the log may continue from an earlier position.
    if (last && position < last.position) this.#samples = [];
    this.#samples.push({ position, atMs });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /** 0 for a replica that has replayed all that was seen, also while the primary is idle or down. */
  lagMs(replayed: bigint, nowMs: number): number {
    const missing = this.#samples.find(({ position }) => position > replayed);
    return missing ? nowMs - missing.atMs : 0;
  }
}
