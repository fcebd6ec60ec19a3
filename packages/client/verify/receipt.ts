// Checks the receipt of a response: signed statements about the request, the body, the blocks and the payment.
import { decodeBase64, decodeBase64Url } from "./base64.ts";
import { digestOf, type ReceivedResponse, readUrl, type SentRequest } from "./http-signature.ts";
import { Rejection } from "./rejection.ts";
import { checkSignedText, type SigningKey } from "./signing-keys.ts";
import {
  type JsonObject,
  memberOf,
  parseStrictJson,
  requireList,
  requireMatch,
  requireObject,
  requireUint,
} from "./strict-json.ts";

/** As the body of the response names it; a block of the index has no chain, and one of a difference no hash. */
type ReceiptBlock = { readonly chain: unknown; readonly number: string; readonly hash: unknown };

/** Statements of the service in a receipt whose signature and digest fit. */
export type Receipt = {
  readonly keyId: string;
  /** The host that the key is of. */
  readonly host: string;
  readonly issuedAt: number;
  readonly url: string;
  readonly payment: JsonObject;
  readonly blocks: readonly ReceiptBlock[];
};

type ReceiptInput = {
  /** The header PAYMENT-RESPONSE. */
  readonly header: string;
  /** Null for a body that was stored alone. */
  readonly request: SentRequest | null;
  readonly response: ReceivedResponse;
  readonly keys: readonly SigningKey[];
  readonly nowMs: number;
};

const JWS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/;
const BLOCKS_MAX = 200;

/** Null if the header has no receipt of this kind: not every service issues one. */
export function checkReceipt({ header, request, response, keys, nowMs }: ReceiptInput): Receipt | null {
  const settlement = requireObject(
    parseStrictJson(readText(decodeBase64(header, "The receipt"))),
    "The receipt",
  );
  const extensions = memberOf(settlement, "extensions");
  if (extensions === undefined) return null;
  const signed = memberOf(requireObject(extensions, "The receipt's extensions"), "sextant-answer");
  if (signed === undefined) return null;
  const jws = memberOf(requireObject(signed, "The receipt"), "signature");
  const { keyId, host, payload } = readJws(jws, keys, nowMs);
  if (memberOf(payload, "version") !== 1) throw new Rejection("The receipt has an unknown version.");
  const asked = requireObject(memberOf(payload, "request"), "The request in the receipt");
  const url = requireMatch(memberOf(asked, "url"), "The URL in the receipt", /^https?:\/\/\S+$/);
  if (readUrl(url).authority !== host) throw new Rejection("The key of the receipt is that of another host.");
  if (request !== null) compareRequests({ method: memberOf(asked, "method"), url }, request);
  if (memberOf(payload, "digest") !== digestOf(response.body)) {
    throw new Rejection("The digest in the receipt is not that of the body.");
  }
  if (memberOf(payload, "status") !== response.status)
    throw new Rejection("The receipt is for another status.");
  return {
    ...{ keyId, host, url, issuedAt: memberOf(payload, "issuedAt") as number },
    payment: requireObject(memberOf(payload, "payment"), "The payment in the receipt"),
    blocks: requireList(memberOf(payload, "blocks"), "The blocks in the receipt", BLOCKS_MAX).map(readBlock),
  };
}

function readBlock(value: unknown): ReceiptBlock {
  const block = requireObject(value, "A block in the receipt");
  const number = String(memberOf(block, "number"));
  requireUint(number, "The number of a block in the receipt");
  return { chain: memberOf(block, "chain"), number, hash: memberOf(block, "hash") };
}

/** The wallet and the path must be the same; a receipt writes the other parameters in its own form. */
function compareRequests(
  receipt: { readonly method: unknown; readonly url: string },
  request: SentRequest,
): void {
  const [stated, sent] = [receipt.url, request.url].map((url) => {
    const { pathname, searchParams } = new URL(url);
    return { pathname, wallet: searchParams.get("address")?.toLowerCase() ?? null };
  });
  const isOtherWallet = stated?.wallet !== sent?.wallet && /^0x/.test(sent?.wallet ?? "");
  if (receipt.method !== request.method || stated?.pathname !== sent?.pathname || isOtherWallet) {
    throw new Rejection("The receipt is for another request.");
  }
}

function readJws(jws: unknown, keys: readonly SigningKey[], nowMs: number) {
  const [, head = "", body = "", signature = ""] = JWS.exec(typeof jws === "string" ? jws : "") ?? [];
  if (head === "") throw new Rejection("The receipt is not a compact JWS.");
  const header = readPart(head);
  if (memberOf(header, "alg") !== "EdDSA" || memberOf(header, "typ") !== "sextant-answer+jws") {
    throw new Rejection("The receipt is not signed as one.");
  }
  const kid = requireMatch(
    memberOf(header, "kid"),
    "The key id of the receipt",
    /^did:web:[^#:/]+#[A-Za-z0-9_-]{43}$/,
  );
  const [did = "", keyId = ""] = kid.split("#");
  const payload = readPart(body);
  const signedAt = memberOf(payload, "issuedAt");
  if (!Number.isSafeInteger(signedAt) || (signedAt as number) < 0) {
    throw new Rejection("The receipt does not say when it was issued.");
  }
  const host = did.slice("did:web:".length).replace(/%3A/i, ":");
  const signed = { keyId, host, text: `${head}.${body}`, signedAt: signedAt as number, nowMs };
  checkSignedText(keys, { ...signed, signature: decodeBase64Url(signature, "The signature") });
  return { keyId, payload, host };
}

function readPart(part: string): JsonObject {
  const text = readText(decodeBase64Url(part, "A part of the receipt"));
  return requireObject(parseStrictJson(text), "A part of the receipt");
}

function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Rejection("The receipt is not UTF-8.");
  }
}
