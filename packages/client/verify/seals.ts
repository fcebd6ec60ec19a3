// Checks who signed a response: the HTTP signature, and the receipt of its payment.

import { ageOf, describeTime } from "./age.ts";
import { formatTime } from "./header.ts";
import { checkHttpSignature } from "./http-signature.ts";
import type { ReadInput } from "./read-input.ts";
import { checkReceipt, type Receipt } from "./receipt.ts";
import { Rejection } from "./rejection.ts";
import type { Report } from "./report.ts";
import type { SigningKey } from "./signing-keys.ts";
import { createRow, type VerificationRow } from "./verification.ts";

export type Seals = {
  /** The id of a key of the reader's; null if none of them signed the response. */
  readonly signer: string | null;
  /** When it signed. */
  readonly signedAt: string | null;
  readonly ageSeconds: number | null;
  /** Why the response is not a result, although it may be signed; null for one with a status of success. */
  readonly rejection: string | null;
  readonly rows: readonly VerificationRow[];
};

type SealInput = ReadInput & {
  readonly report: Report | null;
  readonly keys: readonly SigningKey[];
  readonly nowMs: number;
};

export function checkSeals(input: SealInput): Seals {
  const receipt = checkPaidReceipt(input);
  const seals = [checkSignature(input, receipt.host), receipt];
  const signed = seals.find(({ keyId }) => keyId !== null);
  const signer = signed?.keyId ?? null;
  const { signedAt = null, ageSeconds = null } = signed?.row ?? {};
  const isUnsigned = input.keys.length > 0 && seals.every(({ row }) => row.status === "unknown");
  const missing = createRow("signature", "wrong", "you gave a key, but the response is not signed with it");
  const rows = isUnsigned ? [missing] : seals.map((seal) => seal.row);
  const { status } = input.response;
  const rejection = describeRejection(status);
  if (rejection !== null) {
    rows.push(createRow("status", signer === null ? "unknown" : "signed", rejection, String(status)));
  }
  return { signer, signedAt, ageSeconds, rejection, rows };
}

function describeRejection(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRejected = status >= 400 && status < 500;
  return `the service ${isRejected ? "rejected the request" : "gave no result"}: ${status}`;
}

type Seal = {
  readonly keyId: string | null;
  /** The host for which a valid receipt speaks. */
  readonly host: string | null;
  readonly row: VerificationRow;
};

/** A service behind a proxy signs for its public host, which is then that of its receipt. */
function checkSignature(input: SealInput, publicHost: string | null): Seal {
  const { headers } = input.response;
  if (!headers.has("signature") && !headers.has("signature-input")) {
    return noSeal("signature", "the file has no signature");
  }
  return seal("signature", input, () => {
    if (input.request === null) throw new Rejection("The signature cannot be checked without its request.");
    const { request, response, keys, nowMs } = input;
    const signed = checkHttpSignature({ request, response, keys, nowMs, publicHost });
    return { ...signed, reason: `HTTP message signature of ${signed.host}` };
  });
}

function checkPaidReceipt(input: SealInput): Seal {
  const { receipt: header, request, response, keys, nowMs, report } = input;
  if (header === null) return noSeal("receipt", "the file has no receipt");
  return seal("receipt", input, () => {
    const receipt = checkReceipt({ header, request, response, keys, nowMs });
    if (receipt === null) return null;
    if (report !== null) compareBlocks(receipt, report);
    const { keyId, host, issuedAt } = receipt;
    return { keyId, host, signedAt: issuedAt, reason: describePayment(receipt) };
  });
}

type CheckedSeal = {
  readonly keyId: string;
  readonly host: string;
  /** Seconds since 1970. */
  readonly signedAt: number;
  readonly reason: string;
};

/** Without keys of the reader nothing can be said: keys in a file prove nothing. `check` returns null if no one signed. */
function seal(path: string, { keys, nowMs }: SealInput, check: () => CheckedSeal | null): Seal {
  if (keys.length === 0) return noSeal(path, "not checked: name the key of the service");
  try {
    const checked = check();
    if (checked === null) return noSeal(path, `the ${path} is not signed`);
    const { keyId, host, signedAt: seconds, reason } = checked;
    const [signedAt, ageSeconds] = [formatTime(BigInt(seconds)), ageOf(seconds, nowMs)];
    const why = `${reason}; ${describeTime(signedAt, ageSeconds)}`;
    return { keyId, host, row: { ...createRow(path, "signed", why, keyId), signedAt, ageSeconds } };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { keyId: null, host: null, row: createRow(path, "wrong", error.message) };
  }
}

function noSeal(path: string, reason: string): Seal {
  return { keyId: null, host: null, row: createRow(path, "unknown", reason) };
}

/** Every block that both name must be the same. */
function compareBlocks({ blocks }: Receipt, { blocks: stated }: Report): void {
  for (const { chain, number, hash } of stated) {
    const named = blocks.filter((block) => block.chain === chain);
    const isSame = (block: (typeof named)[number]) =>
      block.number === number.toString() && (hash === null || block.hash === hash);
    if (named.length > 0 && !named.some(isSame)) throw new Rejection("The receipt is for other blocks.");
  }
}

function describePayment({ payment }: Receipt): string {
  const parts = ["amount", "asset", "payer", "transaction", "channel"].flatMap((name) => {
    const value = payment[name];
    return typeof value === "string" && value.length < 100 ? [`${name} ${value}`] : [];
  });
  return `receipt: ${parts.join(", ")}`;
}
