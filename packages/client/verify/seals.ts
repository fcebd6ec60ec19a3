// Checks who signed a response: the HTTP signature, and the receipt of its payment.

import { checkHttpSignature } from "./http-signature.ts";
import { findKnownChainId } from "./known-chains.ts";
import type { ReadInput } from "./read-input.ts";
import { checkReceipt, type Receipt } from "./receipt.ts";
import { Rejection } from "./rejection.ts";
import type { Report } from "./report.ts";
import type { SigningKey } from "./signing-keys.ts";
import { createRow, type VerificationRow } from "./verification.ts";

export type Seals = {
  /** The id of a key of the reader's; null if none of them signed the response. */
  readonly signer: string | null;
  readonly rows: readonly VerificationRow[];
};

type SealInput = ReadInput & {
  readonly report: Report | null;
  readonly keys: readonly SigningKey[];
  readonly nowMs: number;
};

export function checkSeals(input: SealInput): Seals {
  const seals = [checkSignature(input), checkPaidReceipt(input)];
  const signer = seals.find(({ keyId }) => keyId !== null)?.keyId ?? null;
  const isUnsigned = input.keys.length > 0 && seals.every(({ row }) => row.status === "unknown");
  const missing = createRow("signature", "wrong", "you gave a key, but the response is not signed with it");
  return { signer, rows: isUnsigned ? [missing] : seals.map((seal) => seal.row) };
}

type Seal = { readonly keyId: string | null; readonly row: VerificationRow };

function checkSignature(input: SealInput): Seal {
  const { headers } = input.response;
  if (!headers.has("signature") && !headers.has("signature-input")) {
    return { keyId: null, row: createRow("signature", "unknown", "the file has no signature") };
  }
  return seal("signature", input, () => {
    if (input.request === null) throw new Rejection("The signature cannot be checked without its request.");
    const keyId = checkHttpSignature(input.request, input.response, input.keys, input.nowMs);
    return { keyId, reason: "HTTP message signature" };
  });
}

function checkPaidReceipt(input: SealInput): Seal {
  const { receipt: header, request, response, keys, nowMs, report } = input;
  if (header === null)
    return { keyId: null, row: createRow("receipt", "unknown", "the file has no receipt") };
  return seal("receipt", input, () => {
    const receipt = checkReceipt({ header, request, response, keys, nowMs });
    if (receipt === null) return { keyId: null, reason: "the receipt is not signed" };
    if (report !== null) compareBlocks(receipt, report);
    return { keyId: receipt.keyId, reason: describePayment(receipt) };
  });
}

/** Without keys of the reader nothing can be said: keys in a file prove nothing. */
function seal(
  path: string,
  { keys }: SealInput,
  check: () => { keyId: string | null; reason: string },
): Seal {
  if (keys.length === 0) {
    return { keyId: null, row: createRow(path, "unknown", "not checked: name the service's key") };
  }
  try {
    const { keyId, reason } = check();
    return { keyId, row: createRow(path, keyId === null ? "unknown" : "signed", reason, keyId) };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { keyId: null, row: createRow(path, "wrong", error.message) };
  }
}

function compareBlocks({ blocks }: Receipt, { blocks: stated, fields }: Report): void {
  for (const { chain, number, hash } of stated) {
    const id = fields.find((field) => field.chain === chain)?.chainId ?? findKnownChainId(chain);
    const hasBlock = blocks.some(
      (block) => block.chain === id && block.number === number && (hash === null || block.hash === hash),
    );
    if (id !== null && blocks.length > 0 && !hasBlock)
      throw new Rejection("The receipt is for other blocks.");
  }
}

function describePayment({ payment }: Receipt): string {
  const parts = ["amount", "asset", "payer", "transaction", "channel"].flatMap((name) => {
    const value = payment[name];
    return typeof value === "string" && value.length < 100 ? [`${name} ${value}`] : [];
  });
  return `receipt: ${parts.join(", ")}`;
}
