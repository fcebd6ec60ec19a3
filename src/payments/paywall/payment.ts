// A payment as it arrives: parsed strictly and compared with the terms before anything else happens.

import { createHash } from "node:crypto";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { parseUint } from "../../lib/decimal.ts";
import { type Hex, parseAddress, parseBytes, parseHash } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { EXPIRES_SOON } from "../rejection-reasons.ts";
import type { OfferTerms } from "./offer.ts";
import {
  invalidPayment,
  type PaymentEnvelope,
  parseEnvelope,
  parsePaymentIdentifier,
  recordIn,
  type UnsupportedPayment,
} from "./payment-envelope.ts";

/** An EIP-3009 transfer, signed by its payer. */
export type Payment = {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  /** 65 bytes of a key, or what a contract account accepts (ERC-1271, ERC-6492). */
  readonly signature: Hex;
  readonly paymentId: string | null;
  /** Identifies the authorization together with its signature. */
  readonly digest: string;
};

const SIGNATURE_BYTES_MAX = 4_096;

/** Throws INPUT_INVALID for anything that is not a payment; `what` begins the message. */
export function parsePayment(
  value: unknown,
  terms: Pick<OfferTerms, "network" | "asset">,
  what: string,
): Payment | UnsupportedPayment {
  const envelope = parseEnvelope(value, terms, what);
  return "unsupported" in envelope ? envelope : parseExactPayment(envelope, what);
}

/** The transfer in an envelope of the scheme `exact`. */
export function parseExactPayment(
  { scheme, payload, extensions }: PaymentEnvelope,
  what: string,
): Payment | UnsupportedPayment {
  if (scheme !== "exact") return { unsupported: 'Only the scheme "exact" is accepted.' };
  if (payload.authorization === undefined && payload.permit2Authorization !== undefined) {
    return { unsupported: "Only EIP-3009 authorizations are accepted, not Permit2." };
  }
  const given = recordIn(payload.authorization, "payload.authorization", what);
  const transfer = readTransfer(given, payload.signature, what, "payload.authorization");
  if (!isStorable(transfer)) return { unsupported: VALID_TOO_LONG };
  return { ...transfer, paymentId: parsePaymentIdentifier(extensions) };
}

/** A signed transfer, whichever protocol brings it: the same one has the same digest. `path` leads to its fields. */
export function readTransfer(
  given: JsonObject,
  signature: unknown,
  what: string,
  path: string,
): Omit<Payment, "paymentId"> {
  const name = (field: string) => `${what}: ${path}.${field}`;
  const signed = {
    from: parseAddress(given.from, name("from")),
    to: parseAddress(given.to, name("to")),
    value: parseUint(given.value, name("value")),
    validAfter: parseUint(given.validAfter, name("validAfter")),
    validBefore: parseUint(given.validBefore, name("validBefore")),
    nonce: parseHash(given.nonce, name("nonce")),
    signature: parseBytes(signature, `${what}: payload.signature`, SIGNATURE_BYTES_MAX),
  };
  if (signed.signature === "0x") throw invalidPayment(what, "must have a payload.signature.");
  const digest = createHash("sha256").update(Object.values(signed).join(" ")).digest("hex");
  return { ...signed, digest };
}

/** Whether the ledger can hold the time until which a transfer is valid. */
export function isStorable({ validBefore }: Pick<Payment, "validBefore">): boolean {
  return validBefore <= LEDGER_SECONDS_MAX;
}

/**
 * The document that a facilitator receives: our own terms, and nothing that the client added. The URL says which of
 * our resources is paid for, without its query, also for a payment that is settled later.
 */
export function toPaymentPayload(
  payment: Payment,
  terms: PaymentRequirements,
  url: string | null = null,
): PaymentPayload {
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment;
  return {
    x402Version: 2,
    ...(url === null ? {} : { resource: { url } }),
    accepted: terms,
    payload: {
      authorization: {
        from,
        to,
        value: value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString(),
        nonce,
      },
      signature,
    },
  };
}

// The largest bigint of PostgreSQL.
const LEDGER_SECONDS_MAX = 2n ** 63n - 1n;
export const VALID_TOO_LONG = "The payment is valid for longer than a day.";
// A signature that is valid for longer could be charged long after its payer has forgotten it.
const VALID_SECONDS_MAX = 86_400n;

/**
 * Why a payment cannot be accepted on these terms now; null when it can. EXPIRES_SOON if nothing but its expiry by
 * our clock is wrong: by the chain's, others may still be able to carry it out.
 */
export function findTermsViolation(
  payment: Payment,
  terms: OfferTerms,
  { nowMs, settleMs }: { readonly nowMs: number; readonly settleMs: number },
): { readonly reason: typeof EXPIRES_SOON | null; readonly message: string } | null {
  const violation = (message: string) => ({ reason: null, message });
  if (payment.to !== terms.payTo)
    return violation(`The payment goes to ${payment.to}, not to ${terms.payTo}.`);
  if (payment.value !== terms.amount) {
    return violation(`The payment is of ${payment.value} units, the price is ${terms.amount}.`);
  }
  const now = BigInt(Math.floor(nowMs / 1_000));
  if (payment.validAfter > now) return violation("The payment is not valid yet.");
  if (payment.validBefore <= now) return { reason: EXPIRES_SOON, message: "The payment has expired." };
  if (payment.validBefore < now + BigInt(Math.ceil(settleMs / 1_000))) {
    return { reason: EXPIRES_SOON, message: "The payment expires too soon to be settled." };
  }
  return payment.validBefore > now + VALID_SECONDS_MAX ? violation(VALID_TOO_LONG) : null;
}

// Our clock may be ahead of the chain's by as much.
const CLOCK_SECONDS_MAX = 30;

/** Without a read of the chain: whether a payment has surely expired there too. */
export function isOverByClock({ validBefore }: Payment, nowMs: number): boolean {
  return validBefore <= BigInt(Math.floor(nowMs / 1_000) - CLOCK_SECONDS_MAX);
}

// A transfer is looked for within a quarter of an hour before its row (settle.ts), and an offer is valid for
// minutes: within this time after the expiry the transfer is still found.
export const TRACED_SECONDS_MAX = 600;

/** Whether a payment that cannot be accepted now was good enough once for someone else to have carried it out for us. */
export function mayHaveArrived(
  { to, value, validAfter, validBefore }: Payment,
  { payTo, amount }: OfferTerms,
  nowMs: number,
): boolean {
  const now = BigInt(Math.floor(nowMs / 1_000));
  return (
    to === payTo && value >= amount && validAfter < now && validBefore > now - BigInt(TRACED_SECONDS_MAX)
  );
}
