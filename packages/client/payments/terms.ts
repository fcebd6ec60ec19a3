// The terms of a 402 response: parsed strictly, because everything in them is only a claim of the server.
import { SextantError } from "../errors.ts";
import { decodeHeader } from "./x402-header.ts";

/** One way to pay, of the schemes that we sign: an EIP-3009 transfer of an exact amount, or a voucher of a channel. */
export type PaymentTerms = {
  readonly network: `eip155:${number}`;
  readonly asset: `0x${string}`;
  readonly payTo: `0x${string}`;
  /** Smallest units. */
  readonly amount: bigint;
  /** For how long the signature must be valid. */
  readonly maxTimeoutSeconds: number;
  /** Name and version in the EIP-712 domain of the token. */
  readonly tokenName: string;
  readonly tokenVersion: string;
  /** As the server sent it; it is returned unchanged. */
  readonly accepted: unknown;
  /** The extension by which a payment is named, as the server declares it; null if it takes no names. */
  readonly identifier: Fields | null;
  /** Null for a transfer. */
  readonly channel: ChannelTerms | null;
};

export type ChannelTerms = {
  readonly receiverAuthorizer: `0x${string}`;
  /** Seconds from the start of a withdrawal to its end. */
  readonly withdrawDelay: number;
  readonly minDeposit: bigint;
};

export type Fields = Readonly<Record<string, unknown>>;

/** Extension of x402. */
export const PAYMENT_IDENTIFIER = "payment-identifier";

// A server names one to three ways to pay.
const OFFERS_MAX = 20;
const NETWORK = /^eip155:[1-9][0-9]{0,15}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
// 2^256 has 78 digits.
const AMOUNT = /^[1-9][0-9]{0,77}$/;
const UNITS = /^(0|[1-9][0-9]{0,37})$/;
const NAME_LENGTH_MAX = 64;
const CHANNEL_SCHEME = "batch-settlement";
// The contract takes no other delays.
const WITHDRAW_SECONDS_MIN = 900;
const WITHDRAW_SECONDS_MAX = 2_592_000;

/** Every acceptable way to pay, in the server's order; the first problem if no way is acceptable. */
export function parsePaymentRequired(
  header: string | null,
  { channels = false }: { readonly channels?: boolean } = {},
): readonly PaymentTerms[] {
  if (header === null) throw rejected("has no PAYMENT-REQUIRED header");
  const { x402Version, accepts, extensions } = decodeHeader(header, "PAYMENT-REQUIRED");
  if (x402Version !== 2) throw rejected("is not of x402 version 2");
  if (!Array.isArray(accepts) || accepts.length === 0) throw rejected("names no way to pay");
  if (accepts.length > OFFERS_MAX) throw rejected(`names more than ${OFFERS_MAX} ways to pay`);
  const declared = fieldsOf(fieldsOf(extensions)[PAYMENT_IDENTIFIER]);
  const identifier = Object.keys(declared).length === 0 ? null : declared;
  const parsed = accepts.map((each) => parseTerms(each, identifier));
  const usable = parsed
    .filter((each) => typeof each !== "string")
    .filter(({ channel }) => channels || channel === null);
  if (usable.length > 0) return usable;
  throw rejected(
    String(parsed.find((each) => typeof each === "string") ?? "asks for another scheme than exact"),
  );
}

/** The problem, as the end of a sentence, or the terms. */
function parseTerms(value: unknown, identifier: Fields | null): PaymentTerms | string {
  const { scheme, network, asset, payTo, amount, maxTimeoutSeconds, extra } = fieldsOf(value);
  const { name, version, assetTransferMethod } = fieldsOf(extra);
  if (scheme !== "exact" && scheme !== CHANNEL_SCHEME) return "asks for another scheme than exact";
  // A Permit2 approval would let another contract move more than this payment.
  if (assetTransferMethod !== undefined && assetTransferMethod !== "eip3009") {
    return "asks for another transfer than EIP-3009";
  }
  if (!matches(network, NETWORK)) return "names no EVM network";
  if (!matches(asset, ADDRESS)) return "names no token";
  if (!matches(payTo, ADDRESS)) return "names no payee";
  if (!matches(amount, AMOUNT)) return "names no amount";
  if (!Number.isSafeInteger(maxTimeoutSeconds)) return "names no time limit";
  if (!isName(name) || !isName(version)) return "names no EIP-712 domain of the token";
  const channel = scheme === CHANNEL_SCHEME ? parseChannelTerms(fieldsOf(extra)) : null;
  if (typeof channel === "string") return channel;
  return {
    network: network as PaymentTerms["network"],
    asset: asset.toLowerCase() as PaymentTerms["asset"],
    payTo: payTo.toLowerCase() as PaymentTerms["payTo"],
    amount: BigInt(amount),
    maxTimeoutSeconds: Number(maxTimeoutSeconds),
    tokenName: name,
    tokenVersion: version,
    accepted: value,
    identifier,
    channel,
  };
}

function parseChannelTerms({
  receiverAuthorizer,
  withdrawDelay,
  minDeposit = "0",
}: Fields): ChannelTerms | string {
  if (!matches(receiverAuthorizer, ADDRESS) || /^0x0+$/.test(receiverAuthorizer)) {
    return "names no account that claims";
  }
  const seconds = Number.isSafeInteger(withdrawDelay) ? Number(withdrawDelay) : 0;
  if (seconds < WITHDRAW_SECONDS_MIN || seconds > WITHDRAW_SECONDS_MAX) {
    return "names no delay of withdrawals that the contract takes";
  }
  if (!matches(minDeposit, UNITS)) return "names no smallest deposit";
  return {
    receiverAuthorizer: receiverAuthorizer.toLowerCase() as `0x${string}`,
    withdrawDelay: seconds,
    minDeposit: BigInt(minDeposit),
  };
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= NAME_LENGTH_MAX;
}

function rejected(problem: string): SextantError {
  return new SextantError("TERMS_REJECTED", `The 402 response ${problem}; nothing was signed.`, {
    status: 402,
  });
}
