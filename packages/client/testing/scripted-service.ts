// A service that responds as a test says: hostile, broken, or with a certain error.
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Payer } from "../payments/authorization.ts";

export const TERMS = {
  scheme: "exact",
  network: "eip155:31337",
  amount: "10000",
  asset: `0x${"a5".repeat(20)}`,
  payTo: `0x${"b0".repeat(20)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" },
} as const;

/** Allows exactly the terms above. */
export const GUARD = { network: TERMS.network, asset: TERMS.asset, payees: [TERMS.payTo] } as const;

export function encode(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
}

export function requirePayment(response: ServerResponse, accepts: unknown = [TERMS]): void {
  const header = encode({ x402Version: 2, error: "Payment required", resource: { url: "/" }, accepts });
  response.writeHead(402, { "payment-required": header, "x-error-code": "PAYMENT_REQUIRED" }).end("{}");
}

export type ScriptedService = {
  readonly url: string;
  /** PAYMENT-SIGNATURE of every paid request, in order. */
  readonly received: readonly string[];
  /** To a request without a payment; the terms above unless set. */
  onUnpaid: RequestListener;
  onPaid: RequestListener;
  stop(): Promise<void>;
};

export async function startScriptedService(): Promise<ScriptedService> {
  const received: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const signature = request.headers["payment-signature"];
    if (signature === undefined) return service.onUnpaid(request, response);
    received.push(String(signature));
    service.onPaid(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const service: ScriptedService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    onUnpaid: (_, response) => requirePayment(response),
    onPaid: (_, response) => response.end("{}"),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return service;
}

/** A payer that counts what it signs. */
export function createCountingPayer(): Payer & { signed: number } {
  const account: PrivateKeyAccount = privateKeyToAccount(`0x${"11".repeat(32)}`);
  const payer = {
    address: account.address,
    signed: 0,
    signTypedData: (data: Parameters<Payer["signTypedData"]>[0]) => {
      payer.signed += 1;
      return account.signTypedData(data);
    },
  };
  return payer;
}
