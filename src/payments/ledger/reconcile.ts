// Background reconciliation: resolve unknown settlements, follow finality, send again what a reorg undid, prune old rows.
import type { BlockId } from "../../schema/chain-log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { AuthorizationStates } from "../settlement/lookup.ts";
import {
  expectedTransferFor,
  lookUpPayment,
  lookUpSettlement,
  resumeSettlement,
  type SettlementContext,
} from "../settlement/settle.ts";
import { createFinalityFollower, type FinalityFollower } from "./finality.ts";
import type { LedgerRow, LedgerScope, PaymentKey } from "./row.ts";
import {
  createReconcileRunner,
  createUnfinishedPayments,
  expiryOfUnclear,
  pruneLedger,
  type ReconcileCounts,
  type ReconcileRunner,
  type ReconcileTask,
  type UnfinishedPayments,
} from "./unfinished-payments.ts";

type ReconcileOptions = SettlementContext & {
  readonly store: StatementRunner;
  /** Rows of other networks and assets are left alone: our chain knows nothing about them. */
  readonly scope: LedgerScope;
};

type ReconcileContext = ReconcileOptions & {
  readonly unfinished: UnfinishedPayments;
  readonly followFinality: FinalityFollower;
};

/** A call while a run is in progress shares that run. */
export function createReconciler(
  options: ReconcileOptions,
): (signal?: AbortSignal) => Promise<ReconcileCounts> {
  const unfinished = createUnfinishedPayments(options.store, options.scope, options.limits);
  const followFinality = createFinalityFollower({
    unfinished,
    lookup: options.lookup,
    limits: options.limits,
    repair: (isFinal) => (row, owner) => repairSettled(options, isFinal, row, owner),
  });
  const context = { ...options, unfinished, followFinality };
  let running: Promise<ReconcileCounts> | null = null;
  return (signal) => {
    running ??= runReconciliation(context, signal).finally(() => {
      running = null;
    });
    return running;
  };
}

async function runReconciliation(
  context: ReconcileContext,
  signal: AbortSignal | undefined,
): Promise<ReconcileCounts> {
  const { store, scope, limits, unfinished, followFinality } = context;
  const runner = createReconcileRunner(context, signal);
  const repair: ReconcileTask = (row, owner) => repairSettled(context, () => false, row, owner);
  const pages = { batchRows: limits.reconcileBatchRows, signal };
  // Payments that a reorg undid come first: their signatures expire. A part that fails does not stop the others.
  const parts = [
    () => followFinality(runner, signal),
    () => forEachPage(unfinished.listWithoutBlock, (rows) => runner.run(rows, repair), pages),
    () =>
      forEachPage(unfinished.claimUnresolved, (rows) => resolvePage(context, runner, rows, signal), pages),
    () => forEachPage(unfinished.claimUnclear, (rows) => forgetUnclear(context, rows, signal), pages),
    () => pruneLedger(store, scope, limits),
  ];
  const failures: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return runner.counts;
}

/** Visits every row once, however many there are: pages follow the key, which no transition changes. */
async function forEachPage(
  read: (after: PaymentKey | null, limit: number) => Promise<readonly LedgerRow[]>,
  act: (rows: readonly LedgerRow[]) => Promise<void>,
  { batchRows, signal }: { readonly batchRows: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  let after: PaymentKey | null = null;
  while (!signal?.aborted) {
    const rows: readonly LedgerRow[] = await read(after, batchRows);
    if (rows.length > 0) await act(rows);
    after = rows.at(-1) ?? null;
    if (rows.length < batchRows) return;
  }
}

/** One read of the chain for the whole page; only rows that it resolves are worked on. */
async function resolvePage(
  context: ReconcileContext,
  runner: ReconcileRunner,
  rows: readonly LedgerRow[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const states = await context.lookup.readAuthorizationStates(rows.map(expectedTransferFor), signal);
  const resolvable = rows.filter((row, i) => canResolve(row, states, i));
  await runner.run(resolvable, (row, owner) => resolveUnknown(context, row, owner));
}

/**
 * Deletes the rows that the chain shows unused in a final block past their expiry. One that was used stays as long as a
 * response does: its client may still come for it.
 */
async function forgetUnclear(
  { lookup, limits, unfinished }: ReconcileContext,
  rows: readonly LedgerRow[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const expiries = rows.map(expiryOfUnclear);
  const wanted = rows.map((row, i) => ({ ...expectedTransferFor(row), validBefore: expiries[i] ?? 0 }));
  const { used, at, final } = await lookup.readAuthorizationStates(wanted, signal);
  const usedSeconds = limits.responseRetentionMs / 1_000;
  for (const [i, row] of rows.entries()) {
    const expiry = expiries[i] ?? 0;
    const isOver = used[i]
      ? at.timestamp >= expiry + usedSeconds
      : final !== null && final.timestamp >= expiry;
    if (isOver) await unfinished.deleteUnclear(row);
  }
}

/** Whether what the chain says now resolves a row; most rows of unknown outcome can only wait. */
function canResolve(row: LedgerRow, { at, final, used }: AuthorizationStates, index: number): boolean {
  if (used[index] !== false) return true;
  if (at.timestamp < row.validBefore) return row.wasSettled;
  return final !== null && final.timestamp >= row.validBefore;
}

/**
 * A client that left without its response is charged nothing: its transfer is only looked for. A payment that was
 * settled before has its response, so its transfer is sent again.
 */
async function resolveUnknown(
  context: SettlementContext,
  found: LedgerRow,
  owner: string,
): Promise<keyof ReconcileCounts | null> {
  const { ledger } = context;
  const row = await ledger.acquire(found, owner, found.state, found.state);
  if (row === null) return null;
  const owned = { ...context, row, owner };
  const result = row.wasSettled ? await resumeSettlement(owned) : await lookUpPayment(owned);
  if (result === null) await ledger.recordUnknownOutcome(row, owner, null);
  if (result?.kind !== "settled") return null;
  return row.wasSettled ? "resent" : "found";
}

/** For a settled row whose transfer is not, or not provably, in the block in which it was last read. */
async function repairSettled(
  context: SettlementContext,
  isFinal: (block: BlockId) => boolean,
  key: PaymentKey,
  owner: string,
): Promise<keyof ReconcileCounts | null> {
  const { ledger, log } = context;
  const row = await ledger.acquire(key, owner, "settled", "settled");
  if (row === null) return null;
  const result = await lookUpSettlement(context, row);
  if (result.kind === "transferred") {
    const final = isFinal(result.block);
    await ledger.recordBlock(row, owner, { ...result, final });
    return final ? "final" : null;
  }
  if (result.kind === "used-without-log") {
    throw new Error("the transfer of a settled payment is not in the logs");
  }
  const { payer, nonce, transaction } = row;
  log.warn(
    { component: "payments", event: "settled_payment_not_on_chain", payer, nonce, transaction },
    "Settled payment is not on chain, sending it again",
  );
  if (!(await ledger.startSettling(row, owner))) return null;
  const { kind } = await resumeSettlement({ ...context, row: { ...row, state: "settling" }, owner });
  return kind === "settled" ? "resent" : null;
}
