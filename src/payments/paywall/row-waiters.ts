// Requests that wait for a payment that another request acts on: one poll of the ledger per row, however many wait.
import type { Clock } from "../../lib/clock.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import { type LedgerRow, type PaymentKey, paymentKeyText } from "../ledger/row.ts";
import type { GateLimits } from "./limits.ts";

type RowWaitOptions = {
  readonly key: PaymentKey;
  readonly isReady: (row: LedgerRow | null) => boolean;
  readonly deadlineMs: number;
};

type Waiter = RowWaitOptions & {
  readonly resolve: (outcome: "ready" | "timed-out") => void;
  readonly reject: (reason: unknown) => void;
};

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;

export type RowWaiters = ReturnType<typeof createRowWaiters>;

export function createRowWaiters(options: {
  readonly ledger: Pick<PaymentLedger, "find">;
  readonly clock: Clock;
  readonly limits: Pick<GateLimits, "waitersPerPaymentMax" | "waitersMax">;
}) {
  const { ledger, clock, limits } = options;
  const present = new Map<string, number>();
  const polls = new Map<string, Set<Waiter>>();
  let waiting = 0;

  async function poll(key: PaymentKey, waiters: Set<Waiter>): Promise<void> {
    try {
      for (let pauseMs = POLL_MS_MIN; waiters.size > 0; pauseMs = Math.min(POLL_MS_MAX, pauseMs * 2)) {
        await clock.sleep(pauseMs);
        resolveReady(waiters, await ledger.find(key), clock);
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    } finally {
      polls.delete(paymentKeyText(key));
    }
  }

  return {
    /** Admits a request with this authorization; returns the function to call at its end, or null for too many. */
    enter(key: PaymentKey): (() => void) | null {
      const id = paymentKeyText(key);
      const count = present.get(id) ?? 0;
      // One of them acts; the others wait.
      if (count > limits.waitersPerPaymentMax) return null;
      present.set(id, count + 1);
      return () => {
        const left = (present.get(id) ?? 1) - 1;
        if (left === 0) present.delete(id);
        else present.set(id, left);
      };
    },
    /** Waits until the row lets the request act, at most until the deadline. */
    async wait(options: RowWaitOptions): Promise<"ready" | "timed-out" | "too-many"> {
      const id = paymentKeyText(options.key);
      const running = polls.get(id);
      if (waiting >= limits.waitersMax || (running?.size ?? 0) >= limits.waitersPerPaymentMax)
        return "too-many";
      waiting += 1;
      try {
        return await new Promise((resolve, reject) => {
          const waiter = { ...options, resolve, reject };
          if (running) {
            running.add(waiter);
            return;
          }
          const waiters = new Set([waiter]);
          polls.set(id, waiters);
          void poll(options.key, waiters);
        });
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** Resolves the waiters that are ready or out of time. */
function resolveReady(waiters: Set<Waiter>, row: LedgerRow | null, clock: Clock): void {
  for (const waiter of waiters) {
    const isReady = waiter.isReady(row);
    if (!isReady && clock.nowMs() < waiter.deadlineMs) continue;
    waiters.delete(waiter);
    waiter.resolve(isReady ? "ready" : "timed-out");
  }
}
