// The facilitator's side of payment channels: deposits of payers, and claims, payouts and refunds that a receiver has signed.
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { encodeChannelCall, encodePayout } from "../channels/channel-calls.ts";
import { type ChannelConfig, ChannelDigests } from "../channels/channel-config.ts";
import { type ChannelPayment, parseChannelPayment } from "../channels/channel-payment.ts";
import type { DepositRequest } from "../channels/channel-sender.ts";
import { channelCode } from "../channels/channel-terms.ts";
import { parseEnvelope } from "../paywall/payment-envelope.ts";
import { NOT_SERVED, TRANSACTION_FAILED } from "../rejection-reasons.ts";
import { parsePayout, parseSignedClaims, parseSignedRefund } from "./channel-payloads.ts";
import type { ChannelTransactions } from "./channel-transactions.ts";
import { SETTLEMENT_PENDING } from "./idempotent-settle.ts";
import type { FacilitatorRequest } from "./schemas.ts";

/** Bounds what is done at our cost. */
type ChannelRules = {
  readonly network: `eip155:${number}`;
  readonly asset: Hex;
  readonly assetName: string;
  readonly assetVersion: string;
  readonly amountMin: bigint;
  /** Null serves every payee. */
  readonly payees: readonly Hex[] | null;
  /** The accounts that sign for the payees: what they sign is sent. */
  readonly authorizers: readonly Hex[];
};

type Verdict = { readonly rejected: string; readonly reason: string } | { readonly payer: Hex };

export type ChannelOperations = {
  verify(body: FacilitatorRequest): Promise<Verdict>;
  settle(body: FacilitatorRequest): Promise<Settled>;
};

type Settled = JsonObject & { readonly success: boolean };

const WHAT = "paymentPayload";
// Seven million gas an account and hour at most, two cents on a chain where a transfer costs a third of a cent. Payees limit
// their payers by what those buy, which a facilitator does not see.
const DEPOSITS_PER_HOUR_MAX = 60;

