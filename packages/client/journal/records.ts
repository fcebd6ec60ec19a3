// Lines of the journal: a payment that was signed, and what became of it.
import { SextantError } from "../errors.ts";

/** Written before the signature leaves the process. */
export type SignedRecord = {
  readonly type: "signed";
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
  /** PAYMENT-SIGNATURE as it is sent. */
  readonly signature: string;
};

/**
 * The outcome of a payment: paid and delivered, rejected as the service says, claimed by another request, or released
 * because the chain shows that it was not charged and never will be.
 */
export type OutcomeRecord = {
  readonly type: "paid" | "rejected" | "conflict" | "released";
  readonly id: string;
  readonly at: number;
  /** The hash of the transfer, as the receipt names it. */
  readonly transaction: string | null;
  /** Why it was rejected. */
  readonly code: string | null;
};

export type JournalRecord = SignedRecord | OutcomeRecord;

export function formatRecord(record: JournalRecord): string {
  return `${JSON.stringify({ v: 1, ...record })}\n`;
}

/** Fails closed: a line that cannot be read may be a signature that was sent. */
export function parseRecord(line: string): JournalRecord {
  const record = readObject(line);
  if (record.v === 1 && isText(record.id) && Number.isSafeInteger(record.at)) {
    if (record.type === "signed" && isSigned(record)) return record as unknown as SignedRecord;
    if (isOutcomeType(record.type) && isTextOrNull(record.transaction) && isTextOrNull(record.code)) {
      return record as unknown as OutcomeRecord;
    }
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

function isSigned(record: Fields): boolean {
  const { payer, method, url, request, signature, purchase, validBefore } = record;
  const requirements = (record.requirements ?? {}) as Fields;
  const { network, asset, payTo, amount } = requirements;
  return (
    [payer, method, url, request, signature, network, asset, payTo].every(isText) &&
    isTextOrNull(purchase) &&
    isGiven(record.given) &&
    Number.isSafeInteger(validBefore) &&
    typeof amount === "string" &&
    /^[1-9][0-9]*$/.test(amount)
  );
}

function isGiven(given: unknown): boolean {
  if (given === undefined || given === null) return true;
  const { url, request } = given as Fields;
  return isText(url) && isText(request);
}

function isOutcomeType(type: unknown): boolean {
  return type === "paid" || type === "rejected" || type === "conflict" || type === "released";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
