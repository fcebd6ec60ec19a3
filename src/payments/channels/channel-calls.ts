// The calls of the contract of channels that we send: deposits, claims with the payout behind them, refunds.
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { createFunctionCodec, createParametersCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ChannelConfig, ERC3009_COLLECTOR, type VoucherClaim } from "./channel-config.ts";
import type { ChannelDeposit } from "./channel-payment.ts";

export const depositIntoChannel = createFunctionCodec(batchSettlementAbi, "deposit");
const claimWithSignature = createFunctionCodec(batchSettlementAbi, "claimWithSignature");
const settle = createFunctionCodec(batchSettlementAbi, "settle");
const refundWithSignature = createFunctionCodec(batchSettlementAbi, "refundWithSignature");
const multicall = createFunctionCodec(batchSettlementAbi, "multicall");
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

export function encodeClaims(claims: readonly VoucherClaim[], signature: Hex): Hex {
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

export function encodeRefund(config: ChannelConfig, amount: bigint, nonce: bigint, signature: Hex): Hex {
  return refundWithSignature.encodeCall([config, amount, nonce, signature]);
}

/** All or none of them. */
export function encodeTogether(calls: readonly Hex[]): Hex {
  return multicall.encodeCall([calls]);
}