class NotServed {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export function createChannelOperations(
  channels: ChannelTransactions | undefined,
  rules: ChannelRules,
): ChannelOperations {
  const digests = new ChannelDigests(rules.network);
  const readServed = ({ paymentPayload }: FacilitatorRequest) => {
    if (channels === undefined || rules.authorizers.length === 0) {
      return new NotServed("This facilitator serves no payment channels.");
    }
    const envelope = parseEnvelope(paymentPayload, rules, WHAT);
    if ("unsupported" in envelope) return new NotServed(envelope.unsupported);
    return { payload: envelope.payload, operations: { channels, rules, digests } };
  };
  return {
    async verify(body) {
      const served = readServed(body);
      if (served instanceof NotServed) return { rejected: served.message, reason: NOT_SERVED };
      const request = readDeposit(served.operations, served.payload);
      if (request instanceof NotServed) return { rejected: request.message, reason: NOT_SERVED };
      const reason = await served.operations.channels.checkDeposit(request);
      return reason === null
        ? { payer: request.config.payer }
        : { rejected: "The deposit is rejected.", reason };
    },
    async settle(body) {
      const served = readServed(body);
      const result =
        served instanceof NotServed ? served : await settlePayload(served.operations, served.payload);
      if (!(result instanceof NotServed)) return { network: rules.network, ...result };
      const errorMessage = result.message;
      return {
        success: false,
        errorReason: NOT_SERVED,
        errorMessage,
        transaction: "",
        network: rules.network,
      };
    },
  };
}

type Operations = {
  readonly channels: ChannelTransactions;
  readonly rules: ChannelRules;
  readonly digests: ChannelDigests;
};

function settlePayload(operations: Operations, payload: JsonObject): Promise<Settled | NotServed> {
  const { type } = payload;
  if (type === "claim") return settleClaims(operations, payload);
  if (type === "settle") return settlePayout(operations, payload);
  if (type === "refund") return settleRefund(operations, payload);
  return settleDeposit(operations, payload);
}

/** Why a channel is not of those that this facilitator serves; null if it is. */
function findViolation(rules: ChannelRules, config: ChannelConfig): NotServed | null {
  const { asset, payees, authorizers } = rules;
  if (config.token !== asset) return new NotServed("The channel is of another token.");
  if (payees !== null && !payees.includes(config.receiver)) {
    return new NotServed("The channel is of another payee; FACILITATOR_PAYEES lists those that are served.");
  }
  if (authorizers.includes(config.receiverAuthorizer)) return null;
  return new NotServed(
    "The channel is of another receiverAuthorizer; FACILITATOR_CHANNEL_AUTHORIZERS lists those that are served.",
  );
}

function readDeposit({ rules, digests }: Operations, payload: JsonObject): DepositRequest | NotServed {
  const payment: ChannelPayment | { readonly unsupported: string } = parseChannelPayment(payload, WHAT);
  if ("unsupported" in payment) return new NotServed(payment.unsupported);
  const { config, channelId, deposit } = payment;
  if (deposit === null) return new NotServed("A payee checks vouchers itself: only deposits are served.");
  const violation = findViolation(rules, config);
  if (violation !== null) return violation;
  if (digests.channelId(config) !== channelId) return new NotServed("The channel's id is of another one.");
  if (deposit.amount < rules.amountMin) {
    return new NotServed(`Deposits below ${rules.amountMin} units are not made.`);
  }
  return { channelId, config, deposit, tokenName: rules.assetName, tokenVersion: rules.assetVersion };
}

async function settleDeposit(operations: Operations, payload: JsonObject): Promise<Settled | NotServed> {
  const request = readDeposit(operations, payload);
  if (request instanceof NotServed) return request;
  const { payer } = request.config;
  const outcome = await operations.channels.depositWithin(request, DEPOSITS_PER_HOUR_MAX);
  if (outcome.kind === "deposited") {
    const { transaction } = outcome;
    return { success: true, transaction, payer, amount: request.deposit.amount.toString() };
  }
  if (outcome.kind === "rejected") {
    return { success: false, errorReason: outcome.reason, transaction: "", payer };
  }
  throw outcome.cause;
}

async function settleClaims(
  { channels, rules, digests }: Operations,
  payload: JsonObject,
): Promise<Settled | NotServed> {
  const signed = parseSignedClaims(payload, WHAT);
  const [first] = signed?.claims ?? [];
  if (signed === null || first === undefined) return new NotServed("There are no claims.");
  for (const { config } of signed.claims) {
    const violation = findViolation(rules, config);
    if (violation !== null) return violation;
  }
  const totals = new Map<Hex, bigint>();
  for (const { config, totalClaimed } of signed.claims) {
    const id = digests.channelId(config);
    const known = totals.get(id) ?? 0n;
    totals.set(id, known > totalClaimed ? known : totalClaimed);
  }
  // The contract checks no voucher of a row that is claimed already: anyone who has seen a claim could send it with others.
  const identity = digests.claimBatch(signed.claims);
  const value = () => channels.readClaimable(totals);
  const data = encodeChannelCall({ claims: signed, refund: null });
  const payer = first.config.receiverAuthorizer;
  const outcome = await channels.sendOnce({
    ...{ data, identity, value, signer: payer, token: rules.asset },
  });
  return describeOutcome(outcome, payer, "claim");
}

/** Claims are paid out in their own transaction, so that mostly nothing is left. */
async function settlePayout(
  { channels, rules }: Operations,
  payload: JsonObject,
): Promise<Settled | NotServed> {
  const { receiver, token } = parsePayout(payload, WHAT);
  const { payees } = rules;
  if (token !== rules.asset || (payees !== null && !payees.includes(receiver))) {
    return new NotServed("The payout is of another payee or token.");
  }
  const value = await channels.readPayable(receiver, token);
  if (value === 0n) {
    return {
      success: false,
      errorReason: channelCode("nothing_to_settle"),
      transaction: "",
      payer: receiver,
    };
  }
  const data = encodePayout(receiver, token);
  const outcome = await channels.sendOnce({
    ...{ data, value: async () => value, signer: receiver, token, isRepeatable: true },
  });
  return describeOutcome(outcome, receiver, "settle");
}

async function settleRefund(
  { channels, rules, digests }: Operations,
  payload: JsonObject,
): Promise<Settled | NotServed> {
  const refund = parseSignedRefund(payload, WHAT);
  const claims = parseSignedClaims(payload, WHAT);
  for (const config of [refund.config, ...(claims?.claims ?? []).map((claim) => claim.config)]) {
    const violation = findViolation(rules, config);
    if (violation !== null) return violation;
  }
  const channelId = digests.channelId(refund.config);
  const data = encodeChannelCall({ claims, refund: { ...refund, channelId } });
  const { payer, receiverAuthorizer: signer } = refund.config;
  const outcome = await channels.sendOnce({
    ...{ data, value: async () => refund.amount, signer, token: rules.asset },
  });
  return describeOutcome(outcome, payer, "refund");
}

function describeOutcome(
  outcome: Awaited<ReturnType<ChannelTransactions["sendOnce"]>>,
  payer: Hex,
  what: "claim" | "settle" | "refund",
): Settled {
  if (!("transaction" in outcome)) {
    const code = outcome.kind === "worthless" ? `nothing_to_${what}` : `${what}_simulation_failed`;
    return { success: false, errorReason: channelCode(code), transaction: "", payer };
  }
  const { kind, transaction } = outcome;
  if (kind === "mined") return { success: true, transaction, payer };
  const errorReason = kind === "reverted" ? TRANSACTION_FAILED : SETTLEMENT_PENDING;
  return { success: false, errorReason, transaction, payer };
}
