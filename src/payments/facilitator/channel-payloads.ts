// Claims, payouts and refunds as payees send them to facilitators: written, and parsed strictly.
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseBytes } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { ChannelConfig, VoucherClaim } from "../channels/channel-config.ts";
import { AMOUNT_MAX, parseConfig, VOUCHER_SIGNATURE_BYTES } from "../channels/channel-payment.ts";
import type { SignedClaims } from "../channels/channel-sender.ts";

// As many as stock sellers put into one transaction.
const CLAIMS_MAX = 100;
const NONCE_MAX = 2n ** 256n - 1n;

export function describeConfig({ withdrawDelay, ...parties }: ChannelConfig): JsonObject {
  return { ...parties, withdrawDelay };
}

export function describeClaims(claims: readonly VoucherClaim[]): JsonObject[] {
  return claims.map(({ config, maxClaimable, signature, totalClaimed }) => ({
    voucher: { channel: describeConfig(config), maxClaimableAmount: maxClaimable.toString() },
    signature,
    totalClaimed: totalClaimed.toString(),
  }));
}

/** Null without any. All of them are signed for by one account. */
export function parseSignedClaims(payload: JsonObject, what: string): SignedClaims | null {
  const { claims } = payload;
  if (!Array.isArray(claims) || claims.length > CLAIMS_MAX) {
    throw new Fault("INPUT_INVALID", `${what}.claims must be a list of at most ${CLAIMS_MAX} claims.`);
  }
  if (claims.length === 0) return null;
  const name = `${what}.claimAuthorizerSignature`;
  const signature = parseBytes(payload.claimAuthorizerSignature, name, VOUCHER_SIGNATURE_BYTES);
  const parsed = claims.map((claim: unknown, index) => parseClaim(claim, `${what}.claims[${index}]`));
  if (new Set(parsed.map(({ config }) => config.receiverAuthorizer)).size > 1) {
    throw new Fault("INPUT_INVALID", `${what}.claims must be of one receiverAuthorizer.`);
  }
  return { claims: parsed, signature };
}

function parseClaim(value: unknown, what: string): VoucherClaim {
  const claim = objectIn(value, what);
  const voucher = objectIn(claim.voucher, `${what}.voucher`);
  return {
    config: parseConfig(objectIn(voucher.channel, `${what}.voucher.channel`), `${what}.voucher.channel`),
    maxClaimable: parseUint(voucher.maxClaimableAmount, `${what}.voucher.maxClaimableAmount`, AMOUNT_MAX),
    signature: parseBytes(claim.signature, `${what}.signature`, VOUCHER_SIGNATURE_BYTES),
    totalClaimed: parseUint(claim.totalClaimed, `${what}.totalClaimed`, AMOUNT_MAX),
  };
}

/** A refund as its receiver's side has signed it. */
export function parseSignedRefund(payload: JsonObject, what: string) {
  const { channelConfig, amount, refundNonce, refundAuthorizerSignature } = payload;
  return {
    config: parseConfig(objectIn(channelConfig, `${what}.channelConfig`), `${what}.channelConfig`),
    amount: parseUint(amount, `${what}.amount`, AMOUNT_MAX),
    nonce: parseUint(refundNonce, `${what}.refundNonce`, NONCE_MAX),
    signature: parseBytes(
      refundAuthorizerSignature,
      `${what}.refundAuthorizerSignature`,
      VOUCHER_SIGNATURE_BYTES,
    ),
  };
}

export function parsePayout(
  payload: JsonObject,
  what: string,
): { readonly receiver: Hex; readonly token: Hex } {
  return {
    receiver: parseAddress(payload.receiver, `${what}.receiver`),
    token: parseAddress(payload.token, `${what}.token`),
  };
}

function objectIn(value: unknown, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Fault("INPUT_INVALID", `${what} must be an object.`);
}
