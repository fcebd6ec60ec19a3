// Challenges of the Machine Payments Protocol: terms as HTTP authentication, with an id that only this service can compute.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { getAddress } from "viem";
import { type Caip2Network, chainIdOfNetwork } from "../../lib/caip2.ts";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import { formatMoment } from "../../lib/moment.ts";
import type { Secret } from "../../lib/secret.ts";

/** The parameters of a challenge, which its credential repeats. */
export type MppChallenge = {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  readonly request: string;
  readonly expires: string;
  readonly opaque: string;
};

/** The part of an offer that a challenge states. */
type ChargedOffer = {
  readonly network: Caip2Network;
  readonly asset: Hex;
  readonly decimals: number;
  readonly payTo: Hex;
  readonly amount: bigint;
  readonly maxTimeoutSeconds: number;
  readonly resourceOrigin: string;
};

export const MPP_METHOD = "evm";
export const MPP_INTENT = "charge";

// A person may have to confirm the payment. Then the work and the transfer have the time that x402 gives them.
const SIGNING_SECONDS = 60;
// 48 bits: equal requests of one second never have equal ones.
const SALT_LENGTH = 12;
// A wallet, and blocks of five chains at both ends; the terms in the other header have the query as well.
const QUERY_LENGTH_MAX = 400;

/** Keeps no state: processes with the same key accept each other's challenges. */
export class ChallengeIssuer {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(key: Secret<Hex>, clock: Clock = systemClock) {
    this.#key = Buffer.from(key.reveal().slice(2), "hex");
    this.#clock = clock;
  }

  /**
   * The value of WWW-Authenticate; `fingerprint` identifies the request that the challenge is good for. A short query goes
   * with it: a client that repeats a request by age is led to the blocks that it pays for.
   */
  issue(offer: ChargedOffer, fingerprint: string, query = ""): string {
    const seconds = Math.floor(this.#clock.nowMs() / 1_000) + offer.maxTimeoutSeconds + SIGNING_SECONDS;
    const challenge = {
      realm: realmOf(offer),
      method: MPP_METHOD,
      intent: MPP_INTENT,
      request: encodeRequest(offer),
      expires: formatMoment(seconds),
      // The id decides the nonce of the transfer: two equal requests in the same second are two purchases.
      opaque: encodeJson({
        salt: randomUUID().slice(-SALT_LENGTH),
        ...(query !== "" && query.length <= QUERY_LENGTH_MAX ? { query } : {}),
      }),
    };
    const named = { id: this.#computeId(challenge, fingerprint), ...challenge };
    const parameters = Object.entries(named).map(([name, value]) => `${name}="${value}"`);
    return `Payment ${parameters.join(", ")}`;
  }

  /** Whether the challenge was issued for this request and states these terms; whether it has expired is not checked. */
  hasIssued({ id, ...challenge }: MppChallenge, offer: ChargedOffer, fingerprint: string): boolean {
    const given = Buffer.from(id);
    const expected = Buffer.from(this.#computeId(challenge, fingerprint));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    return challenge.realm === realmOf(offer) && challenge.request === encodeRequest(offer);
  }

  #computeId(challenge: Omit<MppChallenge, "id">, fingerprint: string): string {
    const { realm, method, intent, request, expires, opaque } = challenge;
    // As JSON, so that no text can end in one parameter and begin in the next.
    const bound = JSON.stringify([realm, method, intent, request, expires, opaque, fingerprint]);
    return createHmac("sha256", this.#key).update(bound).digest("base64url");
  }
}

function realmOf({ resourceOrigin }: Pick<ChargedOffer, "resourceOrigin">): string {
  return resourceOrigin.replace(/^https?:\/\//, "");
}

// Encoded once: the offer of each price is one object.
const requests = new WeakMap<ChargedOffer, string>();

function encodeRequest(offer: ChargedOffer): string {
  const known = requests.get(offer);
  if (known !== undefined) return known;
  const { network, asset, decimals, payTo, amount } = offer;
  const request = encodeJson({
    amount: amount.toString(),
    currency: getAddress(asset),
    recipient: getAddress(payTo),
    methodDetails: { chainId: chainIdOfNetwork(network), credentialTypes: ["authorization"], decimals },
  });
  requests.set(offer, request);
  return request;
}

/** As challenges and receipts carry JSON. */
export function encodeJson(value: unknown): string {
  return Buffer.from(toCanonicalJson(value)).toString("base64url");
}
