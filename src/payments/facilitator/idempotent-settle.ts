// Settles a payload once, in any process: a repeated request gets the transaction in the records and on the chain.
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseHash } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { paymentKeyText } from "../ledger/row.ts";
import { isEvmNetwork } from "../paywall/offer.ts";
import { parsePayment } from "../paywall/payment.ts";
import { TRANSACTION_FAILED } from "../rejection-reasons.ts";
import { FacilitatorUnavailableError, type PaymentFacilitator } from "./facilitator.ts";
import type { SettlementTurns } from "./key-claim.ts";
import { findSignatureRejection } from "./payer-checks.ts";
import type { PayerGuard } from "./payer-guard.ts";
import type {
  SettlementKey,
  SettlementOutcomes,
  SettlementRecord,
  SettlementRecords,
} from "./settlement-records.ts";
import type { TransactionLookup } from "./transaction-lookup.ts";
import type { SendHooks, TransferScheme } from "./transfer-scheme.ts";

type IdempotentSettleOptions = {
  readonly records: SettlementRecords;
  readonly lookup: TransactionLookup;
  readonly outcomes: SettlementOutcomes;
  readonly guard: PayerGuard;
  /** Over all processes, by authorization. */
  readonly turns: SettlementTurns;
  /** Null for an account without code. */
  readonly readCodeHash: (payer: Hex) => Promise<Hex | null>;
  /** Verifies a transfer with a node; sends nothing. */
  readonly verify: PaymentFacilitator["verify"];
  readonly broadcast: TransferScheme["broadcast"];
};

// The library's code for a transaction that was sent and is not in a block yet.
export const SETTLEMENT_PENDING = "settlement_pending";

/** Uses up one authorization: a transfer, or a deposit into a channel. */
export type Settlement = {
  readonly key: KeyAndAmount;
  /**
   * Why it is rejected before it counts against its payer's money or takes its turn; null when it is not. Anyone may
   * request a settlement, and must not hold up a payer who has signed nothing. Only a node knows what an account with
   * code accepts.
   */
  readonly findUnsigned: (isContract: boolean) => Promise<string | null>;
  /** Sends it and waits for a block. */
  readonly broadcast: (hooks: SendHooks, isContract: boolean) => Promise<SettleResponse>;
};

type InFlight = { readonly digest: string; readonly response: Promise<SettleResponse> };

export class IdempotentSettle {
  readonly #options: IdempotentSettleOptions;
  /** Keyed by authorization, in this process: copies of a request share one settlement. */
  readonly #inFlight = new Map<string, InFlight>();

  constructor(options: IdempotentSettleOptions) {
    this.#options = options;
  }

  settle(payload: PaymentPayload, terms: PaymentRequirements): Promise<SettleResponse> {
    const { verify, broadcast } = this.#options;
    return this.settleOnce({
      key: parseKey(payload, terms),
      async findUnsigned(isContract) {
        if (!isContract) return findSignatureRejection(payload, terms);
        const { isValid, invalidReason } = await verify(payload, terms);
        return isValid ? null : (invalidReason ?? "unknown");
      },
      broadcast: (hooks, isContract) => broadcast(payload, terms, hooks, isContract),
    });
  }

