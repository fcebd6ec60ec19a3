// A facilitator in another process, ours or a third party's.
import {
  type PaymentPayload,
  type PaymentRequirements,
  SettleError,
  type SupportedResponse,
  VerifyError,
} from "@x402/core/types";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import type { PaymentFacilitator } from "./facilitator.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";
import { exchangeJson, type JsonExchangeResponse } from "./http-exchange.ts";

/** `timeoutMs` must be below the deadline of the gate, so that the gate gets the cause. */
export function createRemoteFacilitator(options: {
  readonly url: string;
  readonly timeoutMs: number;
}): PaymentFacilitator {
  const endpoint = createRemoteEndpoint(new Secret(options.url));
  const ask = async (
    path: string,
    body?: JsonObject,
  ): Promise<JsonExchangeResponse & { readonly payload: JsonObject }> => {
    const reply = await exchangeJson({ endpoint, path, timeoutMs: options.timeoutMs, ...(body && { body }) });
    const { status, payload } = reply;
    if (isJsonObject(payload)) return { status, payload };
    throw new FacilitatorUnavailableError(`${endpoint.host} answered ${path} with something else`);
  };
  const about = (paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements) => ({
    x402Version: paymentPayload.x402Version,
    paymentPayload,
    paymentRequirements,
  });
  /** Its texts end up in our log, where the key of its address must not. */
  const word = (text: unknown) => (typeof text === "string" ? endpoint.redact(text) : undefined);
  const noWord = ({ status }: JsonExchangeResponse, path: string) =>
    new FacilitatorUnavailableError(`${endpoint.host} answered ${path} with status ${status} and no verdict`);

  return {
    async verify(payload, terms) {
      const reply = await ask("/verify", about(payload, terms));
      const { isValid, invalidReason } = reply.payload;
      if (typeof isValid !== "boolean") throw noWord(reply, "/verify");
      const reason = word(invalidReason);
      const verdict = { isValid, ...(reason === undefined ? {} : { invalidReason: reason }) };
      if (isOk(reply)) return verdict;
      throw new VerifyError(reply.status, verdict);
    },
    async settle(payload, terms) {
      const reply = await ask("/settle", about(payload, terms));
      const { success, transaction, errorReason } = reply.payload;
      if (typeof success !== "boolean") throw noWord(reply, "/settle");
      const reason = word(errorReason);
      const outcome = {
        success,
        transaction: word(transaction) ?? "",
        network: terms.network,
        ...(reason === undefined ? {} : { errorReason: reason }),
      };
      if (isOk(reply)) return outcome;
      throw new SettleError(reply.status, outcome);
    },
    async getSupported() {
      const reply = await ask("/supported");
      if (isOk(reply) && Array.isArray(reply.payload.kinds)) return reply.payload as SupportedResponse;
      throw noWord(reply, "/supported");
    },
  };
}

function isOk({ status }: JsonExchangeResponse): boolean {
  return status >= 200 && status < 300;
}
