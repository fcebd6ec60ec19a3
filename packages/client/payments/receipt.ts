// The receipt of a payment, as the service states it in PAYMENT-RESPONSE.
import { decodeHeader } from "./x402-header.ts";

export interface PaymentReceipt {
  /** Id of the payment in the journal. */
  readonly payment: string;
  /** The hash of the transfer or of the deposit; null if the service names none. */
  readonly transaction: string | null;
  /** The channel that it was paid by; null for a transfer. */
  readonly channel: string | null;
  readonly network: string;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  /** Smallest units; 0 for a call within the quota of free calls. */
  readonly amount: bigint;
}

const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/** Only what identifies the transfer is taken from the service; the rest is what was signed. */
export function readTransaction(header: string | null): string | null {
  if (header === null) return null;
  const { transaction } = decodeHeader(header, "PAYMENT-RESPONSE");
  return typeof transaction === "string" && TRANSACTION.test(transaction) ? transaction.toLowerCase() : null;
}
