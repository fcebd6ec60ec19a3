// Lines of the journal: a payment that was signed, and what became of it and of its channel.
import type { ChannelConfig } from "../channels/channel-typed-data.ts";
import { SextantError } from "../errors.ts";

/** Written before the signature leaves the process. */
export type SignedRecord = {
  /** `voucher` is a payment by channel. */
  readonly type: "signed" | "voucher";
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly payer: string;
  readonly method: string;
  /** The request that was signed for: a wallet's name is replaced by its address. */
  readonly url: string;
  /** Hash of payer, method, `url` and name of the purchase: equal for calls that are the same purchase. */
  readonly request: string;
  /** The URL that the caller gave and its hash, if it has a wallet's name; absent in journals of earlier versions. */
  readonly given?: { readonly url: string; readonly request: string } | null;
  /** The caller's own name of the purchase. */
  readonly purchase: string | null;
  /** The terms that were agreed to, as the service demanded them. */
  readonly requirements: {
    readonly network: string;
    readonly asset: string;
    readonly payTo: string;
    /** Smallest units, decimal. */
    readonly amount: string;
  };
  /** Unix seconds from which the signature cannot be charged. */
  readonly validBefore: number;
  /** How long the service stores the response, if that is not a day. */
  readonly storedMs?: number;
  /** Buys a minute of a stream of events, which is asked for as one again. */
  readonly isStream?: true;
  /** PAYMENT-SIGNATURE as it is sent. */
  readonly signature: string;
  /** Only of a payment by channel. */
  readonly voucher?: Voucher;
};

export type Voucher = {
  readonly channel: string;
  /** All that may be claimed of the channel in total with it. */
  readonly cumulative: string;
  /** The process that signed it. */
  readonly owner: string;
  /** The purchase's name, also if the service takes none: all vouchers under one name buy one thing. */
  readonly name: string;
  /** The money that it brings along; the first voucher of every channel brings some. */
  readonly deposit: SignedDeposit | null;
};

export type SignedDeposit = {
  /** The nonce of its EIP-3009 authorization. */
  readonly id: string;
  readonly at: number;
  readonly amount: string;
  /** Unix seconds. */
  readonly validBefore: number;
  readonly salt: string;
  readonly signature: string;
  readonly config: ChannelConfig;
};

/**
 * The outcome of a payment: paid and delivered, held because its response has come to another call than its own, rejected
 * as the service says, claimed by another request, or released because the chain shows that it was not charged and never
 * will be.
 */
export type OutcomeRecord = {
  readonly type: "paid" | "held" | "rejected" | "conflict" | "released";
  readonly id: string;
  readonly at: number;
  /** The hash of the transfer, as the receipt names it. */
  readonly transaction: string | null;
  /** Why it was rejected. */
  readonly code: string | null;
  /** For a voucher, what the service says that it charged for it, and for all that was bought by the channel. */
  readonly charged?: { readonly amount: string; readonly total: string } | null;
};

/** A channel whose journal was lost, as the chain shows it. */
export type RestoredChannel = {
  readonly network: string;
  readonly config: ChannelConfig;
  readonly deposits: Pick<SignedDeposit, "id" | "at" | "amount" | "validBefore">[];
};

/** Nothing more is signed for a channel that is not open; one that is closed holds nothing of ours. */
export type ChannelState = "open" | "closing" | "disputed" | "closed";

/** Facts learned about a channel; what is absent stays as it was. */
export type ChannelRecord = {
  readonly type: "channel";
  readonly id: string;
  readonly at: number;
  /** Only of a channel that the journal does not have. */
  readonly restored?: RestoredChannel;
  /** The sum that the next voucher goes on from. */
  readonly charged?: string;
  /** The largest voucher that our key has signed, if the journal did not have it. */
  readonly signed?: string;
  /** The sum that the channel holds, without what was returned. */
  readonly balance?: string;
  /** All that the chain shows as returned to the payer. */
  readonly returned?: string;
  /** The deposit that the chain shows unused and over. */
  readonly released?: string;
  readonly state?: ChannelState;
  readonly reason?: string;
};

export type JournalRecord = SignedRecord | OutcomeRecord | ChannelRecord;

export function formatRecord(record: JournalRecord): string {
  return `${JSON.stringify({ v: 1, ...record })}\n`;
}

