// How often a vendor may be asked: so many requests a minute, and none at all while it asked for a rest.
import type { Clock } from "../../lib/clock.ts";

const MINUTE_MS = 60_000;
// A vendor that names no time has had enough for its own window, which is mostly a minute.
const REST_MS = 60_000;
// Whoever asks for longer is asked again anyway, once an hour.
const REST_MS_MAX = 3_600_000;

type RequestBudget = {
  /** True when a request may be sent now; it is then counted. */
  tryAcquire(): boolean;
  /** No request for the time the vendor named, or for a minute. */
  pause(ms: number | null): void;
};

export function createRequestBudget(options: {
  readonly perMinuteMax: number;
  readonly clock: Clock;
}): RequestBudget {
  const { perMinuteMax, clock } = options;
  let sentMs: number[] = [];
  let restUntilMs = Number.NEGATIVE_INFINITY;
  return {
    tryAcquire() {
      const nowMs = clock.nowMs();
      sentMs = sentMs.filter((ms) => nowMs - ms < MINUTE_MS);
      if (nowMs < restUntilMs || sentMs.length >= perMinuteMax) return false;
      sentMs.push(nowMs);
      return true;
    },
    pause(ms) {
      restUntilMs = Math.max(restUntilMs, clock.nowMs() + Math.min(ms ?? REST_MS, REST_MS_MAX));
    },
  };
}
