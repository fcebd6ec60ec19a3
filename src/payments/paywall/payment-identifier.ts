// The payment-identifier extension: a name the client gives to a purchase, so that repeating it buys nothing twice.
import {
  PAYMENT_ID_MAX_LENGTH,
  PAYMENT_ID_MIN_LENGTH,
  PAYMENT_ID_PATTERN,
  PAYMENT_IDENTIFIER,
} from "@x402/extensions/payment-identifier";
import { Fault } from "../../lib/fault.ts";

/**
 * The identifier in a payment's extensions; null where there is none. The client also sends a schema along, which is
 * ours to ignore: to compile a stranger's schema is to run his program.
 */
export function parsePaymentIdentifier(extensions: unknown): string | null {
  const id = field(field(field(extensions, PAYMENT_IDENTIFIER), "info"), "id");
  if (id === undefined) return null;
  if (typeof id === "string" && PAYMENT_ID_PATTERN.test(id)) {
    if (id.length >= PAYMENT_ID_MIN_LENGTH && id.length <= PAYMENT_ID_MAX_LENGTH) return id;
  }
  throw new Fault(
    "INPUT_INVALID",
    `The payment identifier must have ${PAYMENT_ID_MIN_LENGTH} to ${PAYMENT_ID_MAX_LENGTH} letters, digits, hyphens or underscores.`,
  );
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
