// The OpenAPI documents of all services, built from their declarations alone: no database, no node, no network.

import { createDeploymentsEndpoint, DeploymentStates } from "../../src/api/deployments/endpoint.ts";
import { describeApi } from "../../src/api/describe.ts";
import { createEventsEndpoint } from "../../src/api/events/endpoint.ts";
import { createIntegrityEndpoint } from "../../src/api/integrity/endpoint.ts";
import type { ApiSale } from "../../src/api/sale/open-sale.ts";
import { StoredBytes } from "../../src/api/sale/stored-bytes.ts";
import { createApiMcpEndpoint } from "../../src/api/tools.ts";
import { createWriteEndpoints, writeReads } from "../../src/api/write-service.ts";
import {
  createSignedWriteAuthority,
  openWriteAuthority,
  type WriteAuthority,
} from "../../src/api/writes/authority.ts";
import { unavailableAccountReads } from "../../src/api/writes/verify-signature.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { createLog } from "../../src/lib/log.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createFacilitatorEndpoints } from "../../src/payments/facilitator/endpoints.ts";
import { buildFacilitatorDocument } from "../../src/payments/facilitator/server.ts";
import { ChallengeIssuer } from "../../src/payments/mpp/challenges.ts";
import type { PaymentOffer } from "../../src/payments/paywall/offer.ts";
import { createPaidEndpoint } from "../../src/portfolio/http/endpoint.ts";
import { createPortfolioOffering, describeOffer } from "../../src/portfolio/http/offering.ts";
import type { RouteServices } from "../../src/portfolio/http/routes/paid-route.ts";
import { PAID_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import { buildPortfolioDocument } from "../../src/portfolio/http/serve.ts";
import { createPortfolioMcpEndpoint } from "../../src/portfolio/http/tools.ts";
import { DEFAULT_CHAINS } from "../../src/portfolio/query.ts";
import { createPreflightEndpoint } from "../../src/protocol/preflight/endpoint.ts";
import { indexReads } from "../../src/protocol/reads.ts";

const ADDRESS = `0x${"11".repeat(20)}` as const;
const ORIGIN = "https://sextant.example";

/** Descriptions call nothing that serves a request. */
const unused = () => {
  throw new Error("a description must not serve requests");
};

/** The documents by service; the indexing API in both write modes, which differ in headers and security. */
export function buildServiceDocuments(): Readonly<Record<string, OpenApiDocument>> {
  const signed = createSignedWriteAuthority({
    domain: { chainId: 31_337, intentBook: ADDRESS },
    audience: () => ORIGIN,
    reads: unavailableAccountReads,
  });
  return {
    "indexing API": buildApiDocument(openWriteAuthority),
    "indexing API with signed writes": buildApiDocument(signed),
    "indexing API that sells reads": buildApiDocument(openWriteAuthority, describeSale()),
    "portfolio service": describePortfolio(),
    facilitator: describeFacilitator(),
  };
}

function buildApiDocument(authority: WriteAuthority, sale?: ApiSale): OpenApiDocument {
  const store = { write: unused, run: unused };
  const endpoints = [
    createPreflightEndpoint({ run: unused }),
    createIntegrityEndpoint({ run: unused }),
    createDeploymentsEndpoint(new DeploymentStates([])),
    createEventsEndpoint({ readEvents: unused, streams: { reserve: unused, open: unused } }),
    ...createWriteEndpoints({ store, authority, publicBaseUrl: () => ORIGIN, webhooks: null }),
  ];
  const reads = [...indexReads, ...writeReads];
  const described = [...endpoints, createApiMcpEndpoint(reads, endpoints, unused)];
  return describeApi(reads, described, "", sale ? { sale } : {}).buildDocument();
}

const TOKEN = {
  network: "eip155:8453",
  asset: ADDRESS,
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  payTo: ADDRESS,
  maxTimeoutSeconds: 60,
  resourceOrigin: ORIGIN,
  channels: { receiverAuthorizer: ADDRESS, withdrawDelay: 900, minDeposit: 100_000n, freeCallsPerHour: 10 },
} as const;

function describeSale(): ApiSale {
  const sell = (amount: bigint) => {
    const described = { description: "A read.", mimeType: "application/json", listing: null };
    return { offer: { ...TOKEN, ...described, amount }, challenge: unused, serve: unused };
  };
  const stored = new StoredBytes({ bytesMax: 0, bodyBytesMax: 0, storedMs: 0 });
  return { priceUsd: "0.00025", read: sell(250n), download: sell(2_500n), stored };
}

function describePortfolio(): OpenApiDocument {
  const token: Omit<PaymentOffer, keyof ReturnType<typeof describeOffer>> = {
    // With all that an operator can turn on.
    mpp: new ChallengeIssuer(new Secret<Hex>(`0x${"00".repeat(32)}`)),
    ...TOKEN,
    amount: 10_000n,
  };
  const sold = PAID_ROUTES.map((declaration) => ({
    declaration,
    sale: { offer: { ...token, ...describeOffer(declaration) }, challenge: unused, serve: unused },
  }));
  const offering = createPortfolioOffering(sold, 0);
  const services = {} as RouteServices;
  const endpoints = sold.map((route) =>
    createPaidEndpoint({ sold: route, served: DEFAULT_CHAINS, services, page: null }),
  );
  const mcp = createPortfolioMcpEndpoint(sold, endpoints, { devBypass: false, sendFor: unused });
  return buildPortfolioDocument({ offering, sold, endpoints, mcp });
}

function describeFacilitator(): OpenApiDocument {
  const endpoints = createFacilitatorEndpoints({
    facilitator: { verify: unused, settle: unused, findSettled: unused, getSupported: unused },
    rules: {
      network: "eip155:8453",
      asset: ADDRESS,
      assetName: "USD Coin",
      assetVersion: "2",
      amountMin: 1n,
      payees: null,
    },
    log: createLog({ level: "silent", terminal: false, name: "describe" }),
  });
  return buildFacilitatorDocument(endpoints);
}