  async settleOnce(settlement: Settlement): Promise<SettleResponse> {
    const { key } = settlement;
    const id = paymentKeyText(key);
    const inFlight = this.#inFlight.get(id);
    if (inFlight) {
      if (inFlight.digest === key.digest) return inFlight.response;
      throw competingPayloadError();
    }
    const response = this.#options.turns
      .run([id], (turn) => this.#settleNow(settlement, turn))
      .finally(() => this.#inFlight.delete(id));
    this.#inFlight.set(id, { digest: key.digest, response });
    return response;
  }

  /**
   * The success of a payload that was settled earlier and still is; null if it was not. Sends nothing. Throws
   * FacilitatorUnavailableError while a transaction that was sent for it may still be mined.
   */
  async findSettled(payload: PaymentPayload, terms: PaymentRequirements): Promise<SettleResponse | null> {
    const { outcomes, turns } = this.#options;
    const key = parseKey(payload, terms);
    const id = paymentKeyText(key);
    // A payload in flight may be sent at any moment and is recorded only then.
    if (this.#inFlight.get(id)?.digest === key.digest) throw stillPendingError();
    return turns.run([id], async () => {
      const record = await this.#findRecord(key);
      if (!record) return null;
      const success = await outcomes.findSuccess(record);
      if (success) return succeeded(key, success);
      if (await outcomes.mayBeMined(record)) throw stillPendingError();
      return null;
    });
  }

  async #settleNow(
    { key: { amount, ...key }, findUnsigned, broadcast }: Settlement,
    turn: StatementRunner,
  ): Promise<SettleResponse> {
    const { records, guard, readCodeHash } = this.#options;
    const earlier = await this.#findEarlierSettlement(key);
    if (earlier) return earlier;
    const codeHash = await readCodeHash(key.payer);
    const payment = { ...key, isContract: codeHash !== null };
    const unsigned = await findUnsigned(payment.isContract);
    if (unsigned !== null) return this.#concludeResponse(payment, failed(key, unsigned, ""));
    let isSent = false;
    const hooks: SendHooks = {
      async beforeSend(transaction, gas) {
        await records.addTransaction(payment, { transaction, gas }, turn);
        isSent = true;
      },
      async onRejected(transaction) {
        await records.removeTransaction(key, transaction);
        isSent = false;
      },
    };
    try {
      const result = await guard.run({ key, amount, codeHash }, async () =>
        this.#concludeResponse(payment, await broadcast(hooks, payment.isContract)),
      );
      if (!("rejected" in result)) return result;
      return await this.#concludeResponse(payment, failed(key, result.rejected, ""));
    } finally {
      // A settlement that stays here counts against the payer for a minute.
      if (!isSent) await records.removeReservation(key).catch(() => undefined);
    }
  }

  /** The knowledge of records and chain about a payload that was sent earlier; null if it must be sent. */
  async #findEarlierSettlement(key: SettlementKey): Promise<SettleResponse | null> {
    const { records, lookup, outcomes } = this.#options;
    const sent = await records.find(key);
    await this.#assertNoCompetingPayload(sent.filter(({ digest }) => digest !== key.digest));
    const record = sent.find(({ digest }) => digest === key.digest);
    if (!record) return null;
    const success = await outcomes.findSuccess(record);
    if (success) return succeeded(key, success);
    const [newest] = record.transactions;
    const status = newest && (await lookup.readStatus(newest, record));
    // It was mined after we stopped waiting: the revert must still count against its payer.
    if (newest && status?.kind === "reverted") await outcomes.recordRevert(record, newest);
    if (!newest || status?.kind !== "pending") return null;
    const { kind } = await lookup.waitUntilMined(newest, record);
    if (kind === "succeeded") return this.#concludeResponse(record, succeeded(key, newest));
    const reason = kind === "reverted" ? TRANSACTION_FAILED : SETTLEMENT_PENDING;
    return this.#concludeResponse(record, failed(key, reason, newest));
  }

  /** One authorization is good for one transfer: of two transactions for it, one reverts at our cost. */
  async #assertNoCompetingPayload(others: readonly SettlementRecord[]): Promise<void> {
    const { lookup } = this.#options;
    for (const record of others) {
      const [newest] = record.transactions;
      if (newest && (await lookup.readStatus(newest, record)).kind === "pending") {
        throw competingPayloadError();
      }
    }
  }

  /** Records the response of a settlement, and corrects it if an earlier transaction decides. */
  async #concludeResponse(
    payment: SettlementKey & { readonly isContract: boolean },
    response: SettleResponse,
  ): Promise<SettleResponse> {
    const { records, lookup, outcomes } = this.#options;
    if (response.success) {
      await records.markSettled(payment);
      return response;
    }
    if (response.transaction !== "") {
      // Sent, and not in a block yet.
      if (response.errorReason !== TRANSACTION_FAILED) return response;
      await outcomes.recordRevert(payment, parseHash(response.transaction, "The reverted transaction"));
    }
    const record = await this.#findRecord(payment);
    if (!record) return response;
    const success = await outcomes.findSuccess(record);
    if (success) return succeeded(payment, success);
    const statuses = await Promise.all(record.transactions.map((each) => lookup.readStatus(each, record)));
    // An earlier transaction, which a lagging node does not show, may have carried out what is rejected now.
    if (statuses.every(({ kind }) => kind === "reverted")) return response;
    throw stillPendingError();
  }

  async #findRecord(key: SettlementKey): Promise<SettlementRecord | null> {
    const sent = await this.#options.records.find(key);
    return sent.find(({ digest }) => digest === key.digest) ?? null;
  }
}

type KeyAndAmount = SettlementKey & { readonly amount: bigint };

/** The authorization that a payload signs, and the digest that identifies the payload. */
export function parseKey(payload: PaymentPayload, { network, asset }: PaymentRequirements): KeyAndAmount {
  if (!isEvmNetwork(network)) throw new Fault("INPUT_INVALID", "The network must be eip155:<chain id>.");
  const terms = { network, asset: parseAddress(asset, "The asset") };
  const payment = parsePayment(payload, terms, "The payment");
  if ("unsupported" in payment) throw new Fault("INPUT_INVALID", payment.unsupported);
  const { from: payer, nonce, digest, value: amount } = payment;
  return { ...terms, payer, nonce, digest, amount };
}

function stillPendingError(): FacilitatorUnavailableError {
  return new FacilitatorUnavailableError("a transaction that carries this payment out may still be mined");
}

function competingPayloadError(): FacilitatorUnavailableError {
  return new FacilitatorUnavailableError("another payment with the same nonce is in flight");
}

export function succeeded({ network, payer }: SettlementKey, transaction: Hex): SettleResponse {
  return { success: true, transaction, network: network as SettleResponse["network"], payer };
}

export function failed(
  { network, payer }: SettlementKey,
  errorReason: string,
  transaction: string,
): SettleResponse {
  return { success: false, errorReason, transaction, network: network as SettleResponse["network"], payer };
}
