// What the chain knows of a payment in the ledger.
import type { Clock } from "../kit/clock.ts";
import { withDeadline } from "./deadline.ts";
import type { LedgerRow } from "./ledger-row.ts";
import type { Evidence, SettlementChain } from "./settlement-chain.ts";

// A chain's clock may be behind ours by minutes; no transfer is older than its row by more.
const CLOCK_SECONDS_MAX = 900;

export function evidenceOf(
  row: LedgerRow,
  { chain, clock, ms }: { readonly chain: SettlementChain; readonly clock: Clock; readonly ms: number },
): Promise<Evidence> {
  const { asset, payer: from, payTo: to, amount: value, nonce, createdSeconds } = row;
  const sinceSeconds = createdSeconds - CLOCK_SECONDS_MAX;
  return withDeadline({ clock, ms, what: "Looking for a transfer" }, (signal) =>
    chain.findSettlement({ asset, from, to, value, nonce, sinceSeconds }, signal),
  );
}
