// One snapshot, paid for by a stock x402 client that may spend so much and no more; a signature is never made twice.
import type { ClientExtension } from "@x402/core/client";
import type { SettleResponse } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { appendPaymentIdentifierToExtensions, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { type Decimal, formatAmount, formatDecimal, roundDecimal } from "../../src/lib/decimal.ts";
import { FAULTS, Fault, type FaultCode } from "../../src/lib/fault.ts";
import type { PortfolioSnapshot } from "../../src/portfolio/snapshot-types.ts";
import type { PayArguments } from "./pay-arguments.ts";
import type { Payer } from "./payer.ts";
import { createRetryingFetch } from "./retrying-fetch.ts";

// Gives each payment a name that is nowhere on the chain: its signature alone then opens nothing that it bought.

const paymentIdentifierExtension: ClientExtension = {
  key: PAYMENT_IDENTIFIER,
  async enrichPaymentPayload(payload, { extensions = {} }) {
    // Leaves it alone where the service knows no names.
    return { ...payload, extensions: appendPaymentIdentifierToExtensions(structuredClone(extensions)) };
  },
};

export type BoughtSnapshot = {
  readonly snapshot: PortfolioSnapshot;
  /** Null where the service required no payment. */
  readonly receipt: {
    readonly transaction: string;
    readonly network: string;
    readonly payer: string;
    /** Null where the service does not say it. */
    readonly paidUsd: string | null;
  } | null;
};

// Dollar tokens that are paid with have six decimals.
const TOKEN_DECIMALS = 6;
const WHATEVER_CHAIN = "eip155:*";

export async function payForSnapshot(
  options: Pick<PayArguments, "address" | "chains" | "maxUsd">,
  payer: Payer,
): Promise<BoughtSnapshot> {
  const url = new URL("/portfolio", payer.url);
  url.searchParams.set("address", options.address);
  if (options.chains !== null) url.searchParams.set("chains", options.chains);
  const response = await requestSnapshot(url, options.maxUsd, payer);
  const text = await response.text();
  if (response.status !== 200) throw toRejection(response, text);
  const header = response.headers.get("payment-response");
  return {
    snapshot: JSON.parse(text) as PortfolioSnapshot,
    receipt: header === null ? null : receiptOf(decodePaymentResponseHeader(header)),
  };
}

function receiptOf(settled: SettleResponse): NonNullable<BoughtSnapshot["receipt"]> {
  const { transaction, network, payer = "", amount } = settled;
  const paidUsd = amount === undefined ? null : formatAmount(BigInt(amount), TOKEN_DECIMALS);
  return { transaction, network, payer, paidUsd };
}

async function requestSnapshot(url: URL, maxUsd: Decimal, payer: Payer): Promise<Response> {
  const cap = roundDecimal(maxUsd, TOKEN_DECIMALS, "down").units.toString();
  const client = x402Client.fromConfig({
    schemes: [{ network: WHATEVER_CHAIN, client: new ExactEvmScheme(payer.account) }],
    spendControls: {
      maxAmountPerPayment: `$${formatDecimal(maxUsd)}`,
      allowedAssets: payer.token ? [{ ...payer.token, maxAmountPerPayment: cap }] : [],
    },
  });
  client.registerExtension(paymentIdentifierExtension);
  try {
    return await wrapFetchWithPayment(createRetryingFetch(fetch), client)(url, {
      headers: { accept: "application/json" },
    });
  } catch (cause) {
    throw clientFault(cause, url, maxUsd);
  }
}

/** The client explains itself to programmers; people get a sentence. */
function clientFault(cause: unknown, url: URL, maxUsd: Decimal): Fault {
  const message = cause instanceof Error ? cause.message : "";
  if (/maxAmountPerPayment/.test(message)) {
    const sentence = `The price is above --max-usd ${formatDecimal(maxUsd)}; nothing was signed.`;
    return new Fault("PAYMENT_REQUIRED", sentence, { cause });
  }
  if (/spendControls/.test(message)) {
    const sentence = "The service wants a token that this command does not know; nothing was signed.";
    return new Fault("PAYMENT_REQUIRED", sentence, { cause });
  }
  if (/payment/i.test(message)) {
    return new Fault("PAYMENT_REQUIRED", "This command cannot meet the terms of the service.", {
      cause,
    });
  }
  return new Fault("NODE_UNAVAILABLE", `No response from ${url.origin}; is the service running?`, {
    cause,
  });
}

function toRejection(response: Response, text: string): Fault {
  const given = response.headers.get("x-error-code") ?? "";
  const code = (
    given in FAULTS ? given : response.status === 402 ? "PAYMENT_REQUIRED" : "INTERNAL"
  ) as FaultCode;
  return new Fault(code, sentenceIn(text) ?? `The service returned ${response.status}.`);
}

function sentenceIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : null;
  } catch {
    return null;
  }
}
