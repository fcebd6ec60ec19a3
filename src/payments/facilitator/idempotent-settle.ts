// Settles a payload once: repeated, it gets the transaction that carried it out, found in the records and on the chain.
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { Caip2Network } from "../../lib/caip2.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { parsePayment } from "../paywall/payment.ts";
import { TRANSACTION_FAILED } from "../rejection-reasons.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import type { SendHooks } from "./operation-tracker.ts";
import type { PayerGuard } from "./payer-guard.ts";
import type { SettlementOutcomes } from "./settlement-outcomes.ts";
import {
  authorizationKeyText,
  type SettlementKey,
  type SettlementRecord,
  type SettlementRecords,
} from "./settlement-records.ts";
import type { TransactionLookup } from "./transaction-lookup.ts";

export type IdempotentSettle = {
  settle(payload: PaymentPayload, terms: PaymentRequirements): Promise<SettleResponse>;
  /**
   * The success of a payload that was settled earlier and still is; null where it was not. Sends nothing. Throws
   * FacilitatorTrouble while a transaction that was sent for it may still be mined.
   */
  findSettled(payload: PaymentPayload, terms: PaymentRequirements): Promise<SettleResponse | null>;
};

export type IdempotentSettleOptions = {
  readonly records: SettlementRecords;
  readonly lookup: TransactionLookup;
  readonly outcomes: SettlementOutcomes;
  readonly guard: PayerGuard;
  readonly isContract: (payer: Hex) => Promise<boolean>;
  /** Verifies, sends and waits for a block. */
  readonly broadcast: (
    payload: PaymentPayload,
    terms: PaymentRequirements,
    hooks: SendHooks,
  ) => Promise<SettleResponse>;
};

// The library's word for a transaction that was sent and not seen in a block.
const PENDING = "settlement_pending";

export function createIdempotentSettle(options: IdempotentSettleOptions): IdempotentSettle {
  const { records, lookup, outcomes, guard, isContract, broadcast: carryOut } = options;
  const underWay = new Map<string, { readonly digest: string; readonly response: Promise<SettleResponse> }>();
  const recordOf = async (key: SettlementKey) =>
    (await records.find(key)).find(({ digest }) => digest === key.digest) ?? null;

  /** One authorization is good for one transfer: two transactions for it would be one revert, at our cost. */
  async function refuseRivals(rivals: readonly SettlementRecord[]): Promise<void> {
    for (const record of rivals) {
      const [newest] = record.transactions;
      if (newest && (await lookup.readStatus(newest, record)).kind === "waiting") throw rival();
    }
  }

  /** What the records and the chain say of a payload sent earlier; null where it must be sent. */
  async function earlier(key: SettlementKey): Promise<SettleResponse | null> {
    const sent = await records.find(key);
    await refuseRivals(sent.filter(({ digest }) => digest !== key.digest));
    const record = sent.find(({ digest }) => digest === key.digest);
    if (!record) return null;
    const success = await outcomes.findSuccess(record);
    if (success) return succeeded(key, success);
    const [newest] = record.transactions;
    const state = newest && (await lookup.readStatus(newest, record));
    // Mined after the wait for it had ended: its payer must not be served as if it had not happened.
    if (newest && state?.kind === "reverted") await outcomes.recordRevert(record, newest);
    if (!newest || state?.kind !== "waiting") return null;
    const { kind } = await lookup.waitUntilMined(newest, record);
    if (kind === "succeeded") return concluded(record, succeeded(key, newest));
    return concluded(record, failed(key, kind === "reverted" ? TRANSACTION_FAILED : PENDING, newest));
  }

  async function concluded(
    payment: SettlementKey & { readonly isContract: boolean },
    response: SettleResponse,
  ): Promise<SettleResponse> {
    if (response.success) {
      await records.markResolved(payment);
      return response;
    }
    const { transaction, errorReason } = response;
    const isReverted = transaction !== "" && errorReason === TRANSACTION_FAILED;
    if (isReverted) await outcomes.recordRevert(payment, transaction as Hex);
    // Sent, and not seen in a block.
    else if (transaction !== "") return response;
    const record = await recordOf(payment);
    if (!record) return response;
    const success = await outcomes.findSuccess(record);
    if (success) return succeeded(payment, success);
    const states = await Promise.all(record.transactions.map((each) => lookup.readStatus(each, record)));
    // What is rejected now may have been carried out by what was sent before, unseen by a node that lags.
    if (states.every(({ kind }) => kind === "reverted")) return response;
    throw stillOpen();
  }

  async function settleNow(
    { amount, ...key }: KeyAndAmount,
    payload: PaymentPayload,
    terms: PaymentRequirements,
  ): Promise<SettleResponse> {
    const known = await earlier(key);
    if (known) return known;
    const payment = { ...key, isContract: await isContract(key.payer) };
    const sent = await guard.run({ key, amount, isContract: payment.isContract }, async () => {
      const response = await carryOut(payload, terms, {
        beforeSend: (transaction, gas) => records.addTransaction(payment, { transaction, gas }),
        onRejected: (transaction) => records.removeTransaction(key, transaction),
      });
      return concluded(payment, response);
    });
    return "refused" in sent ? concluded(payment, failed(key, sent.refused, "")) : sent;
  }

  return {
    async settle(payload, terms) {
      const key = keyOf(payload, terms);
      const id = authorizationKeyText(key);
      const running = underWay.get(id);
      if (running) {
        if (running.digest === key.digest) return running.response;
        throw rival();
      }
      const response = settleNow(key, payload, terms).finally(() => underWay.delete(id));
      underWay.set(id, { digest: key.digest, response });
      return response;
    },
    async findSettled(payload, terms) {
      const key = keyOf(payload, terms);
      // Not recorded before it is sent, and sent at any moment.
      if (underWay.get(authorizationKeyText(key))?.digest === key.digest) throw stillOpen();
      const record = await recordOf(key);
      if (!record) return null;
      const success = await outcomes.findSuccess(record);
      if (success) return succeeded(key, success);
      if (await outcomes.mayBeMined(record)) throw stillOpen();
      return null;
    },
  };
}

type KeyAndAmount = SettlementKey & { readonly amount: bigint };

function keyOf(payload: PaymentPayload, { network, asset }: PaymentRequirements): KeyAndAmount {
  const terms = { network: network as Caip2Network, asset: asset.toLowerCase() as Hex };
  const payment = parsePayment(payload, terms, "The payment");
  if ("unsupported" in payment) throw new Fault("INPUT_INVALID", payment.unsupported);
  const { from: payer, nonce, digest, value: amount } = payment;
  return { ...terms, payer, nonce, digest, amount };
}

function stillOpen(): FacilitatorUnavailableError {
  return new FacilitatorUnavailableError("a transaction that carries this payment out may still be mined");
}

function rival(): FacilitatorUnavailableError {
  return new FacilitatorUnavailableError("another payment with the same nonce is under way");
}

function succeeded({ network, payer }: SettlementKey, transaction: Hex): SettleResponse {
  return { success: true, transaction, network: network as SettleResponse["network"], payer };
}

function failed({ network, payer }: SettlementKey, errorReason: string, transaction: string): SettleResponse {
  return { success: false, errorReason, transaction, network: network as SettleResponse["network"], payer };
}
