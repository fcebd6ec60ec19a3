// Background reconciliation: resolve unknown settlements, follow finality, send again what a reorg undid, prune old rows.
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Rows } from "../../schema/record-store.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { evidenceOf, wantedOf } from "../settlement/find-transfer.ts";
import type { BlockId, SettlementChain, UsedStates } from "../settlement/lookup.ts";
import type { Settlement } from "../settlement/settle.ts";
import { createFinality } from "./finality.ts";
import type { Ledger } from "./ledger.ts";
import { letGo } from "./retention.ts";
import type { LedgerRow, LedgerScope, PaymentKey } from "./row.ts";
import { createRowRunner, type RowTask, type Swept } from "./row-runner.ts";
import { openPayments } from "./unfinished-payments.ts";

export type SweepOptions = {
  readonly store: Rows;
  /** Rows of other networks and assets are left alone: our chain knows nothing about them. */
  readonly scope: LedgerScope;
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly chain: SettlementChain;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

export function createSweep(options: SweepOptions): (signal?: AbortSignal) => Promise<Swept> {
  const { store, scope, ledger, settlement, chain, log, limits } = options;
  const open = openPayments(store, scope);

  /**
   * A client that went away without its response is charged nothing: its transfer is only looked for. One that was
   * settled before has its response, so its transfer is sent again.
   */
  const resolve: RowTask = async (row, owner) => {
    if (!(await ledger.take(row, owner, row.state, row.state))) return null;
    const result = row.wasSettled ? await settlement.resume(row, owner) : await settlement.look(row, owner);
    if (result === null) await ledger.leaveUnknown(row, owner, null);
    return result?.kind === "settled" ? (row.wasSettled ? "repeated" : "found") : null;
  };

  /** For a settled row whose transfer is not, or not provably, in the block where it was seen. */
  const restore =
    (isFinal: (block: BlockId) => boolean): RowTask =>
    async (row, owner) => {
      if (!(await ledger.take(row, owner, "settled", "settled"))) return null;
      const evidence = await evidenceOf(row, options);
      if (evidence.kind === "transferred") {
        const final = isFinal(evidence.block);
        await ledger.confirm(row, owner, { ...evidence, final });
        return final ? "final" : null;
      }
      if (evidence.kind === "untraced")
        throw new Error("the transfer of a settled payment is not in the logs");
      const { payer, nonce, transaction } = row;
      log.warn({ payer, nonce, transaction }, "A settled payment is not on chain");
      if (!(await ledger.beginSettling(row, owner))) return null;
      const { kind } = await settlement.resume({ ...row, state: "settling" }, owner);
      return kind === "settled" ? "repeated" : null;
    };

  /** Every row once, however many there are: pages go by key, which no change of state moves. */
  async function everyPage(
    read: (after: PaymentKey | null, limit: number) => Promise<readonly LedgerRow[]>,
    act: (rows: readonly LedgerRow[]) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let after: PaymentKey | null = null;
    while (!signal?.aborted) {
      const rows: readonly LedgerRow[] = await read(after, limits.sweepRows);
      if (rows.length > 0) await act(rows);
      after = rows.at(-1) ?? null;
      if (rows.length < limits.sweepRows) return;
    }
  }

  const followFinality = createFinality({ open, chain, limits, restore });

  const once = async (signal?: AbortSignal) => {
    const runner = createRowRunner(options, signal);
    const resolveAll = async (rows: readonly LedgerRow[]) => {
      const states = await chain.readStates(rows.map(wantedOf), signal);
      const ripe = rows.filter((row, i) => canResolve(row, states, i));
      await runner.run(ripe, resolve);
    };
    // What a reorg undid comes first: its signatures expire. A part that fails does not stop the others.
    const parts = [
      () => followFinality(runner, signal),
      () =>
        everyPage(
          open.withoutBlock,
          (rows) =>
            runner.run(
              rows,
              restore(() => false),
            ),
          signal,
        ),
      () => everyPage(open.unresolved, resolveAll, signal),
      () => letGo(store, scope, limits),
    ];
    const failures: unknown[] = [];
    for (const part of parts) await part().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    return runner.done;
  };

  // A sweep that takes longer than the time between two is not started a second time.
  let running: Promise<Swept> | null = null;
  return (signal) => {
    running ??= once(signal).finally(() => {
      running = null;
    });
    return running;
  };
}

/** Whether what the chain says now resolves a row; most rows of unknown outcome can only wait. */
function canResolve(row: LedgerRow, { at, final, used }: UsedStates, index: number): boolean {
  if (used[index] !== false) return true;
  if (at.timestamp < row.validBefore) return row.wasSettled;
  return final !== null && final.timestamp >= row.validBefore;
}
