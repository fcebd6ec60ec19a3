// Terms of paying by channel in a 402, and the codes by which clients of x402 know what is wrong with a voucher.
import type { PaymentRequirements } from "@x402/core/types";
import type { Caip2Network } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ChannelPayment } from "./channel-payment.ts";

export const CHANNEL_SCHEME = "batch-settlement";

export type ChannelTerms = {
  /** The account that signs claims and refunds for the receiver. */
  readonly receiverAuthorizer: Hex;
  /** Accounts that signed before it: their channels are served until they are empty, and get no deposits. */
  readonly formerAuthorizers?: readonly Hex[];
  /** Seconds between the start of a payer's withdrawal and its end. */
  readonly withdrawDelay: number;
  readonly minDeposit: bigint;
  /** Calls of a payer within an hour that cost nothing; absent without any. */
  readonly freeCallsPerHour?: number;
};

/** The part of an offer that a channel must match. */
type ChannelOffer = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Hex;
  readonly amount: bigint;
  readonly maxTimeoutSeconds: number;
};

export function channelRequirementsFor(
  offer: ChannelOffer,
  { receiverAuthorizer, withdrawDelay, minDeposit, freeCallsPerHour }: ChannelTerms,
  state: Readonly<Record<string, unknown>> = {},
): PaymentRequirements {
  return {
    scheme: CHANNEL_SCHEME,
    network: offer.network,
    amount: offer.amount.toString(),
    asset: offer.asset,
    payTo: offer.payTo,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    extra: {
      receiverAuthorizer,
      withdrawDelay,
      name: offer.assetName,
      version: offer.assetVersion,
      minDeposit: minDeposit.toString(),
      ...(freeCallsPerHour === undefined ? {} : { freeCallsPerHour }),
      ...state,
    },
  };
}

export const channelCode = <const Name extends string>(name: Name) =>
  `invalid_batch_settlement_evm_${name}` as const;
const code = channelCode;

/** The client does not know what is charged: it corrects itself by the state in the response and signs again. */
export const AMOUNT_MISMATCH = code("cumulative_amount_mismatch");
export const EXCEEDS_BALANCE = code("cumulative_exceeds_balance");
export const CHANNEL_NOT_FOUND = code("channel_not_found");
export const WRONG_VOUCHER_SIGNATURE = code("voucher_signature");
const DEPOSIT_TOO_SMALL = code("deposit_below_min_deposit");
export const DEPOSIT_FAILED = code("deposit_transaction_failed");
export const DEPOSIT_SIMULATION_FAILED = code("deposit_simulation_failed");
export const CLAIM_SIMULATION_FAILED = code("claim_simulation_failed");
export const NOTHING_TO_REFUND = code("refund_no_balance");
export const CLAIMED_ELSEWHERE =
  "The channel was claimed by another deployment of the payee: open one with another salt, or pay by transfer.";
/** Otherwise anyone who reads the chain could close the channels of others, and we would pay for it. */
export const PUBLIC_REFUND =
  "The voucher is on the chain, so anyone could ask for this refund: buy something first, or withdraw.";
export const WRONG_REFUND_AMOUNT = code("refund_amount_invalid");

/** Says why a channel is not ours, or is not the one that the payment names; null if it is both. */
export function findChannelViolation(
  { kind, config, channelId, deposit }: ChannelPayment,
  offer: ChannelOffer,
  terms: ChannelTerms,
  channelIdOf: (config: ChannelPayment["config"]) => Hex,
): string | null {
  if (config.receiver !== offer.payTo) return code("receiver_mismatch");
  if (config.token !== offer.asset) return code("token_mismatch");
  const isFormer = deposit === null && terms.formerAuthorizers?.includes(config.receiverAuthorizer) === true;
  if (config.receiverAuthorizer !== terms.receiverAuthorizer && !isFormer) {
    return code("receiver_authorizer_mismatch");
  }
  // A longer one leaves us more time. What a channel has is given back whatever its delay.
  if (config.withdrawDelay < terms.withdrawDelay && kind !== "refund") return code("withdraw_delay_mismatch");
  // Vouchers of a contract account would need a call to it each time, and it may change its mind before the claim.
  if (/^0x0+$/.test(config.payerAuthorizer)) return code("authorizer_not_configured");
  if (channelIdOf(config) !== channelId) return code("channel_id_mismatch");
  return deposit !== null && deposit.amount < terms.minDeposit ? DEPOSIT_TOO_SMALL : null;
}
