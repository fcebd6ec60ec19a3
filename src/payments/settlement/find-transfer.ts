// Looks up the transfers of ledger rows, within a deadline.
import { type Clock, withDeadline } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { LedgerRow } from "../ledger/row.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { ExpectedTransfer, SettlementLookup, SettlementLookupResult, TransferFound } from "./lookup.ts";

// The clock of a chain may be minutes behind ours; no transfer is older than its row by more.
const CLOCK_SECONDS_MAX = 900;
// As long as a payment on our terms can be valid: someone else may carry it out at any time of that.
const TRACED_BACK_SECONDS = 86_400;
// A fraction of the block time of most chains: little delay for the client, few requests for the node.
const RECEIPT_POLL_MS = 250;

type LookupOptions = {
  readonly lookup: SettlementLookup;
  readonly clock: Clock;
  readonly limits: Pick<GateLimits, "chainMs" | "receiptMs">;
};

type TransferFacts = Pick<
  LedgerRow,
  "asset" | "payer" | "payTo" | "amount" | "nonce" | "validBefore" | "createdSeconds"
>;

export function expectedTransferFor(row: TransferFacts): ExpectedTransfer {
  const { asset, payer: from, payTo: to, amount: value, nonce, validBefore, createdSeconds } = row;
  return { asset, from, to, value, nonce, validBefore, sinceSeconds: createdSeconds - CLOCK_SECONDS_MAX };
}

export function lookUpSettlement(
  row: TransferFacts,
  { lookup, clock, limits }: LookupOptions,
): Promise<SettlementLookupResult> {
  return withDeadline({ clock, ms: limits.chainMs, what: "Looking for a transfer" }, (signal) =>
    lookup.findSettlement(expectedTransferFor(row), signal),
  );
}

/** For a payment that is not ours to charge: with few calls, and as far back as it can have been carried out. */
export function traceSettlement(
  row: TransferFacts & { readonly validAfter: bigint },
  { lookup, clock, limits }: LookupOptions,
): Promise<SettlementLookupResult> {
  // The clock of the chain decides both: the token rejects an authorization that is carried out too early.
  const sinceSeconds = Math.max(Number(row.validAfter), row.createdSeconds - TRACED_BACK_SECONDS);
  return withDeadline({ clock, ms: limits.chainMs, what: "Tracing a transfer" }, (signal) =>
    lookup.findSettlement({ ...expectedTransferFor(row), sinceSeconds }, signal, "brief"),
  );
}

/** Waits for our own node to have the receipt: it may be a block behind the node of the facilitator. */
export async function waitForTransfer(
  row: LedgerRow,
  transaction: Hex,
  { lookup, clock, limits }: LookupOptions,
): Promise<TransferFound | null> {
  const until = clock.nowMs() + limits.receiptMs;
  for (;;) {
    const found = await withDeadline(
      { clock, ms: limits.chainMs, what: "Reading the receipt of a transfer" },
      (signal) => lookup.findInTransaction(transaction, expectedTransferFor(row), signal),
    );
    if (found?.kind === "transferred") return found;
    if (found?.kind === "other" || clock.nowMs() >= until) return null;
    await clock.sleep(RECEIPT_POLL_MS);
  }
}
