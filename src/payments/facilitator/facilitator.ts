// The facilitator, local or remote, which verifies and settles payments, and what its responses mean for the money.
import type { FacilitatorClient } from "@x402/core/server";
import {
  type PaymentPayload,
  type PaymentRequirements,
  SettleError,
  type SupportedResponse,
  VerifyError,
} from "@x402/core/types";
import type { Hex } from "../../lib/hex.ts";
import { sendJsonRequest } from "../../lib/http-client.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import { isDecidedBeforeSend, TRANSACTION_FAILED } from "../rejection-reasons.ts";

/** Thrown when the facilitator cannot decide: it says nothing about the payment. */
export class FacilitatorUnavailableError extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`The facilitator is unavailable: ${what}`, options);
    this.name = "FacilitatorUnavailableError";
  }
}

export type PaymentFacilitator = Pick<FacilitatorClient, "verify" | "settle" | "getSupported"> & {
  /** Its verdicts come from nodes of this process: with a wrong signature or too little money, the nonce is unused. */
  readonly readsOwnNodes?: true;
};

export type VerifyOutcome =
  | { readonly kind: "valid" }
  | { readonly kind: "rejected"; readonly reason: string }
  /** Nothing is known about the payment, and nothing was charged. */
  | { readonly kind: "unavailable"; readonly cause: unknown };

export type SettleOutcome =
  /** A claim: our own node must show the transfer. */
  | { readonly kind: "settled"; readonly transaction: Hex }
  /** The facilitator claims that no transfer happened and none will; the chain is read before we believe it. */
  | { readonly kind: "rejected"; readonly reason: string; readonly transaction: Hex | null }
  /** The transfer may have happened, or may still happen. */
  | { readonly kind: "unknown"; readonly transaction: Hex | null; readonly cause: unknown };

export async function requestVerify(
  facilitator: PaymentFacilitator,
  payload: PaymentPayload,
  terms: PaymentRequirements,
): Promise<VerifyOutcome> {
  try {
    const { isValid, invalidReason } = await facilitator.verify(payload, terms);
    return isValid ? { kind: "valid" } : { kind: "rejected", reason: invalidReason ?? "unknown" };
  } catch (cause) {
    // A rejection may come with an error status of its own; a 5xx says nothing about the payment.
    if (cause instanceof VerifyError && cause.statusCode < 500 && cause.invalidReason !== undefined) {
      return { kind: "rejected", reason: cause.invalidReason };
    }
    return { kind: "unavailable", cause };
  }
}

export async function requestSettle(
  facilitator: PaymentFacilitator,
  payload: PaymentPayload,
  terms: PaymentRequirements,
): Promise<SettleOutcome> {
  try {
    const { success, transaction, errorReason } = await facilitator.settle(payload, terms);
    const hash = transactionHash(transaction);
    if (success && hash !== null) return { kind: "settled", transaction: hash };
    const cause = new FacilitatorUnavailableError(errorReason ?? "no reason was given");
    return failedOutcome(errorReason, hash, cause);
  } catch (cause) {
    if (!(cause instanceof SettleError)) return { kind: "unknown", transaction: null, cause };
    return failedOutcome(cause.errorReason, transactionHash(cause.transaction), cause);
  }
}

function failedOutcome(reason: string | undefined, transaction: Hex | null, cause: unknown): SettleOutcome {
  // With a hash the transaction was mined and reverted; without one, its outcome is unknown.
  const isReverted = reason === TRANSACTION_FAILED && transaction !== null;
  if (reason !== undefined && (isReverted || isDecidedBeforeSend(reason))) {
    return { kind: "rejected", reason, transaction };
  }
  return { kind: "unknown", transaction, cause };
}

/** The hash in lower case; null for anything else. */
function transactionHash(text: unknown): Hex | null {
  if (typeof text !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(text)) return null;
  return `0x${text.slice(2).toLowerCase()}`;
}

// Verdicts and receipts are a few kilobytes.
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

type FacilitatorResponse = { readonly status: number; readonly payload: JsonObject };

/** The timeout must be shorter than the gate's, so that the gate learns the reason. */
export function createRemoteFacilitator(options: {
  readonly url: string;
  readonly timeoutMs: number;
}): PaymentFacilitator {
  const endpoint = createRemoteEndpoint(new Secret(options.url));
  const { host } = endpoint;
  const send = async (path: string, body?: JsonObject): Promise<FacilitatorResponse> => {
    const { status, payload } = await sendJsonRequest({
      endpoint,
      path,
      timeoutMs: options.timeoutMs,
      responseBytesMax: RESPONSE_BYTES_MAX,
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new FacilitatorUnavailableError(`${host} did not respond to ${path}`, { cause });
    });
    if (status >= 300 && status < 400) {
      // Following it would send payments to a host that is not configured, and let it speak for the one that is.
      throw new FacilitatorUnavailableError(`${host} redirects ${path}; configure the address it leads to`);
    }
    if (isJsonObject(payload)) return { status, payload };
    throw new FacilitatorUnavailableError(
      `${host} responded to ${path} with status ${status} and no JSON object`,
    );
  };
  const about = (paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements) => ({
    x402Version: paymentPayload.x402Version,
    paymentPayload,
    paymentRequirements,
  });
  /** Remote texts end up in our log, which must not contain the key in the address. */
  const redacted = (text: unknown) => (typeof text === "string" ? endpoint.redact(text) : undefined);
  const noVerdict = ({ status }: FacilitatorResponse, path: string) =>
    new FacilitatorUnavailableError(`${host} responded to ${path} with status ${status} and no verdict`);

  return {
    async verify(payload, terms) {
      const reply = await send("/verify", about(payload, terms));
      const { isValid, invalidReason } = reply.payload;
      if (typeof isValid !== "boolean") throw noVerdict(reply, "/verify");
      const reason = redacted(invalidReason);
      const verdict = { isValid, ...(reason === undefined ? {} : { invalidReason: reason }) };
      if (isOk(reply)) return verdict;
      throw new VerifyError(reply.status, verdict);
    },
    async settle(payload, terms) {
      const reply = await send("/settle", about(payload, terms));
      const { success, transaction, errorReason } = reply.payload;
      if (typeof success !== "boolean") throw noVerdict(reply, "/settle");
      const reason = redacted(errorReason);
      const outcome = {
        success,
        transaction: redacted(transaction) ?? "",
        network: terms.network,
        ...(reason === undefined ? {} : { errorReason: reason }),
      };
      if (isOk(reply)) return outcome;
      throw new SettleError(reply.status, outcome);
    },
    async getSupported() {
      const reply = await send("/supported");
      if (isOk(reply) && Array.isArray(reply.payload.kinds)) return reply.payload as SupportedResponse;
      throw noVerdict(reply, "/supported");
    },
  };
}

function isOk({ status }: FacilitatorResponse): boolean {
  return status >= 200 && status < 300;
}
