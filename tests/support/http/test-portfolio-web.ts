// The portfolio service's outside over a gate and a snapshot that tests decide, listening on a port the system chose.

import { Registry } from "prom-client";
import { createHttpServer } from "../../../src/http/server.ts";
import type { SigningKeys } from "../../../src/http/signing/signing-keys.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import type { Sale } from "../../../src/payments/paywall/gate.ts";
import type { PaidResource } from "../../../src/payments/paywall/offer.ts";
import {
  encodeX402Header,
  type PaymentOffer,
  paymentRequiredResponse,
  priceOffer,
} from "../../../src/payments/paywall/offer.ts";
import type { StoredSnapshots } from "../../../src/portfolio/diff/figures.ts";
import { createFreeReads } from "../../../src/portfolio/free-reads.ts";
import { createPaidEndpoint } from "../../../src/portfolio/http/endpoint.ts";
import {
  createPortfolioOffering,
  describeOffer,
  type SoldRoute,
} from "../../../src/portfolio/http/offering.ts";
import type { PaidRouteDeclaration, RouteServices } from "../../../src/portfolio/http/routes/paid-route.ts";
import { portfolioRoute } from "../../../src/portfolio/http/routes/portfolio.ts";
import { addPortfolioRoutes } from "../../../src/portfolio/http/serve.ts";
import type { NameResolver } from "../../../src/portfolio/names/name-resolver.ts";
import { ResponseProver } from "../../../src/portfolio/proofs/prove-response.ts";
import { ReadLoad } from "../../../src/portfolio/read-load.ts";
import type { SnapshotReader } from "../../../src/portfolio/snapshot.ts";
import type { PortfolioChain } from "../../../src/portfolio/types.ts";
import type { EndpointResponse } from "../../../src/schema/endpoint.ts";
import { exampleSnapshot } from "../../../src/schema/portfolio/examples.ts";
import { type PayPageChain, renderPayPage } from "../../../src/web/pay-page.ts";
import { silentLog } from "../quiet-log.ts";
import { NO_LIMITS } from "./no-limits.ts";

export const TEST_OFFER: PaymentOffer = {
  network: "eip155:31337",
  asset: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  payTo: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  description: "A snapshot of a wallet.",
  mimeType: "application/json",
  resourceOrigin: "https://sextant.example",
  listing: describeOffer(portfolioRoute).listing,
};

export const TEST_TRANSACTION = `0x${"c0".repeat(32)}`;
const SLUGS = ["base", "ethereum", "arbitrum", "optimism", "polygon"];

const pageChains: readonly PayPageChain[] = SLUGS.map((slug) => ({
  slug,
  name: slug.replace(/^./, (letter) => letter.toUpperCase()),
  explorerTxUrl: `https://${slug}.explorer.example/tx/{hash}`,
}));

type ReceivedPayment = { readonly resource: PaidResource; readonly signature: string };

export type TestPortfolioWeb = {
  readonly url: string;
  /** Every request with a payment, in order. */
  readonly paid: readonly ReceivedPayment[];
  close(): Promise<void>;
};

export type TestPortfolioWebOptions = {
  readonly offer?: PaymentOffer;
  readonly snapshots?: SnapshotReader;
  readonly storedSnapshots?: StoredSnapshots;
  readonly load?: ReadLoad;
  /** Leads every name to the wallet of the example unless given. */
  readonly names?: NameResolver;
  /** The block of every chain at a time; without it, no chain can be read. */
  readonly blockAt?: PortfolioChain["blockAt"];
  /** The routes on offer, at the same price; the snapshot alone unless given. */
  readonly declarations?: readonly PaidRouteDeclaration[];
  /** A real paywall instead of the one that accepts every payment. */
  readonly sale?: Sale;
  readonly devBypass?: boolean;
  readonly signingKeys?: SigningKeys;
  /** A node of the payment chain for wallets that do not know the chain. */
  readonly walletRpcUrl?: string;
  /** The response to a payment, given its number; null is the snapshot with its receipt. */
  readonly onPayment?: (paid: ReceivedPayment, count: number) => EndpointResponse | null;
};

/** Accepts every payment: verification has its own tests. */
export async function startTestPortfolioWeb(
  options: TestPortfolioWebOptions = {},
): Promise<TestPortfolioWeb> {
  const { offer = TEST_OFFER, devBypass = false, signingKeys, onPayment = () => null } = options;
  const snapshots = options.snapshots ?? ({ read: async () => exampleSnapshot } as unknown as SnapshotReader);
  const { names = { resolve: async (name: string) => ({ name, address: exampleSnapshot.address as Hex }) } } =
    options;
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 1_024,
    requestMsMax: 10_000,
    checkReadiness: async () => ({ ready: true }),
  });
  const paid: ReceivedPayment[] = [];
  const sale: Sale = options.sale ?? acceptAll(offer, { devBypass, paid, onPayment });
  const sold = (options.declarations ?? [portfolioRoute]).map((declaration) => ({ declaration, sale }));
  const offering = createPortfolioOffering(sold, Date.UTC(2026, 0, 1));
  const { walletRpcUrl, blockAt } = options;
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const wallet = walletRpcUrl === undefined ? null : { nativeCurrency, rpcUrl: walletRpcUrl };
  const paymentChain = { slug: "local", name: "Local chain", explorerTxUrl: null, wallet };
  const defaultChains = ["base", "ethereum"];
  const pageInput = { offering, chains: pageChains, defaultChains, paymentChain };
  const endpoints = offering.routes.map((route, index) =>
    createPaidEndpoint({
      sold: sold[index] as SoldRoute,
      served: SLUGS,
      services: {
        snapshots,
        names,
        chains: new Map(
          blockAt === undefined ? [] : SLUGS.map((slug) => [slug, { blockAt, canPin: () => true }]),
        ),
        freeReads: createFreeReads(systemClock),
        clock: systemClock,
        storedSnapshots: options.storedSnapshots ?? null,
        prover: new ResponseProver(new Map(), systemClock),
        load: options.load ?? new ReadLoad(new Map()),
      } as unknown as RouteServices,
      free: devBypass,
      page: () => renderPayPage({ ...pageInput, route }),
      isSigned: signingKeys !== undefined,
    }),
  );
  const registry = new Registry();
  addPortfolioRoutes(server.app, { offering, sold, endpoints, devBypass, signingKeys, registry });
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "PORTFOLIO_PORT" });
  return { url, paid, close: server.close };
}

type AcceptedPayments = {
  readonly devBypass: boolean;
  readonly paid: ReceivedPayment[];
  readonly onPayment: NonNullable<TestPortfolioWebOptions["onPayment"]>;
};

function acceptAll(offer: PaymentOffer, { devBypass, paid, onPayment }: AcceptedPayments): Sale {
  return {
    offer,
    challenge: (resource, reason = "Payment required.") =>
      paymentRequiredResponse(priceOffer(offer, resource), resource, reason),
    async serve({ resource, signature }, work) {
      if (devBypass) return work(new AbortController().signal);
      const priced = priceOffer(offer, resource);
      if (signature === undefined) return paymentRequiredResponse(priced, resource, "Payment is required.");
      paid.push({ resource, signature });
      const response = onPayment({ resource, signature }, paid.length);
      if (response !== null) return response;
      const receipt = {
        success: true,
        transaction: TEST_TRANSACTION,
        network: offer.network,
        payer: offer.payTo,
        amount: priced.amount.toString(),
      };
      return {
        ...(await work(new AbortController().signal)),
        headers: { "payment-response": encodeX402Header(receipt) },
      };
    },
  };
}
