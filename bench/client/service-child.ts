// The least that a client can talk to: one record, and a snapshot for any payment, at once and without looking.
import { createServer } from "node:http";
import { serveForParent } from "../api/cpu-time.ts";

/** Terms that nothing can settle: only the client's own part is measured. */
const TERMS = {
  scheme: "exact",
  network: "eip155:31337",
  amount: "1",
  maxTimeoutSeconds: 60,
  asset: `0x${"a5".repeat(20)}`,
  payTo: `0x${"b0".repeat(20)}`,
  extra: { name: "USD Coin", version: "2" },
};
const REQUIRED = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [TERMS] })).toString("base64");
const RECEIPT = Buffer.from(JSON.stringify({ success: true, transaction: `0x${"cd".repeat(32)}` })).toString(
  "base64",
);
const RECORD = JSON.stringify({
  agent_id: "1",
  owner: `0x${"11".repeat(20)}`,
  metadata_uri: "x".repeat(200),
});

const server = createServer((request, response) => {
  if (request.url?.startsWith("/portfolio") && request.headers["payment-signature"] === undefined) {
    return response.writeHead(402, { "payment-required": REQUIRED }).end("{}");
  }
  response.writeHead(200, { "content-type": "application/json", "payment-response": RECEIPT }).end(RECORD);
});
await serveForParent(server);
