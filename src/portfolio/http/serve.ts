// Assembles the portfolio service: the snapshot reader behind the paywall, its routes and the payment reconciliation.
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { findChainById } from "../../chain/chains/chains.ts";
import { siteFiles } from "../../http/icon.ts";
import { buildOpenApiDocument, type OpenApiDocument } from "../../http/openapi/document.ts";
import {
  describeDocumentRoute,
  describeEndpoint,
  describeServiceRoute,
  serviceRoutes,
} from "../../http/openapi/route-description.ts";
import { addUnknownPage, type SignResponse } from "../../http/response.ts";
import { addOpenApiRoutes, addStaticDocument } from "../../http/routes/documents.ts";
import { addEndpointRoutes } from "../../http/routes/endpoints.ts";
import { addKeyRoutes, keyRoutes } from "../../http/signing/key-routes.ts";
import { ResponseSigner } from "../../http/signing/response-signer.ts";
import type { SigningKeys } from "../../http/signing/signing-keys.ts";
import { addMetricsRoute } from "../../http/status-routes.ts";
import { type Caip2Network, chainIdOfNetwork } from "../../lib/caip2.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { createRouteSender } from "../../mcp/endpoint.ts";
import type { Gate } from "../../payments/paywall/gate.ts";
import { startReconciling } from "../../payments/watch-payments.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { titledRecord } from "../../schema/json-schema.ts";
import { flag, text } from "../../schema/portfolio/values.ts";
import { renderGuidance } from "../../web/llms.ts";
import { commonTermsOf, type Offering, validateOffering } from "../../web/offering.ts";
import { prefersHtml } from "../../web/page.ts";
import { type PaymentPageChain, renderPayPage } from "../../web/pay-page.ts";
import { findPayPage } from "../../web/pay-pages.ts";
import { renderUnknownPage } from "../../web/unknown-page.ts";
import { SnapshotCoalescer } from "../coalesce-snapshots.ts";
import type { CrossCheckSource } from "../cross-check/cross-check.ts";
import type { StoredSnapshots } from "../diff/figures.ts";
import { createFreeReads } from "../free-reads.ts";
import { createNameResolver } from "../names/name-resolver.ts";
import { ResponseProver } from "../proofs/prove-response.ts";
import { selectDefaultChains } from "../query.ts";
import { limitReads, ReadLoad } from "../read-load.ts";
import { createSnapshotReader } from "../snapshot.ts";
import type { HoldingsProvider, PortfolioChain, PositionReader, PriceSource } from "../types.ts";
import { createPortfolioDocuments } from "./documents.ts";
import { createPaidEndpoint } from "./endpoint.ts";
import { createPortfolioOffering, type SoldRoute } from "./offering.ts";
import { createResourcesEndpoint } from "./resources-endpoint.ts";
import type { RouteServices } from "./routes/paid-route.ts";
import { createPortfolioMcpEndpoint } from "./tools.ts";

type PortfolioServiceOptions = {
  /** In the order in which responses list them. */
  readonly chains: readonly PortfolioChain[];
  readonly provider: HoldingsProvider;
  readonly priceSources: readonly (readonly PriceSource[])[];
  readonly positionReaders: readonly PositionReader[];
  /** Absent if sold snapshots are not stored. */
  readonly storedSnapshots?: StoredSnapshots;
  /** A second source that every snapshot is compared with. */
  readonly crossCheck?: CrossCheckSource | null;
  /** The routes that are sold, or served without payment for development. */
  readonly sold: readonly SoldRoute[];
  /** Null without payments. */
  readonly reconcile: Gate["reconcile"] | null;
  readonly devBypass: boolean;
  /** A node of the payment chain that browser wallets may use; absent if wallets know the chain. */
  readonly paymentRpcUrl?: string;
  /** Sign responses; absent if nothing is signed. */
  readonly signingKeys?: SigningKeys | undefined;
  readonly registry: Registry;
  readonly log: Log;
};

/** Adds the routes; `close` stops the background reconciliation. */
export function servePortfolio(
  app: FastifyInstance,
  options: PortfolioServiceOptions,
): { close(): Promise<void> } {
  const { sold, reconcile, devBypass, signingKeys, registry, log } = options;
  const chains = new Map(options.chains.map((access) => [access.chain.slug, access]));
  const { provider, priceSources, positionReaders } = options;
  const read = { provider, priceSources, positionReaders, chains, clock: systemClock };
  const reader = createSnapshotReader({ ...options, ...read });
  const load = new ReadLoad(chains);
  const snapshots = new SnapshotCoalescer(limitReads(reader, load), { chains, clock: systemClock });
  const storedSnapshots = options.storedSnapshots ?? null;
  const freeReads = createFreeReads(systemClock);
  const prover = new ResponseProver(chains, systemClock);
  const names = createNameResolver({ chains, freeReads, clock: systemClock });
  const services: RouteServices = {
    ...read,
    ...{ snapshots, storedSnapshots, names, freeReads, load, prover, log },
  };
  const offering = createPortfolioOffering(sold, Date.now());
  const served = [...chains.keys()];
  const pageOf = createPageRenderers(offering, options);
  const isSigned = signingKeys !== undefined;
  const endpoints = sold.map((route) =>
    createPaidEndpoint({ sold: route, served, services, free: devBypass, page: pageOf(route), isSigned }),
  );
  addPortfolioRoutes(app, { offering, sold, endpoints, devBypass, signingKeys, registry });
  return reconcile ? startReconciling(reconcile, log) : { close: async () => undefined };
}

