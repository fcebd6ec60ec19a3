// A paid server alongside a local run: `npm start -- --payee $PAY_TO`, then `PAY_TO=0x… npx tsx examples/paid-server.ts`.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from "@x402/core/http";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";

const { PAY_TO = "", PORT = "3005", FACILITATOR_URL = "http://127.0.0.1:3004" } = process.env;
if (PAY_TO === "")
  throw new Error("Set PAY_TO to the address that is paid, and give it to npm start: -- --payee.");
const network = "eip155:31337";
// One cent of the USDC of a local run.
const price = {
  asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
  amount: "10000",
  extra: { name: "USD Coin", version: "2" },
};

const facilitator = new HTTPFacilitatorClient({ url: FACILITATOR_URL });
const payments = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
await payments.initialize();
const accepts = await payments.buildPaymentRequirements({ scheme: "exact", network, payTo: PAY_TO, price });

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const requirePayment = async (reason: string) => {
    const resource = { url: `http://${request.headers.host}${request.url}` };
    const required = await payments.createPaymentRequiredResponse(accepts, resource, reason);
    response.writeHead(402, { "PAYMENT-REQUIRED": encodePaymentRequiredHeader(required) });
    response.end(JSON.stringify({ error: reason }));
  };
  const header = request.headers["payment-signature"];
  if (typeof header !== "string") return requirePayment("Payment required.");
  const payment = decodePaymentSignatureHeader(header);
  const terms = payments.findMatchingRequirements(accepts, payment);
  if (!terms) return requirePayment("The payment is for other terms.");
  const verified = await payments.verifyPayment(payment, terms);
  if (!verified.isValid) {
    return requirePayment(verified.invalidMessage ?? verified.invalidReason ?? "The payment is invalid.");
  }
  const settled = await payments.settlePayment(payment, terms);
  if (!settled.success) {
    return requirePayment(settled.errorMessage ?? settled.errorReason ?? "The payment failed.");
  }
  response.writeHead(200, { "PAYMENT-RESPONSE": encodePaymentResponseHeader(settled) });
  response.end(JSON.stringify({ greeting: "Thank you for the cent." }));
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(Number(PORT), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`listening on port ${port}`);
  console.log(
    `next: curl -i http://127.0.0.1:${port}/greeting shows the terms; the client of docs/client.md pays them`,
  );
});
