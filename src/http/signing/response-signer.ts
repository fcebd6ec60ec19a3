// Signs responses as they are sent: Content-Digest (RFC 9530) and a signature of RFC 9421 that is bound to the request.
import { hash } from "node:crypto";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { SerializedResponse } from "../response.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** The parts of a request that a signature covers. */
type SignedRequest = {
  readonly method: string;
  /** Path and query as they were sent, below the path of the public URL. */
  readonly url: string;
};

type SignerOptions = {
  readonly keys: SigningKeys;
  /** The URL for clients: anyone can write anything into a Host header. Known once the server listens. */
  readonly publicUrl: () => string;
  readonly clock?: Clock;
};

const COMPONENTS =
  '("@status" "content-type" "content-digest" "@method";req "@authority";req "@path";req "@query";req)';
const LABEL = "sextant";
const TAG = "sextant-answer";
/** Headers that a page of another origin needs to check a response. */
const EXPOSED = "Content-Digest, Signature, Signature-Input";
/** Anyone causes errors for nothing, and a signature costs half as much as a 402: a flood must not pay for it. */
const SIGNED_ERRORS_PER_SECOND = 500;

export class ResponseSigner {
  readonly #options: SignerOptions;
  #errors = { second: 0, count: 0 };

  constructor(options: SignerOptions) {
    this.#options = options;
  }

  /** A response to HEAD stays unsigned: it has no content, so that the digest of the body would be wrong (RFC 9530). */
  sign(response: SerializedResponse, { method, url }: SignedRequest): SerializedResponse {
    const { keys, publicUrl, clock = systemClock } = this.#options;
    const seconds = Math.floor(clock.nowMs() / 1_000);
    if (method === "HEAD" || (response.status >= 400 && !this.#takeError(seconds))) return response;
    const { host, pathname } = new URL(publicUrl());
    const queryAt = url.indexOf("?");
    const path = pathname.replace(/\/$/, "") + (queryAt < 0 ? url : url.slice(0, queryAt));
    const headers: string[] = [];
    let type = "";
    let cacheControl = "no-store";
    for (let at = 0; at < response.headers.length; at += 2) {
      const [name = "", value = ""] = response.headers.slice(at, at + 2);
      if (name === "content-type") type = value;
      if (name === "cache-control") cacheControl = value;
      else headers.push(name, name === "access-control-expose-headers" ? `${value}, ${EXPOSED}` : value);
    }
    const digest = contentDigest(response.body);
    const signer = keys.at(seconds);
    const parameters = `${COMPONENTS};created=${signer.seconds};keyid="${signer.id}";alg="ed25519";tag="${TAG}"`;
    const signature = signer.sign(
      [
        `"@status": ${response.status}`,
        `"content-type": ${type}`,
        `"content-digest": ${digest}`,
        `"@method";req: ${method}`,
        `"@authority";req: ${host}`,
        `"@path";req: ${path}`,
        `"@query";req: ${queryAt < 0 ? "?" : url.slice(queryAt)}`,
        `"@signature-params": ${parameters}`,
      ].join("\n"),
    );
    headers.push("cache-control", withNoTransform(cacheControl), "content-digest", digest);
    headers.push("signature-input", `${LABEL}=${parameters}`);
    headers.push("signature", `${LABEL}=:${signature.toString("base64")}:`);
    // A 304 would have the signature of another status.
    return { ...response, etag: null, headers };
  }

  #takeError(second: number): boolean {
    if (this.#errors.second !== second) this.#errors = { second, count: 0 };
    this.#errors.count += 1;
    return this.#errors.count <= SIGNED_ERRORS_PER_SECOND;
  }
}

/** A proxy that compresses the content would break the digest. */
function withNoTransform(cacheControl: string): string {
  return /\bno-transform\b/.test(cacheControl) ? cacheControl : `${cacheControl}, no-transform`;
}

/** The value of Content-Digest for these bytes. */
export function contentDigest(bytes: Uint8Array): string {
  return `sha-256=:${hash("sha256", bytes, "base64")}:`;
}
