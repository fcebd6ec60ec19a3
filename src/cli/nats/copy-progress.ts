// Shows on a terminal how much a copy has written, and how fast.
import type { Clock } from "../../lib/clock.ts";
import type { Display } from "../display/display.ts";

// Numbers that change faster cannot be read.
const RENEWAL_MS = 1_000;

export class CopyProgress {
  readonly #display: Pick<Display, "progress">;
  readonly #clock: Pick<Clock, "nowMs">;
  #count = 0;
  #shownCount = 0;
  #shownAtMs: number;
  #hide: () => void;

  constructor(display: Pick<Display, "progress">, clock: Pick<Clock, "nowMs">) {
    this.#display = display;
    this.#clock = clock;
    this.#shownAtMs = clock.nowMs();
    this.#hide = display.progress("Waiting for events");
  }

  /** Counts one message. */
  add(): void {
    this.#count += 1;
    const now = this.#clock.nowMs();
    const elapsedMs = now - this.#shownAtMs;
    if (elapsedMs < RENEWAL_MS) return;
    const rate = Math.round(((this.#count - this.#shownCount) * 1_000) / elapsedMs);
    this.#hide();
    this.#hide = this.#display.progress(`Copied ${this.#count} messages, ${rate} a second;`);
    this.#shownAtMs = now;
    this.#shownCount = this.#count;
  }

  /** Clears the line, until the next message. */
  hide(): void {
    this.#hide();
    this.#hide = () => undefined;
  }
}
