// Payments that the chain has shown to be worth nothing, so that sending one again costs no call to a node.
import type { Clock } from "../../lib/clock.ts";
import { LruMap } from "../../lib/lru-map.ts";

// About ten megabytes. A forgotten payment is looked up once more.
const PAYMENTS_MAX = 50_000;
// A reorg can undo a use that is not final; until then the same response is as good as a new lookup.
const NOT_FINAL_MS = 60_000;
// One node has shown it, which may be wrong: this limits the cost and proves nothing.
const FINAL_MS = 3_600_000;

/** In memory, by the authorization together with its signature: another one with the same nonce proves nothing. */
export class SpentPayments {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #forgottenAtMs = new LruMap<string, number>(PAYMENTS_MAX);

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** The nonce of the payment was used for something else, or cancelled; `final` if no reorg can undo that. */
  remember(digest: string, final: boolean): void {
    this.#forgottenAtMs.set(digest, this.#clock.nowMs() + (final ? FINAL_MS : NOT_FINAL_MS));
  }

  has(digest: string): boolean {
    return (this.#forgottenAtMs.get(digest) ?? 0) > this.#clock.nowMs();
  }
}
