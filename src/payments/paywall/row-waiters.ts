// Requests that wait for another one to finish with a payment: one poll of the ledger for all that wait for one row.
import type { Clock } from "../../lib/clock.ts";
import type { PaymentLedger } from "../ledger/ledger.ts";
import type { LedgerRow, PaymentKey } from "../ledger/row.ts";
import type { GateLimits } from "./limits.ts";

export type RowWaiters = {
  /** Admits a request with this authorization and returns how to leave; null when too many are here. */
  enter(key: PaymentKey): (() => void) | null;
  /** Waits until the row no longer keeps the request from acting ("ready") or its time is over ("late"). */
  wait(wanted: RowWaitOptions): Promise<"ready" | "late" | "full">;
};

export type RowWaitOptions = {
  readonly key: PaymentKey;
  readonly isReady: (row: LedgerRow | null) => boolean;
  readonly untilMs: number;
};

type Waiter = RowWaitOptions & {
  readonly resolve: (outcome: "ready" | "late") => void;
  readonly reject: (reason: unknown) => void;
};

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;

export function createRowWaiters(options: {
  readonly ledger: Pick<PaymentLedger, "find">;
  readonly clock: Clock;
  readonly limits: Pick<GateLimits, "waitersPerPaymentMax" | "waitersMax">;
}): RowWaiters {
  const { ledger, clock, limits } = options;
  const present = new Map<string, number>();
  const polls = new Map<string, Set<Waiter>>();
  let waiting = 0;

  /** Takes every waiter out that has nothing to wait for. */
  function dismiss(waiters: Set<Waiter>, row: LedgerRow | null): void {
    for (const waiter of waiters) {
      const ready = waiter.isReady(row);
      if (!ready && clock.nowMs() < waiter.untilMs) continue;
      waiters.delete(waiter);
      waiter.resolve(ready ? "ready" : "late");
    }
  }

  async function poll(key: PaymentKey, waiters: Set<Waiter>): Promise<void> {
    try {
      for (let pauseMs = POLL_MS_MIN; waiters.size > 0; pauseMs = Math.min(POLL_MS_MAX, pauseMs * 2)) {
        await clock.sleep(pauseMs);
        dismiss(waiters, await ledger.find(key));
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    } finally {
      polls.delete(textOf(key));
    }
  }

  return {
    enter(key) {
      const text = textOf(key);
      const count = present.get(text) ?? 0;
      // One of them works; the others wait.
      if (count > limits.waitersPerPaymentMax) return null;
      present.set(text, count + 1);
      return () => {
        const left = (present.get(text) ?? 1) - 1;
        if (left === 0) present.delete(text);
        else present.set(text, left);
      };
    },
    async wait(wanted) {
      const text = textOf(wanted.key);
      const running = polls.get(text);
      if (waiting >= limits.waitersMax || (running?.size ?? 0) >= limits.waitersPerPaymentMax) return "full";
      waiting += 1;
      try {
        return await new Promise((resolve, reject) => {
          const waiter = { ...wanted, resolve, reject };
          if (running) {
            running.add(waiter);
            return;
          }
          const waiters = new Set([waiter]);
          polls.set(text, waiters);
          void poll(wanted.key, waiters);
        });
      } finally {
        waiting -= 1;
      }
    },
  };
}

function textOf({ network, asset, payer, nonce }: PaymentKey): string {
  return `${network} ${asset} ${payer} ${nonce}`;
}
