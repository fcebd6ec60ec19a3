// The whole portfolio service in process, put together as its door does: two market chains, a third to be paid on, a database.
import { Registry } from "prom-client";
import type { Hex, PrivateKeyAccount } from "viem";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { readConfig } from "../../src/config/read-config.ts";
import {
  facilitatorSettings,
  paymentSettings,
  paywallSettings,
  portfolioSettings,
} from "../../src/config/settings.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { type LocalMarket, startLocalMarkets } from "../../src/local/markets.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { openPortfolioPaywall } from "../../src/portfolio/http/open-paywall.ts";
import { countPaymentOutcomes, servePortfolio } from "../../src/portfolio/http/serve.ts";
import { erc4626Reader } from "../../src/portfolio/positions/erc4626/reader.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import type { PortfolioSnapshot } from "../../src/portfolio/snapshot-types.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { type FaultyNode, startFaultyNode } from "../support/nodes/faulty-node.ts";
import type { NodeFaultInjection, NodeRpcCall } from "../support/nodes/node-faults.ts";
import { createPayingFetch } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

export type NodeFaultPlan = (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null;

/** A market with a node in front of it that does what a test tells it to. */
export type StagedMarket = LocalMarket & { readonly node: FaultyNode; plan: NodeFaultPlan };

export type PortfolioService = {
  readonly url: string;
  /** Every route that was registered, as `GET /portfolio`. */
  readonly routes: readonly string[];
  close(): Promise<void>;
};

export type ServiceStage = {
  readonly paid: PaidStage;
  readonly base: StagedMarket;
  readonly ethereum: StagedMarket;
  /** One process of the service. */
  serve(options?: {
    readonly database?: Database;
    readonly bypass?: boolean;
    readonly requestMsMax?: number;
    /** Each chain is read from the node of the other, as after a mistake in the settings. */
    readonly nodesMixedUp?: boolean;
  }): Promise<PortfolioService>;
  close(): Promise<void>;
};

// A node that fails is given up on within a test's patience; the pauses themselves are tested with the client.
const RPC_LIMITS = { attemptsMax: 3, pauseMsBase: 20, pauseMsMax: 60, requestTimeoutMs: 5_000 };
const LIES_MAX = 1_000_000;

export async function openServiceStage(): Promise<ServiceStage> {
  const [paid, markets] = await Promise.all([
    openPaidStage("in process"),
    startLocalMarkets(silentLog, null),
  ]);
  const staged = await Promise.all(markets.markets.map(stageMarket));
  const [base, ethereum] = staged;
  if (!base || !ethereum) throw new Error("there are two local markets");
  const closing: (() => Promise<unknown> | unknown)[] = [];

  const serve: ServiceStage["serve"] = async (options = {}) => {
    const { database = paid.database, bypass = false, requestMsMax = 30_000, nodesMixedUp = false } = options;
    const config = readConfig(environmentOf(paid, bypass), {
      ...paymentSettings,
      ...portfolioSettings,
      ...paywallSettings,
      ...facilitatorSettings,
    });
    const registry = new Registry();
    let url = "";
    const seller = await openPortfolioPaywall(config, {
      database,
      log: silentLog,
      onCall: null,
      count: countPaymentOutcomes(registry),
      listenUrl: () => url,
    });
    const server = createHttpServer({
      log: silentLog,
      bodyBytesMax: 262_144,
      requestMsMax,
      checkReadiness: async () => ({ ready: true }),
    });
    // The server has made this one itself.
    const routes: string[] = ["GET /ready"];
    server.app.addHook("onRoute", (route) => {
      routes.push(...[route.method].flat().map((each) => `${each} ${route.url}`));
    });
    // Of this process alone: no node that another one found silent rests here.
    const nodes = staged.map(({ node }) => node);
    if (nodesMixedUp) nodes.reverse();
    const ports = staged.map(({ chainId, access: port, ...own }, index) => {
      const node = nodes[index] ?? own.node;
      const rpc = createRpc({
        urls: [new Secret(node.url)],
        chainId,
        log: silentLog,
        onCall: null,
        limits: RPC_LIMITS,
      });
      return { rpc, port: createChainAccess(rpc, port.chain) };
    });
    const service = servePortfolio(server.app, {
      chains: ports.map(({ port }) => port),
      provider: rpcHoldingsProvider,
      priceSources: createPriceSources({
        feeds: new Map(staged.map(({ chainId, feeds }) => [chainId, feeds])),
        aaveMarkets: new Map(),
        spotMarkets: new Map(),
      }),
      positionReaders: [erc4626Reader],
      gate: seller.gate,
      devBypass: seller.devBypass,
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
      seller.close();
      for (const { rpc } of ports) rpc.close();
    };
    closing.push(close);
    return { url, routes, close };
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

async function stageMarket(market: LocalMarket): Promise<StagedMarket> {
  const node = await startFaultyNode({
    upstream: market.rpcUrl,
    plan: (_, calls) => staged.plan(calls),
    liesPerCall: LIES_MAX,
  });
  const staged: StagedMarket = { ...market, node, plan: () => null };
  return staged;
}

function environmentOf({ chain, asset, payTo }: PaidStage, bypass: boolean): Record<string, string> {
  return {
    PAYMENT_NETWORK: `eip155:${chain.chainId}`,
    PAYMENT_RPC_URL: chain.rpcUrl,
    PAYMENT_ASSET: asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
    PAY_TO: payTo,
    FACILITATOR_PRIVATE_KEY: chain.accounts.facilitator.privateKey,
    ...(bypass ? { X402_DEV_BYPASS: "true" } : {}),
  };
}

/** Somebody new who pays by the client that everybody uses. */
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
export function listedTokenOf({ access: port }: LocalMarket, symbol: string): Hex {
  const found = [...port.chain.tokens.values()].find((token) => token.symbol === symbol);
  if (!found) throw new Error(`${symbol} is not listed`);
  return found.contract;
}

/** One JSON-RPC call by plain fetch, past every client of ours. */
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