/** The pay page of each route that has one. */
function createPageRenderers(
  offering: Offering,
  options: Pick<PortfolioServiceOptions, "chains" | "paymentRpcUrl">,
) {
  const chains = options.chains.map(({ chain: { slug, name, explorerTxUrl } }) => ({
    slug,
    name,
    explorerTxUrl,
  }));
  const defaultChains = selectDefaultChains(chains.map(({ slug }) => slug));
  return ({ declaration: { path }, sale: { offer } }: SoldRoute) => {
    const route = offering.routes.find((each) => each.path === path);
    if (route === undefined || findPayPage(path) === null) return null;
    const paymentChain = describePaymentChain(offer.network, options.paymentRpcUrl);
    return () => renderPayPage({ offering, route, chains, defaultChains, paymentChain });
  };
}

function describePaymentChain(network: Caip2Network, rpcUrl: string | undefined): PaymentPageChain {
  const info = findChainById(chainIdOfNetwork(network));
  const walletRpcUrl = rpcUrl ?? info?.publicRpcUrl ?? null;
  return {
    slug: info?.slug ?? "",
    name: info?.name ?? network,
    explorerTxUrl: info?.explorerTxUrl ?? null,
    wallet:
      info === null || walletRpcUrl === null ? null : { nativeCurrency: info.native, rpcUrl: walletRpcUrl },
  };
}

type PortfolioRoutesOptions = {
  readonly offering: Offering;
  readonly sold: readonly SoldRoute[];
  /** The offers of the sold routes, in the same order. */
  readonly endpoints: readonly Endpoint[];
  /** Whether requests are served without payment, for development. */
  readonly devBypass: boolean;
  readonly signingKeys?: SigningKeys | undefined;
  readonly registry: Registry;
};

// The API version that the specification names, independent of the version of Sextant.
const API_VERSION = "1.0.0";

/** The paid routes, their documents, health and metrics. */
export function addPortfolioRoutes(app: FastifyInstance, options: PortfolioRoutesOptions): void {
  const { sold, endpoints, devBypass, signingKeys, registry } = options;
  const offering = validateOffering(options.offering);
  const documents = createPortfolioDocuments(offering, sold, endpoints);
  const resources = createResourcesEndpoint(offering);
  const mcp = createPortfolioMcpEndpoint(sold, endpoints, { devBypass, sendFor: createRouteSender(app) });
  const sign = signingKeys && signPaid(endpoints, signingKeys, offering);
  addEndpointRoutes(app, [...endpoints, resources, mcp], { sign });
  app.signError = sign ?? null;
  if (signingKeys) addKeyRoutes(app, signingKeys, () => offering.origin);
  for (const { path, render } of [...documents, ...siteFiles]) addStaticDocument(app, path, render);
  app.get("/health", async () => ({
    ok: true,
    service: "portfolio",
    name: "Sextant",
    x402DevBypass: devBypass,
  }));
  addMetricsRoute(app, registry);
  addOpenApiRoutes(app, () =>
    buildPortfolioDocument({ offering, sold, endpoints, mcp, isSigned: signingKeys !== undefined }),
  );
  addUnknownPage(app, prefersHtml, () => renderUnknownPage(offering));
}

/** Signs what the paid routes respond. */
function signPaid(endpoints: readonly Endpoint[], keys: SigningKeys, offering: Offering): SignResponse {
  const paths = new Set(endpoints.map(({ path }) => path));
  const signer = new ResponseSigner({ keys, publicUrl: () => offering.origin });
  return (response, request) => (paths.has(response.route) ? signer.sign(response, request) : response);
}

const health = describeServiceRoute({
  path: "/health",
  operationId: "getHealth",
  summary: "Whether the process is running",
  description: "Responds as long as the process runs, and says whether snapshots are served without payment.",
  type: "application/json",
  schema: titledRecord("Health", { ok: flag, service: text, name: text, x402DevBypass: flag }),
});

export function buildPortfolioDocument({
  offering,
  sold,
  endpoints,
  mcp,
  isSigned = false,
}: Pick<PortfolioRoutesOptions, "offering" | "sold" | "endpoints"> & {
  readonly mcp: Endpoint;
  readonly isSigned?: boolean;
}): OpenApiDocument {
  const { network, asset, payTo } = commonTermsOf(offering);
  return buildOpenApiDocument({
    samples: {
      variable: "SEXTANT_PORTFOLIO_URL",
      fallback: "http://127.0.0.1:3002",
      client: { option: "portfolio", guard: { network, asset, payees: [payTo] } },
    },
    info: {
      title: offering.name,
      version: API_VERSION,
      description: offering.description,
      contact: {
        name: `Operator of this ${offering.name}`,
        // A getter: without a configured URL it is the listen address, which is only known later.
        get url() {
          return `${offering.origin}/`;
        },
      },
      "x-guidance": renderGuidance(offering),
    },
    routes: [
      ...endpoints.map((endpoint) => describeEndpoint(endpoint)),
      describeEndpoint(createResourcesEndpoint(offering)),
      describeEndpoint(mcp),
      ...createPortfolioDocuments(offering, sold, endpoints).map(
        ({ path, operationId, title, description, type, schema }) =>
          describeDocumentRoute({ path, operationId, summary: title, description, type, schema }),
      ),
      health,
      ...serviceRoutes.filter(({ path }) => path !== "/health"),
      ...(isSigned ? keyRoutes : []),
    ],
    tags: { Portfolio: "Holdings of wallets and what can be taken from them, paid per request with x402." },
  });
}
