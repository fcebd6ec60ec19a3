// Gives each payment a name that is nowhere on the chain: its signature alone then opens nothing that it bought.
import type { ClientExtension } from "@x402/core/client";
import { appendPaymentIdentifierToExtensions, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";

export const paymentIdentifierExtension: ClientExtension = {
  key: PAYMENT_IDENTIFIER,
  async enrichPaymentPayload(payload, { extensions = {} }) {
    // Leaves it alone where the service knows no names.
    return { ...payload, extensions: appendPaymentIdentifierToExtensions(structuredClone(extensions)) };
  },
};
