// One of several portfolio processes: the whole service over one chain with many tokens, without payment.
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createFreeSale } from "../../src/payments/paywall/gate.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { benchLog } from "../harness/bench-database.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { describeChain } from "./paid-reads.ts";
import { servePortfolioInChild } from "./serve-in-child.ts";

export type FreeServiceTask = { readonly node: ReadyNode; readonly tokens: number };

const { node, tokens } = JSON.parse(process.argv[2] ?? "") as FreeServiceTask;
const rpc = createRpc({
  urls: [new Secret(node.url)],
  chainId: node.chainId,
  log: benchLog,
  onCall: null,
});
const sale = createFreeSale({
  network: `eip155:${node.chainId}`,
  asset: node.stablecoin,
  payTo: node.wallet,
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  description: "A snapshot.",
  mimeType: "application/json",
  resourceOrigin: "https://sold.example",
  listing: null,
});
await servePortfolioInChild({
  rpc,
  book: describeChain(node, tokens),
  reconcile: null,
  devBypass: true,
  priceSources: createPriceSources({ feeds: new Map([[node.chainId, node.feeds]]) }),
  sold: [{ declaration: portfolioRoute, sale }],
});
