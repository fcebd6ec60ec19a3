// A service that sells one stored response by channel, ours or that of the x402 library, and gives it away alongside.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { localAccount } from "@sextant/local-chain/accounts";
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from "@x402/core/http";
import { type FacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { BatchSettlementEvmScheme as FacilitatorScheme } from "@x402/evm/batch-settlement/facilitator";
import { BatchSettlementEvmScheme as ServerScheme } from "@x402/evm/batch-settlement/server";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { localChain } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { channelAuthorizer } from "../../src/payments/channels/configured-channels.ts";
import { serveForParent } from "../api/cpu-time.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { openBenchGate } from "./bench-gate.ts";
import type { PaymentChainReady } from "./paid-chain-child.ts";

export type ChannelServiceTask = BenchDatabaseTarget & {
  readonly chain: PaymentChainReady;
  readonly kind: "ours" | "stock";
  readonly price: string;
  readonly minDeposit: string;
};

const { chain, kind, price, minDeposit, ...place } = JSON.parse(process.argv[2] ?? "") as ChannelServiceTask;
const signerKey = localAccount(21).privateKey;
const network = `eip155:${chain.chainId}` as const;
// As large as a snapshot of a few tokens.
const BODY = Buffer.from(JSON.stringify({ snapshot: "x".repeat(4_000) }));
const HEADERS = { "content-type": "application/json", "content-length": String(BODY.length) };

const RECONCILE_MS = 5_000;

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function openOurs(): Promise<Serve> {
  const database = await openBenchDatabase(place);
  const rpc = createRpc({
    urls: [new Secret(chain.url)],
    chainId: chain.chainId,
    log: benchLog,
    onCall: null,
  });
  const authorizer = channelAuthorizer(new Secret(signerKey));
  const gate = await openBenchGate(chain, {
    ...{ rpc, database, amount: BigInt(price), finality: localChain },
    channels: { authorizer, minDeposit: BigInt(minDeposit) },
  });
  // As the service does, which pays for it.
  setInterval(() => void gate.reconcile().catch(() => undefined), RECONCILE_MS).unref();
  const resource = { method: "GET", path: "/paid", query: {} };
  return async (request, response) => {
    const signature = request.headers["payment-signature"];
    const paid = await gate.serve(
      { resource, signature: typeof signature === "string" ? signature : undefined, client: "bench" },
      async () => ({ status: 200, body: BODY, headers: { "content-type": "application/json" } }),
    );
    const body = paid.body instanceof Uint8Array ? paid.body : JSON.stringify(paid.body);
    response.writeHead(paid.status, paid.headers).end(body);
  };
}

async function openStock(): Promise<Serve> {
  const authorizer = privateKeyToAccount(signerKey);
  const account = privateKeyToAccount(chain.facilitatorKey);
  const node = createWalletClient({
    account,
    chain: foundry,
    transport: http(chain.url),
    pollingInterval: 20,
  }).extend(publicActions);
  const scheme = new FacilitatorScheme(
    toFacilitatorEvmSigner({
      address: account.address,
      readContract: (args) => node.readContract(args as never),
      verifyTypedData: (args) => node.verifyTypedData(args as never),
      writeContract: (args) => node.writeContract(args as never),
      sendTransaction: (args) => node.sendTransaction(args),
      waitForTransactionReceipt: (args) => node.waitForTransactionReceipt(args),
      getCode: (args) => node.getCode(args),
    }),
  );
  const facilitator: FacilitatorClient = {
    verify: (payload, terms) => scheme.verify(payload, terms),
    settle: (payload, terms) => scheme.settle(payload, terms),
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: "batch-settlement", network }],
      extensions: [],
      signers: {},
    }),
  };
  const receiver = new ServerScheme(chain.payTo, {
    receiverAuthorizerSigner: authorizer,
    withdrawDelay: 900,
  });
  const payments = new x402ResourceServer(facilitator).register(network, receiver);
  await payments.initialize();
  const extra = { name: "USD Coin", version: "2", minDeposit };
  const accepts = await payments.buildPaymentRequirements({
    ...{ scheme: "batch-settlement", network, payTo: chain.payTo },
    price: { asset: chain.asset, amount: price, extra },
  });
  const requirePayment = async (response: ServerResponse, reason: string) => {
    const required = await payments.createPaymentRequiredResponse(
      accepts,
      { url: "http://sold/paid" },
      reason,
    );
    response.writeHead(402, { "PAYMENT-REQUIRED": encodePaymentRequiredHeader(required) }).end(reason);
  };
  return async (request, response) => {
    const header = request.headers["payment-signature"];
    if (typeof header !== "string") return requirePayment(response, "Payment required.");
    const payment = decodePaymentSignatureHeader(header);
    const terms = payments.findMatchingRequirements(accepts, payment);
    if (!terms) return requirePayment(response, "The payment is for other terms.");
    const verified = await payments.verifyPayment(payment, terms);
    if (!verified.isValid) return requirePayment(response, verified.invalidReason ?? "invalid");
    const settled = await payments.settlePayment(payment, terms);
    if (!settled.success) return requirePayment(response, settled.errorReason ?? "failed");
    response
      .writeHead(200, { ...HEADERS, "PAYMENT-RESPONSE": encodePaymentResponseHeader(settled) })
      .end(BODY);
  };
}

const serve = kind === "ours" ? await openOurs() : await openStock();
await serveForParent(
  createServer((request, response) => {
    if (request.url === "/free") response.writeHead(200, HEADERS).end(BODY);
    else serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  }),
);
// Connections to the database would keep it alive.
process.stdin.on("end", () => process.exit(0));