/** Fails closed: a line that cannot be read may be a signature that was sent. */
export function parseRecord(line: string): JournalRecord {
  const record = readObject(line);
  if (record.v === 1 && isText(record.id) && Number.isSafeInteger(record.at)) {
    if (isSigned(record) || isOutcome(record) || isChannel(record)) return record;
  }
  throw new SextantError("JOURNAL_INVALID", "The journal has a line that this version does not know.");
}

type Fields = Readonly<Record<string, unknown>>;

function readObject(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Fields;
  } catch (cause) {
    throw new SextantError("JOURNAL_INVALID", "The journal has a line that is not JSON.", { cause });
  }
  throw new SextantError("JOURNAL_INVALID", "The journal has a line that is not a record.");
}

function isSigned(record: Fields): record is Fields & SignedRecord {
  const { type, payer, method, url, request, signature, purchase, validBefore, storedMs, isStream } = record;
  const requirements = (record.requirements ?? {}) as Fields;
  const { network, asset, payTo, amount } = requirements;
  return (
    (type === "signed" || (type === "voucher" && isVoucher(record.voucher))) &&
    [payer, method, url, request, signature, network, asset, payTo].every(isText) &&
    isTextOrNull(purchase) &&
    isGiven(record.given) &&
    Number.isSafeInteger(validBefore) &&
    (storedMs === undefined || Number.isSafeInteger(storedMs)) &&
    (isStream === undefined || isStream === true) &&
    typeof amount === "string" &&
    /^[1-9][0-9]*$/.test(amount)
  );
}

function isGiven(given: unknown): boolean {
  if (given === undefined || given === null) return true;
  const { url, request } = given as Fields;
  return isText(url) && isText(request);
}

const STATES: readonly unknown[] = ["open", "closing", "disputed", "closed"];
const OUTCOMES: readonly unknown[] = ["paid", "held", "rejected", "conflict", "released"];

function isOutcome(record: Fields): record is Fields & OutcomeRecord {
  const { type, transaction, code, charged } = record;
  return OUTCOMES.includes(type) && isTextOrNull(transaction) && isTextOrNull(code) && isCharged(charged);
}

function isVoucher(voucher: unknown): boolean {
  const { channel, cumulative, owner, name, deposit } = (voucher ?? {}) as Fields;
  return [name, channel, owner].every(isText) && isUnits(cumulative) && isDeposit(deposit);
}

function isDeposit(deposit: unknown): boolean {
  if (deposit === null) return true;
  const { salt, signature, config } = (deposit ?? {}) as Fields;
  return [salt, signature].every(isText) && isConfig(config) && isMade(deposit);
}

function isConfig(config: unknown): boolean {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay } = (config ??
    {}) as Fields;
  const accounts = [payer, payerAuthorizer, receiver, receiverAuthorizer, token];
  return accounts.every(isText) && Number.isSafeInteger(withdrawDelay);
}

function isMade(deposit: unknown): boolean {
  const { id, at, amount, validBefore } = (deposit ?? {}) as Fields;
  return isText(id) && [at, validBefore].every(Number.isSafeInteger) && isUnits(amount);
}

function isRestored(restored: unknown): boolean {
  const { network, config, deposits } = (restored ?? {}) as Fields;
  return isText(network) && isConfig(config) && Array.isArray(deposits) && deposits.every(isMade);
}

function isCharged(charged: unknown): boolean {
  if (charged === undefined || charged === null) return true;
  const { amount, total } = charged as Fields;
  return isUnits(amount) && isUnits(total);
}

function isChannel(record: Fields): record is Fields & ChannelRecord {
  const { type, charged, signed, balance, returned, released, state, reason, restored } = record;
  const isOptional = (value: unknown, test: (value: unknown) => boolean) =>
    value === undefined || test(value);
  return (
    type === "channel" &&
    [charged, signed, balance, returned].every((value) => isOptional(value, isUnits)) &&
    [released, reason].every((value) => isOptional(value, isText)) &&
    isOptional(state, (value) => STATES.includes(value)) &&
    isOptional(restored, isRestored)
  );
}

function isUnits(value: unknown): boolean {
  return typeof value === "string" && /^(0|[1-9][0-9]*)$/.test(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
