// Checks the HTTP message signature of a response (RFC 9421) and its content digest (RFC 9530).
import { sha256 } from "viem/utils";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { findRejection, Rejection } from "./rejection.ts";
import { checkSignedText, type SigningKey } from "./signing-keys.ts";

export type SentRequest = { readonly method: string; readonly url: string };

export type ReceivedResponse = {
  readonly status: number;
  /** Keyed by lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
};

/** As the header writes it. */
export function digestOf(body: Uint8Array): string {
  return `sha-256=:${encodeBase64(sha256(body, "bytes"))}:`;
}

const COMPONENTS =
  '("@status" "content-type" "content-digest" "@method";req "@authority";req "@path";req "@query";req)';
const PARAMETERS = /^;created=([0-9]{1,12});keyid="([A-Za-z0-9_-]{43})";alg="ed25519";tag="sextant-answer"$/;
const LABEL = "sextant=";
const SIGNATURE = /^sextant=:([A-Za-z0-9+/]{86}==):$/;
const URL_PARTS = /^https?:\/\/[^/?#]+([^?#]*)(\?[^#]*)?$/i;

/** The parts of a URL that a signature covers, as they were sent. */
export function readUrl(url: string): {
  readonly authority: string;
  readonly path: string;
  readonly query: string;
} {
  const parts = URL_PARTS.exec(url);
  if (parts === null || !URL.canParse(url)) throw new Rejection("The URL of the request is malformed.");
  const [, path = "", query = "?"] = parts;
  return { authority: new URL(url).host, path: path === "" ? "/" : path, query };
}

type SignatureInput = {
  readonly request: SentRequest;
  readonly response: ReceivedResponse;
  readonly keys: readonly SigningKey[];
  readonly nowMs: number;
  /** Another host for which the service may have signed. */
  readonly publicHost: string | null;
};

type CheckedSignature = {
  readonly keyId: string;
  /** The host for which the key signed. */
  readonly host: string;
  /** Seconds since 1970. */
  readonly signedAt: number;
};

export function checkHttpSignature(input: SignatureInput): CheckedSignature {
  const { authority } = readUrl(input.request.url);
  const { publicHost } = input;
  if (publicHost === null || publicHost === authority) return checkForHost(input, authority);
  // Only one of the two fits: the base of the signature names the host.
  return findRejection(() => checkForHost(input, authority)) === null
    ? checkForHost(input, authority)
    : checkForHost(input, publicHost);
}

function checkForHost({ request, response, keys, nowMs }: SignatureInput, host: string): CheckedSignature {
  const { headers, body, status } = response;
  const digest = headers.get("content-digest");
  if (digest !== digestOf(body)) throw new Rejection("The content digest is not that of the body.");
  const covered = headers.get("signature-input") ?? "";
  const given = covered.slice(LABEL.length + COMPONENTS.length);
  const parameters = PARAMETERS.exec(given);
  if (!covered.startsWith(LABEL + COMPONENTS) || parameters === null) {
    throw new Rejection("The signature does not cover what it must cover.");
  }
  const [, created = "", keyId = ""] = parameters;
  const [, encoded = ""] = SIGNATURE.exec(headers.get("signature") ?? "") ?? [];
  const { path, query } = readUrl(request.url);
  const text = [
    `"@status": ${status}`,
    `"content-type": ${headers.get("content-type") ?? ""}`,
    `"content-digest": ${digest}`,
    `"@method";req: ${request.method}`,
    `"@authority";req: ${host}`,
    `"@path";req: ${path}`,
    `"@query";req: ${query}`,
    `"@signature-params": ${COMPONENTS}${given}`,
  ].join("\n");
  const signature = decodeBase64(encoded, "The signature");
  const signedAt = Number(created);
  checkSignedText(keys, { keyId, host, text, signature, signedAt, nowMs });
  return { keyId, host, signedAt };
}
