// A facilitator in another process, ours or a third party's.
import {
  type PaymentPayload,
  type PaymentRequirements,
  SettleError,
  type SupportedResponse,
  VerifyError,
} from "@x402/core/types";
import { sendJsonRequest } from "../../lib/http-client.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import { FacilitatorUnavailableError, type PaymentFacilitator } from "./facilitator.ts";

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
