// Runs reconciliation tasks on rows of the ledger, several at a time, each under a lease that is renewed meanwhile.
import { randomUUID } from "node:crypto";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Log } from "../../lib/log.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { PaymentLedger } from "./ledger.ts";
import type { LedgerRow } from "./row.ts";

export type ReconcileCounts = {
  /** Payments whose transfer was found although no facilitator reported it. */
  readonly found: number;
  /** Payments that are now final. */
  readonly final: number;
  /** Payments that a reorg had removed and that were sent again. */
  readonly resent: number;
};

/** Handles one row as its owner, and returns what to count. */
export type ReconcileTask = (row: LedgerRow, owner: string) => Promise<keyof ReconcileCounts | null>;

export type ReconcileRunner = {
  readonly counts: ReconcileCounts;
  count(what: keyof ReconcileCounts, rows: number): void;
  /** Resolves when all rows are handled; starts none after the signal aborts. */
  run(rows: readonly LedgerRow[], task: ReconcileTask): Promise<void>;
};

export function createReconcileRunner(
  options: { readonly ledger: PaymentLedger; readonly log: Log; readonly limits: GateLimits },
  signal: AbortSignal | undefined,
): ReconcileRunner {
  const { ledger, log, limits } = options;
  const counts = { found: 0, final: 0, resent: 0 };
  const slots = createConcurrencyLimit({
    runningMax: limits.reconcileConcurrency,
    waitingMax: Number.MAX_SAFE_INTEGER,
  });

  /** One failing row does not stop the others. */
  async function runTask(row: LedgerRow, task: ReconcileTask): Promise<keyof ReconcileCounts | null> {
    const owner = randomUUID();
    const lease = ledger.startRenewal(row, owner, log);
    try {
      return await task(row, owner);
    } catch (err) {
      log.warn(
        { component: "payments", event: "reconcile_row_failed", err, payer: row.payer, nonce: row.nonce },
        "Reconciliation of a payment failed",
      );
      await ledger.releaseLease(row, owner).catch(() => undefined);
      return null;
    } finally {
      await lease.stop();
    }
  }

  return {
    counts,
    count(what, rows) {
      counts[what] += rows;
    },
    async run(rows, task) {
      const handle = async (row: LedgerRow) => {
        const what = signal?.aborted ? null : await runTask(row, task);
        if (what !== null) counts[what] += 1;
      };
      await Promise.all(rows.map((row) => slots.run(() => handle(row))));
    },
  };
}
