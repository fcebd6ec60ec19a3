// Challenges of x402's sign-in-with-x: nonces that only processes of this database can issue, each for one request.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { SIGN_IN_VERSION } from "@sextant/client/payments/sign-in-message";
import type { Caip2Network } from "../../lib/caip2.ts";
import type { Clock } from "../../lib/clock.ts";
import { formatMoment } from "../../lib/moment.ts";
import type { Secret } from "../../lib/secret.ts";
import type { SignInProof } from "./proof.ts";

/** The part of an offer that a challenge states. */
type AnnouncedOffer = { readonly network: Caip2Network; readonly resourceOrigin: string };

/** The request that a challenge is good for. The path is shown to who signs; the fingerprint covers the query too. */
type ChallengedRequest = { readonly path: string; readonly fingerprint: string };

type ChallengeInfo = Pick<SignInProof, "domain" | "uri" | "nonce" | "issuedAt"> & {
  readonly version: string;
};

// Long enough for a person to confirm it.
const VALID_SECONDS = 300;
// The clocks of two processes, or of a client that adds times of its own, may differ by as much.
const SKEW_SECONDS = 60;
// x402 wants 16 bytes in hex. 48 bits: two challenges of one second practically never have equal ones.
const SALT_BYTES = 6;
const MAC_BYTES = 10;

/** Keeps no state: whether a nonce was used is in the database. */
export class SignInChallenges {
  readonly #key: Secret<Buffer>;
  readonly #clock: Clock;

  constructor(key: Secret<Buffer>, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  issue(offer: AnnouncedOffer, request: ChallengedRequest): ChallengeInfo {
    const issuedAt = formatMoment(this.#clock.nowMs() / 1_000);
    const salt = randomUUID().slice(-2 * SALT_BYTES);
    const nonce = salt + this.#authenticate(offer, request, issuedAt, salt).toString("hex");
    const domain = domainOf(offer);
    return { domain, uri: offer.resourceOrigin + request.path, version: SIGN_IN_VERSION, nonce, issuedAt };
  }

  /** Why the message is not the challenge that was issued for this request, or is not valid now; null if it is. */
  findProblem(proof: SignInProof, offer: AnnouncedOffer, request: ChallengedRequest): string | null {
    if (proof.domain !== domainOf(offer)) return `The message is for another domain than ${domainOf(offer)}.`;
    if (proof.uri !== offer.resourceOrigin + request.path) return "The message is for another URI.";
    if (proof.chainId !== offer.network) return `The chain of the message must be ${offer.network}.`;
    const [salt, mac] = [proof.nonce.slice(0, 2 * SALT_BYTES), proof.nonce.slice(2 * SALT_BYTES)];
    if (!timingSafeEqual(Buffer.from(mac, "hex"), this.#authenticate(offer, request, proof.issuedAt, salt))) {
      return "The nonce was not issued here for this request at that time.";
    }
    return this.#findTimeProblem(proof);
  }

  #findTimeProblem({ issuedAt, expirationTime, notBefore }: SignInProof): string | null {
    const nowMs = this.#clock.nowMs();
    const skewMs = 1_000 * SKEW_SECONDS;
    const issuedMs = Date.parse(issuedAt);
    if (nowMs > issuedMs + 1_000 * VALID_SECONDS + skewMs) return "The challenge has expired.";
    if (issuedMs > nowMs + skewMs) return "The challenge is from the future.";
    if (expirationTime !== null && nowMs > Date.parse(expirationTime) + skewMs)
      return "The message has expired.";
    if (notBefore !== null && nowMs < Date.parse(notBefore) - skewMs) return "The message is not valid yet.";
    return null;
  }

  #authenticate(
    { network, resourceOrigin }: AnnouncedOffer,
    { path, fingerprint }: ChallengedRequest,
    issuedAt: string,
    salt: string,
  ): Buffer {
    // As JSON, so that no text can end in one field and begin in the next.
    const bound = JSON.stringify([network, resourceOrigin, path, fingerprint, issuedAt, salt]);
    return createHmac("sha256", this.#key.reveal()).update(bound).digest().subarray(0, MAC_BYTES);
  }
}

function domainOf({ resourceOrigin }: AnnouncedOffer): string {
  return resourceOrigin.replace(/^https?:\/\//, "");
}
