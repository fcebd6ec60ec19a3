// The end of a piece of work: after a time, or with the work that it belongs to; and waits that end while shared work goes on.
import { setMaxListeners } from "node:events";

/**
 * AbortSignal.any and AbortSignal.timeout stay until they fire, seconds after the work, and each then makes an error with
 * its stack. Signals and timers were an eighth of the processor time of a snapshot.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #signals: readonly AbortSignal[];
  #timer: NodeJS.Timeout | undefined;
  #isLate = false;
  #hasEnded = false;

  /** Call `end` however the work ends. Null for work whose time begins later, or that ends with other work only. */
  constructor(ms: number | null, ...signals: readonly AbortSignal[]) {
    this.#signals = signals;
    if (ms !== null) this.begin(ms);
    // Whatever waits for the work listens to it.
    setMaxListeners(0, this.#controller.signal);
    for (const signal of signals) {
      if (signal.aborted) this.#controller.abort(signal.reason);
      signal.addEventListener("abort", this.#onAbort);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The time is over, which ended the work before anything else did. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The time begins now, whatever has passed before; not for work that is over. */
  begin(ms: number): void {
    if (this.#hasEnded) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTime, Math.max(0, Math.ceil(ms)));
  }

  /** The work is over; with a reason, what is left of it stops. */
  end(reason?: unknown): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
    if (reason !== undefined) this.#controller.abort(reason);
  }

  readonly #onTime = (): void => {
    this.#isLate = !this.#controller.signal.aborted;
    this.#controller.abort(new DOMException("The work took too long.", "TimeoutError"));
  };

  readonly #onAbort = (event: Event): void => {
    this.#controller.abort((event.target as AbortSignal).reason);
  };
}

/** Rejects with the signal's reason once that aborts. */
export async function untilAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  // Every wait listens until it ends.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
