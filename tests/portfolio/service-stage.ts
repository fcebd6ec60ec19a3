// The whole portfolio service in process: two market chains, a third chain for payments, and a database.

import { localAccount } from "@sextant/local-chain/accounts";
import { Registry } from "prom-client";
import { type Hex, numberToHex, type PrivateKeyAccount } from "viem";
import { createRpc } from "../../src/chain/rpc/client.ts";
import {
  channelSettings,
  facilitatorSettings,
  paymentSettings,
  paywallSettings,
} from "../../src/config/payment-settings.ts";
import { portfolioSettings } from "../../src/config/portfolio-settings.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLocalPositionReaders, type LocalMarket, startLocalMarkets } from "../../src/local/markets.ts";
import { countPaymentOutcomes } from "../../src/payments/watch-payments.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { openStoredSnapshots } from "../../src/portfolio/diff/figures.ts";
import { openPortfolioPaywall } from "../../src/portfolio/http/open-paywall.ts";
import type { PaidRouteDeclaration } from "../../src/portfolio/http/routes/paid-route.ts";
import { servePortfolio } from "../../src/portfolio/http/serve.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import type { PortfolioSnapshot } from "../../src/schema/portfolio/snapshot.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { openSnapshotTable } from "../../src/store/postgres/stored-snapshots.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { type FaultyNode, startFaultyNode } from "../support/nodes/faulty-node.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../support/nodes/node-faults.ts";
import type { PaidBackend } from "../support/payments/paid-backend.ts";
import { createPayingFetch } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

// Away from the accounts that pay.
const KEY_INDEX = 5_000;

type NodeFaultPlan = (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null;

/** A market behind a node with injected faults. */
export type StagedMarket = LocalMarket & { readonly node: FaultyNode; plan: NodeFaultPlan };

export type PortfolioService = {
  readonly url: string;
  /** Every registered route, as `GET /portfolio`. */
  readonly routes: readonly string[];
  close(): Promise<void>;
};

type ServiceProcessOptions = {
  readonly database?: Database;
  readonly bypass?: boolean;
  readonly requestMsMax?: number;
  /** Sold instead of all paid routes. */
  readonly routes?: readonly PaidRouteDeclaration[];
  /** Another process settles, instead of this one. */
  readonly facilitatorUrl?: string;
  /** Settings besides those of the stage. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Each chain is read from the node of the other, as with a wrong configuration. */
  readonly nodesMixedUp?: boolean;
};

export type ServiceStage = {
  readonly paid: PaidStage;
  readonly base: StagedMarket;
  readonly ethereum: StagedMarket;
  /** One process of the service. */
  serve(options?: ServiceProcessOptions): Promise<PortfolioService>;
  close(): Promise<void>;
};

// Short retries for fast tests; the tests of the client cover the pauses themselves.
const RPC_LIMITS = { attemptsMax: 3, pauseMsBase: 20, pauseMsMax: 60, requestTimeoutMs: 5_000 };
const LIES_MAX = 1_000_000;

export async function openServiceStage(backend?: PaidBackend): Promise<ServiceStage> {
  const [paid, markets] = await Promise.all([
    openPaidStage("in process", backend),
    startLocalMarkets(silentLog, null),
  ]);
  const staged = await Promise.all(markets.markets.map(stageMarket));
  const [base, ethereum] = staged;
  if (!base || !ethereum) throw new Error("there are two local markets");
  const closing: (() => Promise<unknown> | unknown)[] = [];

  const serve: ServiceStage["serve"] = async (options = {}) => {
    const service = await serveProcess(paid, staged, options);
    closing.push(service.close);
    return service;
  };

  return {
    paid,
    base,
    ethereum,
    serve,
    async close() {
      for (const close of closing) await close();
      await Promise.all(staged.map(({ node }) => node.stop()));
      await markets.stop();
      await paid.close();
    },
  };
}

async function serveProcess(
  paid: PaidStage,
  staged: readonly StagedMarket[],
  options: ServiceProcessOptions,
): Promise<PortfolioService> {
  const { database = paid.database, bypass = false, requestMsMax = 30_000, nodesMixedUp = false } = options;
  const environment = await environmentOf(paid, bypass, options.facilitatorUrl);
  const config = readConfig(
    { ...environment, ...options.environment },
    {
      ...paymentSettings,
      ...portfolioSettings,
      ...paywallSettings,
      ...channelSettings,
      ...facilitatorSettings,
    },
  );
  const registry = new Registry();
  let url = "";
  const paywall = await openPortfolioPaywall(config, {
    database,
    log: silentLog,
    onCall: null,
    count: countPaymentOutcomes(registry),
    listenUrl: () => url,
    ...(options.routes ? { routes: options.routes } : {}),
  });
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 262_144,
    requestMsMax,
    checkReadiness: async () => ({ ready: true }),
  });
  // The server adds this one itself.
  const routes: string[] = ["GET /ready"];
  server.app.addHook("onRoute", (route) => {
    routes.push(...[route.method].flat().map((each) => `${each} ${route.url}`));
  });
  const clients = openChainClients(staged, nodesMixedUp);
  const service = servePortfolio(server.app, {
    chains: clients.map(({ chain }) => chain),
    provider: rpcHoldingsProvider,
    priceSources: createPriceSources({
      feeds: new Map(staged.map(({ chainId, feeds }) => [chainId, feeds])),
      aaveMarkets: new Map(),
      spotMarkets: new Map(),
    }),
    positionReaders: createLocalPositionReaders(staged),
    storedSnapshots: openStoredSnapshots(openSnapshotTable(openRecordStore(database))),
    sold: paywall.sold,
    reconcile: paywall.reconcile,
    devBypass: paywall.devBypass,
    registry,
    log: silentLog,
  });
  url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "PORTFOLIO_PORT" });
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    await server.close();
    await service.close();
    await paywall.close();
    for (const { rpc } of clients) rpc.close();
  };
  return { url, routes, close };
}

