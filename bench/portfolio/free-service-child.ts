// One of several portfolio processes: the whole service over one chain with many tokens, without payment.
import { Registry } from "prom-client";
import { findChainById } from "../../src/chain/chains/chains.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createFreeSale } from "../../src/payments/paywall/gate.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { servePortfolio } from "../../src/portfolio/http/serve.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { type ServerReady, startCpuTimeServer } from "../api/cpu-time.ts";
import { benchLog } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import type { ReadyNode } from "./nodes-child.ts";
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
const server = createHttpServer({
  log: benchLog,
  bodyBytesMax: 262_144,
  requestMsMax: 30_000,
  checkReadiness: async () => ({ ready: true }),
});
const sale = createFreeSale({
  ...{ network: `eip155:${node.chainId}`, asset: node.stablecoin, payTo: node.wallet },
  ...{ assetName: "USD Coin", assetVersion: "2", decimals: 6, amount: 10_000n },
  ...{ maxTimeoutSeconds: 60, description: "A snapshot.", mimeType: "application/json" },
  ...{ resourceOrigin: "https://sold.example", listing: null },
});
const service = servePortfolio(server.app, {
  chains: [createChainAccess(rpc, book)],
  provider: rpcHoldingsProvider,
  priceSources: createPriceSources({ feeds: new Map([[node.chainId, node.feeds]]) }),
  positionReaders: POSITION_READERS,
  sold: [{ declaration: portfolioRoute, sale }],
  reconcile: null,
  devBypass: true,
  registry: new Registry(),
  log: benchLog,
});
const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "PORTFOLIO_PORT" });
const control = await startCpuTimeServer();
const ready: ServerReady = { url, control: control.url };
sendToParent(ready);

process.stdin.on("end", async () => {
  await service.close();
  await server.close();
  rpc.close();
  control.close();
});
process.stdin.resume();
