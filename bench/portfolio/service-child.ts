// The portfolio service as a process of its own, put together as `sextant portfolio` does over one small chain.
import { localChain } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { openBenchGate } from "./bench-gate.ts";
import type { PaymentChainReady } from "./paid-chain-child.ts";
import { servePortfolioInChild } from "./serve-in-child.ts";
import { buildListedToken } from "./token-market.ts";

export type ServiceTask = BenchDatabaseTarget & { readonly chain: PaymentChainReady };

const PRICE = 10_000n;

const { chain, ...place } = JSON.parse(process.argv[2] ?? "") as ServiceTask;
const database = await openBenchDatabase(place);
const urls = [new Secret(chain.url)];
const rpc = createRpc({ urls, chainId: chain.chainId, log: benchLog, onCall: null });
const { asset } = chain;
const book = {
  ...localChain,
  tokens: new Map([[asset, buildListedToken(asset, "USDC", 6)]]),
  stablecoins: new Set([asset]),
};
const gate = await openBenchGate(chain, { rpc, database, amount: PRICE, finality: localChain });
await servePortfolioInChild({
  rpc,
  book,
  reconcile: gate.reconcile,
  devBypass: false,
  priceSources: createPriceSources(),
  sold: [{ declaration: portfolioRoute, sale: gate }],
  onClose: () => database.close(),
});