/** Separate RPC clients per process, so that none is paused because of another process. */
function openChainClients(staged: readonly StagedMarket[], nodesMixedUp: boolean) {
  const nodes = staged.map(({ node }) => node);
  if (nodesMixedUp) nodes.reverse();
  return staged.map(({ chainId, access, ...own }, index) => {
    const node = nodes[index] ?? own.node;
    const rpc = createRpc({
      urls: [new Secret(node.url)],
      chainId,
      log: silentLog,
      onCall: null,
      limits: RPC_LIMITS,
    });
    return { rpc, chain: createChainAccess(rpc, access.chain) };
  });
}

async function stageMarket(market: LocalMarket): Promise<StagedMarket> {
  const node = await startFaultyNode({
    upstream: market.rpcUrl,
    plan: (_, calls) => staged.plan(calls),
    liesPerCall: LIES_MAX,
  });
  const staged: StagedMarket = { ...market, node, plan: () => null };
  return staged;
}

let keys = 0;

/** Processes that settle by themselves have a key each. */
async function fundNextKey(chain: PaidStage["chain"]): Promise<Hex> {
  const { address, privateKey } = localAccount(KEY_INDEX + keys++);
  await chain.request("hardhat_setBalance", [address, numberToHex(10n ** 18n)]);
  return privateKey;
}

async function environmentOf(
  { chain, asset, payTo }: PaidStage,
  bypass: boolean,
  facilitatorUrl: string | undefined,
): Promise<Record<string, string>> {
  return {
    PAYMENT_NETWORK: `eip155:${chain.chainId}`,
    PAYMENT_RPC_URL: chain.rpcUrl,
    PAYMENT_ASSET: asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
    PAY_TO: payTo,
    // Many payers who have never paid, all behind one address, and many failures.
    PORTFOLIO_UNPAID_PER_MINUTE: "0",
    ...(facilitatorUrl === undefined
      ? { FACILITATOR_PRIVATE_KEY: await fundNextKey(chain) }
      : { FACILITATOR_URL: facilitatorUrl }),
    ...(bypass ? { X402_DEV_BYPASS: "true" } : {}),
  };
}

/** A new payer with the public x402 client. */
export async function openPayingClient({ paid }: ServiceStage, dollars = 1n) {
  const account: PrivateKeyAccount = await paid.payer(dollars);
  const fetch = createPayingFetch(account, paid.asset);
  return {
    account,
    fetch,
    async snapshot(url: string, query: string): Promise<PortfolioSnapshot> {
      const response = await fetch(`${url}/portfolio?${query}`);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      return JSON.parse(text) as PortfolioSnapshot;
    },
  };
}

/** The contract of a listed token of a market. */
export function listedTokenOf({ access }: LocalMarket, symbol: string): Hex {
  const found = [...access.chain.tokens.values()].find((token) => token.symbol === symbol);
  if (!found) throw new Error(`${symbol} is not listed`);
  return found.contract;
}

/** One JSON-RPC call by plain fetch, independent of our own clients. */
export async function callNode<T>({ rpcUrl }: LocalMarket, method: string, params: unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: T; error?: { message: string } };
  if (error || result === undefined) throw new Error(`${method}: ${error?.message}`);
  return result;
}
