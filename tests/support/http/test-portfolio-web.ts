// The portfolio service's outside over a gate and a snapshot that tests decide, listening on a port the system chose.
import { Registry } from "prom-client";
import { createServer } from "../../../src/http/server.ts";
import type { Gate } from "../../../src/payments/paywall/gate.ts";
import { challenge, encodeHeader, type Offer } from "../../../src/payments/paywall/offer.ts";
import type { Resource } from "../../../src/payments/paywall/resource.ts";
import { portfolioEndpoint } from "../../../src/portfolio/http/endpoint.ts";
import { portfolioOffering } from "../../../src/portfolio/http/offering.ts";
import { addPortfolioFaces } from "../../../src/portfolio/http/routes.ts";
import { portfolioQuery } from "../../../src/portfolio/query.ts";
import type { SnapshotTaker } from "../../../src/portfolio/snapshot.ts";
import type { EndpointAnswer } from "../../../src/schema/endpoint.ts";
import { exampleSnapshot } from "../../../src/web/example-snapshot.ts";
import { payPage, type ShownChain } from "../../../src/web/pay-page.ts";
import { quiet } from "../quiet-log.ts";

export const testOffer: Offer = {
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
};

export const TRANSACTION = `0x${"c0".repeat(32)}`;
const SLUGS = ["base", "ethereum", "arbitrum", "optimism", "polygon"];

const shownChains: readonly ShownChain[] = SLUGS.map((slug) => ({
  slug,
  name: slug.replace(/^./, (letter) => letter.toUpperCase()),
  explorerTxUrl: `https://${slug}.explorer.example/tx/{hash}`,
}));

export type Paid = { readonly resource: Resource; readonly signature: string };

export type TestFaces = {
  readonly url: string;
  /** Every request that came with a payment, in order. */
  readonly paid: readonly Paid[];
  close(): Promise<void>;
};

export type FacesOptions = {
  readonly offer?: Offer;
  readonly snapshots?: SnapshotTaker;
  /** A real one, in the place of the one that believes everybody. */
  readonly gate?: Pick<Gate, "challenge" | "serve">;
  readonly devBypass?: boolean;
  /** What a payment gets, given which one of them it is; null is the answer with its receipt. */
  readonly onPayment?: (paid: Paid, count: number) => EndpointAnswer | null;
};

/** Believes every payment: whether payments are good is the gate's business and tested there. */
export async function startTestFaces(options: FacesOptions = {}): Promise<TestFaces> {
  const { offer = testOffer, devBypass = false, onPayment = () => null } = options;
  const snapshots = options.snapshots ?? ({ take: async () => exampleSnapshot } as unknown as SnapshotTaker);
  const server = createServer({
    log: quiet,
    bodyBytesMax: 1_024,
    requestMsMax: 10_000,
    ready: async () => ({ ready: true }),
  });
  const offering = portfolioOffering(offer, Date.UTC(2026, 0, 1));
  const [route] = offering.routes;
  if (!route) throw new Error("There is nothing on offer.");
  const paid: Paid[] = [];
  const paidOn = { slug: "local", name: "Local chain", explorerTxUrl: null };
  const defaultChains = ["base", "ethereum"];
  const shown = { offering, route, chains: shownChains, defaultChains, paidOn };
  const endpoint = portfolioEndpoint({
    route,
    query: portfolioQuery(SLUGS),
    snapshots,
    free: devBypass,
    page: () => payPage(shown),
    gate: options.gate ?? {
      challenge: (resource, reason = "Payment required.") => challenge(offer, resource, reason),
      async serve({ resource, signature }, work) {
        if (devBypass) return work(new AbortController().signal);
        if (signature === undefined) return challenge(offer, resource, "Payment is required.");
        paid.push({ resource, signature });
        const answer = onPayment({ resource, signature }, paid.length);
        if (answer !== null) return answer;
        const receipt = {
          success: true,
          transaction: TRANSACTION,
          network: offer.network,
          payer: offer.payTo,
          amount: offer.amount.toString(),
        };
        return {
          ...(await work(new AbortController().signal)),
          headers: { "payment-response": encodeHeader(receipt) },
        };
      },
    },
  });
  addPortfolioFaces(server.app, { offering, endpoint, devBypass, registry: new Registry() });
  const url = await server.listen({ host: "127.0.0.1", port: 0, variable: "PORTFOLIO_PORT" });
  return { url, paid, close: server.close };
}
