// From a kept answer to a paid one: the transfer is sent, and what became of it is believed to the chain alone.
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { withDeadline } from "./deadline.ts";
import { evidenceOf } from "./evidence.ts";
import {
  type Facilitator,
  NONCE_USED,
  refusalSentence,
  type SettleOutcome,
  settlePayment,
} from "./facilitator/facilitator.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerRow } from "./ledger-row.ts";
import type { GateLimits } from "./limits.ts";
import type { SettlementChain } from "./settlement-chain.ts";

export type SettleResult =
  | { readonly kind: "settled"; readonly transaction: string }
  | { readonly kind: "refused"; readonly sentence: string }
  | { readonly kind: "unknown" };

export type Settlement = {
  /** Sends the transfer of a row whose owner we are. */
  send(row: LedgerRow, owner: string): Promise<SettleResult>;
  /** Looks first whether it has happened, then sends it if it can still be. */
  resume(row: LedgerRow, owner: string): Promise<SettleResult>;
  /** Only looks; null while it may still happen. */
  look(row: LedgerRow, owner: string): Promise<SettleResult | null>;
};

export type SettlementOptions = {
  readonly ledger: Ledger;
  readonly facilitator: Facilitator;
  readonly chain: SettlementChain;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

export const EXPIRED =
  "The payment expired without being carried out, and nothing was charged; sign a new one.";

export function createSettlement(options: SettlementOptions): Settlement {
  const { ledger, facilitator, chain, clock, log, limits } = options;
  const unknown = { kind: "unknown" } as const;

  async function settled(row: LedgerRow, owner: string, transaction: string, block: number | null) {
    if (await ledger.settle(row, owner, transaction, block)) return { kind: "settled", transaction } as const;
    // Somebody else has taken over meanwhile and will find the same.
    const now = await ledger.find(row);
    if (now?.state === "settled")
      return { kind: "settled", transaction: now.transaction ?? transaction } as const;
    return unknown;
  }

  async function ended(row: LedgerRow, owner: string, state: "refused" | "expired", reason: string) {
    if (row.wasSettled) {
      const { network, asset, payer, nonce, amount, transaction } = row;
      const lost = { network, asset, payer, nonce, amount: amount.toString(), transaction };
      log.error(lost, "A payment that was settled is gone from the chain and can not be repeated");
    }
    await ledger.end(row, owner, row.wasSettled ? "lost" : state, reason);
    const sentence = state === "expired" ? EXPIRED : refusalSentence(reason);
    return { kind: "refused", sentence } as const;
  }

  const clockOf = () =>
    withDeadline({ clock, ms: limits.chainMs, what: "Reading the chain's clock" }, async (signal) => {
      const [head, final] = await Promise.all([chain.head(signal), chain.finalized(signal)]);
      return { head: head.timestamp, final: final.timestamp };
    });

  async function look(row: LedgerRow, owner: string): Promise<SettleResult | null> {
    try {
      const evidence = await evidenceOf(row, { chain, clock, ms: limits.chainMs });
      if (evidence.kind === "transferred") {
        return await settled(row, owner, evidence.transaction, evidence.blockNumber);
      }
      if (evidence.kind === "spent") return await ended(row, owner, "refused", NONCE_USED);
      const { head, final } = await clockOf();
      if (head < row.validBefore) return null;
      // A reorg could still bring it back into a block that is old enough, until such blocks are final.
      if (final >= row.validBefore) return await ended(row, owner, "expired", "expired");
      await ledger.leaveUnknown(row, owner, null);
      return { kind: "refused", sentence: EXPIRED };
    } catch (err) {
      log.warn({ err, payer: row.payer, nonce: row.nonce }, "A payment could not be looked up");
      await ledger.leaveUnknown(row, owner, null);
      return unknown;
    }
  }

  async function attempt(row: LedgerRow, owner: string, earlier: "none" | "unknown"): Promise<SettleResult> {
    const outcome = await withDeadline({ clock, ms: limits.settleMs, what: "A settlement" }, () =>
      settlePayment(facilitator, row.payload, row.terms),
    ).catch((cause): SettleOutcome => ({ kind: "unknown", transaction: null, cause }));
    if (outcome.kind === "settled") return settled(row, owner, outcome.transaction, null);
    if (outcome.kind === "unknown") {
      const { cause: err, transaction } = outcome;
      log.warn(
        { err, payer: row.payer, nonce: row.nonce, transaction },
        "The outcome of a settlement is unknown",
      );
      await ledger.leaveUnknown(row, owner, transaction);
      return unknown;
    }
    // The money may have moved all the same: anyone may carry out what was signed.
    const seen = await look(row, owner);
    if (seen !== null) return seen;
    if (outcome.reason !== NONCE_USED && earlier === "none") {
      return ended(row, owner, "refused", outcome.reason);
    }
    // Used, says one node, and not used, says another: one of them is behind. Or an earlier attempt may still wait to be
    // mined, and whoever is refused now would sign again and pay for both.
    await ledger.leaveUnknown(row, owner, null);
    return unknown;
  }

  return {
    send: (row, owner) => attempt(row, owner, "none"),
    look,
    async resume(row, owner) {
      const seen = await look(row, owner);
      if (seen !== null) return seen;
      // Refused is only what was known not to be under way.
      const earlier = row.state === "refused" ? "none" : "unknown";
      return (await ledger.beginSettling(row, owner)) ? attempt(row, owner, earlier) : unknown;
    },
  };
}
