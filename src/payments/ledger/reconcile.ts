// Background reconciliation: resolve unknown settlements, follow finality, send again what a reorg undid, prune old rows.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { expectedTransferFor, lookUpSettlement } from "../settlement/find-transfer.ts";
import type { AuthorizationStates, BlockId, SettlementLookup } from "../settlement/lookup.ts";
import type { Settlement } from "../settlement/settle.ts";
import { createFinalityFollower } from "./finality.ts";
import type { PaymentLedger } from "./ledger.ts";
import type { LedgerRow, LedgerScope, PaymentKey } from "./row.ts";
import { createReconcileRunner, type ReconcileCounts, type ReconcileTask } from "./row-runner.ts";
import { createUnfinishedPayments, pruneLedger } from "./unfinished-payments.ts";

export type ReconcileOptions = {
  readonly store: StatementRunner;
  /** Rows of other networks and assets are left alone: our chain knows nothing about them. */
  readonly scope: LedgerScope;
  readonly ledger: PaymentLedger;
  readonly settlement: Settlement;
  readonly chain: SettlementLookup;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

export function createReconciler(
  options: ReconcileOptions,
): (signal?: AbortSignal) => Promise<ReconcileCounts> {
  const { store, scope, ledger, settlement, chain, log, limits } = options;
  const open = createUnfinishedPayments(store, scope);

  /**
   * A client that went away without its response is charged nothing: its transfer is only looked for. One that was
   * settled before has its response, so its transfer is sent again.
   */
  const resolve: ReconcileTask = async (row, owner) => {
    if (!(await ledger.acquire(row, owner, row.state, row.state))) return null;
    const result = row.wasSettled ? await settlement.resume(row, owner) : await settlement.lookUp(row, owner);
    if (result === null) await ledger.recordUnknownOutcome(row, owner, null);
    return result?.kind === "settled" ? (row.wasSettled ? "resent" : "found") : null;
  };

  /** For a settled row whose transfer is not, or not provably, in the block where it was seen. */
  const restore =
    (isFinal: (block: BlockId) => boolean): ReconcileTask =>
    async (row, owner) => {
      if (!(await ledger.acquire(row, owner, "settled", "settled"))) return null;
      const evidence = await lookUpSettlement(row, options);
      if (evidence.kind === "transferred") {
        const final = isFinal(evidence.block);
        await ledger.recordBlock(row, owner, { ...evidence, final });
        return final ? "final" : null;
      }
      if (evidence.kind === "untraced")
        throw new Error("the transfer of a settled payment is not in the logs");
      const { payer, nonce, transaction } = row;
      log.warn({ payer, nonce, transaction }, "A settled payment is not on chain");
      if (!(await ledger.startSettling(row, owner))) return null;
      const { kind } = await settlement.resume({ ...row, state: "settling" }, owner);
      return kind === "settled" ? "resent" : null;
    };

  /** Every row once, however many there are: pages go by key, which no change of state moves. */
  async function everyPage(
    read: (after: PaymentKey | null, limit: number) => Promise<readonly LedgerRow[]>,
    act: (rows: readonly LedgerRow[]) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let after: PaymentKey | null = null;
    while (!signal?.aborted) {
      const rows: readonly LedgerRow[] = await read(after, limits.reconcileBatchRows);
      if (rows.length > 0) await act(rows);
      after = rows.at(-1) ?? null;
      if (rows.length < limits.reconcileBatchRows) return;
    }
  }

  const followFinality = createFinalityFollower({ unfinished: open, chain, limits, repair: restore });

  const once = async (signal?: AbortSignal) => {
    const runner = createReconcileRunner(options, signal);
    const resolveAll = async (rows: readonly LedgerRow[]) => {
      const states = await chain.readAuthorizationStates(rows.map(expectedTransferFor), signal);
      const ripe = rows.filter((row, i) => canResolve(row, states, i));
      await runner.run(ripe, resolve);
    };
    // What a reorg undid comes first: its signatures expire. A part that fails does not stop the others.
    const parts = [
      () => followFinality(runner, signal),
      () =>
        everyPage(
          open.listWithoutBlock,
          (rows) =>
            runner.run(
              rows,
              restore(() => false),
            ),
          signal,
        ),
      () => everyPage(open.listUnresolved, resolveAll, signal),
      () => pruneLedger(store, scope, limits),
    ];
    const failures: unknown[] = [];
    for (const part of parts) await part().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    return runner.counts;
  };

  // A sweep that takes longer than the time between two is not started a second time.
  let running: Promise<ReconcileCounts> | null = null;
  return (signal) => {
    running ??= once(signal).finally(() => {
      running = null;
    });
    return running;
  };
}

/** Whether what the chain says now resolves a row; most rows of unknown outcome can only wait. */
function canResolve(row: LedgerRow, { at, final, used }: AuthorizationStates, index: number): boolean {
  if (used[index] !== false) return true;
  if (at.timestamp < row.validBefore) return row.wasSettled;
  return final !== null && final.timestamp >= row.validBefore;
}
