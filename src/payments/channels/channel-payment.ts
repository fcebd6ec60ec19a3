// A payment by channel as it arrives: a voucher, alone or with a deposit, or the wish for a refund; parsed strictly.
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseBytes, parseHash } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { ChannelConfig } from "./channel-config.ts";

/** An EIP-3009 authorization to the collector. */
export type ChannelDeposit = {
  readonly amount: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly salt: bigint;
  /** 65 bytes of a key, or what a contract account accepts. */
  readonly signature: Hex;
};

export type ChannelPayment = {
  readonly kind: "voucher" | "deposit" | "refund";
  readonly config: ChannelConfig;
  readonly channelId: Hex;
  /** All that may be claimed of the channel in total with this voucher. */
  readonly maxClaimable: bigint;
  readonly signature: Hex;
  /** Null unless the payment brings one. */
  readonly deposit: ChannelDeposit | null;
  /** The amount of a refund; null asks for everything. */
  readonly refundAmount: bigint | null;
};

type UnsupportedPayment = { readonly unsupported: string };

const KINDS = ["voucher", "deposit", "refund"] as const;
// The largest amount that the contract counts.
export const AMOUNT_MAX = 2n ** 128n - 1n;
const SECONDS_MAX = 2n ** 63n - 1n;
// Seconds of uint40.
const DELAY_MAX = 2 ** 40 - 1;
export const VOUCHER_SIGNATURE_BYTES = 65;
const SIGNATURE_BYTES_MAX = 4_096;

/** Throws INPUT_INVALID for anything that is not a payment by channel; `what` begins the message. */
export function parseChannelPayment(payload: JsonObject, what: string): ChannelPayment | UnsupportedPayment {
  const kind = KINDS.find((each) => each === payload.type);
  if (kind === undefined) throw invalid(what, `must have a payload.type of ${KINDS.join(", ")}.`);
  const voucher = objectIn(payload.voucher, what, "payload.voucher");
  const name = (field: string) => `${what}: payload.voucher.${field}`;
  const base = {
    kind,
    config: parseConfig(
      objectIn(payload.channelConfig, what, "payload.channelConfig"),
      `${what}: payload.channelConfig`,
    ),
    channelId: parseHash(voucher.channelId, name("channelId")),
    maxClaimable: parseUint(voucher.maxClaimableAmount, name("maxClaimableAmount"), AMOUNT_MAX),
    signature: parseBytes(voucher.signature, name("signature"), VOUCHER_SIGNATURE_BYTES),
  };
  if (kind === "refund") {
    const amount = payload.amount;
    const refundAmount =
      amount === undefined ? null : parseUint(amount, `${what}: payload.amount`, AMOUNT_MAX);
    return { ...base, deposit: null, refundAmount };
  }
  if (kind === "voucher") return { ...base, deposit: null, refundAmount: null };
  const deposit = parseDeposit(objectIn(payload.deposit, what, "payload.deposit"), what);
  return "unsupported" in deposit ? deposit : { ...base, deposit, refundAmount: null };
}

export function parseConfig(given: JsonObject, what: string): ChannelConfig {
  const name = (field: string) => `${what}.${field}`;
  const { withdrawDelay } = given;
  if (typeof withdrawDelay !== "number" || !Number.isInteger(withdrawDelay)) {
    throw new Fault("INPUT_INVALID", `${name("withdrawDelay")} must be a whole number of seconds.`);
  }
  if (withdrawDelay < 0 || withdrawDelay > DELAY_MAX) {
    throw new Fault("INPUT_INVALID", `${name("withdrawDelay")} is out of range.`);
  }
  return {
    payer: parseAddress(given.payer, name("payer")),
    payerAuthorizer: parseAddress(given.payerAuthorizer, name("payerAuthorizer")),
    receiver: parseAddress(given.receiver, name("receiver")),
    receiverAuthorizer: parseAddress(given.receiverAuthorizer, name("receiverAuthorizer")),
    token: parseAddress(given.token, name("token")),
    withdrawDelay,
    salt: parseHash(given.salt, name("salt")),
  };
}

function parseDeposit(given: JsonObject, what: string): ChannelDeposit | UnsupportedPayment {
  const authorization = objectIn(given.authorization, what, "payload.deposit.authorization");
  if (authorization.erc3009Authorization === undefined) {
    return { unsupported: "Only deposits by EIP-3009 authorization are accepted, not by Permit2." };
  }
  const signed = objectIn(authorization.erc3009Authorization, what, "erc3009Authorization");
  const name = (field: string) => `${what}: erc3009Authorization.${field}`;
  return {
    amount: parseUint(given.amount, `${what}: payload.deposit.amount`, AMOUNT_MAX),
    validAfter: parseUint(signed.validAfter, name("validAfter"), SECONDS_MAX),
    validBefore: parseUint(signed.validBefore, name("validBefore"), SECONDS_MAX),
    salt: BigInt(parseHash(signed.salt, name("salt"))),
    signature: parseBytes(signed.signature, name("signature"), SIGNATURE_BYTES_MAX),
  };
}

function objectIn(value: unknown, what: string, name: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(what, `must have an object ${name}.`);
}

function invalid(what: string, problem: string): Fault {
  return new Fault("INPUT_INVALID", `${what} ${problem}`);
}
