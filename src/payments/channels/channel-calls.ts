// The calls of the contract of channels that we send: deposits, claims with the payout behind them, refunds.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { createFunctionCodec, createParametersCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ChannelConfig, ERC3009_COLLECTOR } from "./channel-config.ts";
import type { ChannelDeposit } from "./channel-payment.ts";
import type { ChannelCall, SignedClaims, SignedRefund } from "./channel-sender.ts";

export const depositIntoChannel = createFunctionCodec(batchSettlementAbi, "deposit");
const claimWithSignature = createFunctionCodec(batchSettlementAbi, "claimWithSignature");
const settle = createFunctionCodec(batchSettlementAbi, "settle");
export const channelsCall = createFunctionCodec(batchSettlementAbi, "channels");
export const receivers = createFunctionCodec(batchSettlementAbi, "receivers");
const refundWithSignature = createFunctionCodec(batchSettlementAbi, "refundWithSignature");
export const manyCalls = createFunctionCodec(batchSettlementAbi, "multicall");
const collectorData = createParametersCodec([
  { type: "uint256" },
  { type: "uint256" },
  { type: "uint256" },
  { type: "bytes" },
]);

export function encodeDeposit(config: ChannelConfig, deposit: ChannelDeposit): Hex {
  const { amount, validAfter, validBefore, salt, signature } = deposit;
  const data = collectorData.encode([validAfter, validBefore, salt, signature]);
  return depositIntoChannel.encodeCall([config, amount, ERC3009_COLLECTOR, data]);
}

function encodeClaims({ claims, signature }: SignedClaims): Hex {
  const rows = claims.map(({ config, maxClaimable, signature: voucher, totalClaimed }) => ({
    voucher: { channel: config, maxClaimableAmount: maxClaimable },
    signature: voucher,
    totalClaimed,
  }));
  return claimWithSignature.encodeCall([rows, signature]);
}

export function encodePayout(receiver: Hex, token: Hex): Hex {
  return settle.encodeCall([receiver, token]);
}

function encodeRefund({ config, amount, nonce, signature }: SignedRefund): Hex {
  return refundWithSignature.encodeCall([config, amount, nonce, signature]);
}

/** All of it, or nothing: the claims, one payout to each receiver, and the refund. */
export function encodeChannelCall({ claims, refund }: Pick<ChannelCall, "claims" | "refund">): Hex {
  const configs = claims === null ? [] : claims.claims.map(({ config }) => config);
  const payouts = new Map(
    configs.map(({ receiver, token }) => [`${receiver} ${token}`, encodePayout(receiver, token)]),
  );
  const refunds = refund === null ? [] : [encodeRefund(refund)];
  return manyCalls.encodeCall([
    [...(claims === null ? [] : [encodeClaims(claims)]), ...payouts.values(), ...refunds],
  ]);
}
