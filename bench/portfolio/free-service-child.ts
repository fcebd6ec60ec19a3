// One of several portfolio processes: the whole service over one chain with many tokens, without payment.
import { findChainById } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createFreeSale } from "../../src/payments/paywall/gate.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { benchLog } from "../harness/bench-database.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { servePortfolioInChild } from "./serve-in-child.ts";
import { buildTokenList } from "./token-market.ts";

export type FreeServiceTask = { readonly node: ReadyNode; readonly tokens: number };

const { node, tokens } = JSON.parse(process.argv[2] ?? "") as FreeServiceTask;
const facts = findChainById(node.chainId);
if (!facts) throw new Error(`there is no chain ${node.chainId}`);
const rpc = createRpc({
  ...{ urls: [new Secret(node.url)], chainId: node.chainId, log: benchLog },
  onCall: null,
});
const listed = buildTokenList(node.held, tokens).map((token) => [token.contract, token] as const);
const book = { ...facts, tokens: new Map(listed), stablecoins: new Set([node.stablecoin]) };
const sale = createFreeSale({
  ...{ network: `eip155:${node.chainId}`, asset: node.stablecoin, payTo: node.wallet },
  ...{ assetName: "USD Coin", assetVersion: "2", decimals: 6, amount: 10_000n },
  ...{ maxTimeoutSeconds: 60, description: "A snapshot.", mimeType: "application/json" },
  ...{ resourceOrigin: "https://sold.example", listing: null },
});
await servePortfolioInChild({
  ...{ rpc, book, reconcile: null, devBypass: true },
  priceSources: createPriceSources({ feeds: new Map([[node.chainId, node.feeds]]) }),
  sold: [{ declaration: portfolioRoute, sale }],
});
