// The credential for a challenge: an EIP-3009 transfer that was signed for it, parsed strictly and compared with it.
import { keccak256, stringToBytes } from "viem";
import type { Caip2Network } from "../../lib/caip2.ts";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../../lib/json.ts";
import { isStorable, type Payment, readTransfer, VALID_TOO_LONG } from "../paywall/payment.ts";
import {
  HEADER_LENGTH_MAX,
  invalidPayment,
  recordIn,
  type UnsupportedPayment,
} from "../paywall/payment-envelope.ts";
import { MPP_INTENT, MPP_METHOD, type MppChallenge } from "./challenges.ts";

export type Credential = {
  readonly challenge: MppChallenge;
  readonly payment: Payment;
  /** The payer as a DID; null if the client does not name it twice. */
  readonly source: string | null;
};

const WHAT = "The Payment credential";

/** The credential of a request; undefined without one. Other schemes of Authorization are left to proxies. */
export function readCredential(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const { authorization = "", "payment-authorization": own } = headers;
  const shared = /^payment(?: |$)/i.test(authorization) ? authorization : undefined;
  if (own !== undefined && shared !== undefined) {
    throw new Fault("INPUT_INVALID", "Send one payment: Authorization or Payment-Authorization, not both.");
  }
  return own ?? shared;
}

/** Throws INPUT_INVALID for anything that is not a credential. */
export function parseCredential(header: string): Credential | UnsupportedPayment {
  if (header.length > HEADER_LENGTH_MAX) {
    throw invalidPayment(WHAT, `must have at most ${HEADER_LENGTH_MAX} characters.`);
  }
  const token = /^payment +([A-Za-z0-9_-]+={0,2})$/i.exec(header)?.[1];
  if (token === undefined) throw invalidPayment(WHAT, 'must be "Payment" and base64url of a JSON text.');
  const given = recordIn(parseStrictJson(Buffer.from(token, "base64url"), WHAT), "", WHAT);
  const challenge = parseChallenge(recordIn(given.challenge, "challenge", WHAT));
  if (challenge.method !== MPP_METHOD || challenge.intent !== MPP_INTENT) {
    return {
      unsupported: `Only the payment method "${MPP_METHOD}" with the intent "${MPP_INTENT}" is accepted.`,
    };
  }
  const payload = recordIn(given.payload, "payload", WHAT);
  if (payload.type !== "authorization") {
    return { unsupported: 'Only credentials of the type "authorization" are accepted.' };
  }
  const { source = null } = given;
  if (source !== null && typeof source !== "string") throw invalidPayment(WHAT, 'must have a text "source".');
  const transfer = readTransfer(payload, payload.signature, WHAT, "payload");
  if (!isStorable(transfer)) return { unsupported: VALID_TOO_LONG };
  return { challenge, payment: { ...transfer, paymentId: null }, source };
}

/** The query in the challenge of a credential, which nothing has verified; null without one. Throws as parseCredential. */
export function readChallengedQuery(header: string): string | null {
  const credential = parseCredential(header);
  if ("unsupported" in credential) return null;
  const opaque = parseStrictJson(Buffer.from(credential.challenge.opaque, "base64url"), WHAT);
  return isJsonObject(opaque) && typeof opaque.query === "string" ? opaque.query : null;
}

function parseChallenge(given: JsonObject): MppChallenge {
  const text = (name: keyof MppChallenge) => {
    const value = given[name];
    if (typeof value === "string") return value;
    throw invalidPayment(WHAT, `must have a text "challenge.${name}".`);
  };
  return {
    id: text("id"),
    realm: text("realm"),
    method: text("method"),
    intent: text("intent"),
    request: text("request"),
    expires: text("expires"),
    opaque: text("opaque"),
  };
}

/** Why the transfer does not pay its challenge, which we have issued; null if it does. Amount and payee are compared later. */
export function findMismatch(
  { challenge, payment, source }: Credential,
  { network }: { readonly network: Caip2Network },
): string | null {
  if (payment.nonce !== keccak256(stringToBytes(challenge.id + challenge.realm))) {
    return "The nonce of the transfer must be the Keccak-256 hash of the challenge's id and realm.";
  }
  if (payment.validBefore !== BigInt(Date.parse(challenge.expires)) / 1_000n) {
    return "The transfer must be valid until its challenge expires.";
  }
  if (source !== null && source.toLowerCase() !== `did:pkh:${network}:${payment.from}`) {
    return "The source of the credential must be the account that pays.";
  }
  return null;
}
