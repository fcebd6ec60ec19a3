// The portfolio service as a process of its own, put together as `sextant portfolio` does over one small chain.
import { Registry } from "prom-client";
import { localChain } from "../../src/chain/chains/local.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { servePortfolio } from "../../src/portfolio/http/serve.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { createPriceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { type ServerReady, startCpuTimeServer } from "../api/cpu-time.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import { openBenchGate } from "./bench-gate.ts";
import type { PaymentChainReady } from "./paid-chain-child.ts";
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
const server = createHttpServer({
  log: benchLog,
  bodyBytesMax: 262_144,
  requestMsMax: 30_000,
  checkReadiness: async () => ({ ready: true }),
});
const service = servePortfolio(server.app, {
  chains: [createChainAccess(rpc, book)],
  provider: rpcHoldingsProvider,
  priceSources: createPriceSources(),
  positionReaders: POSITION_READERS,
  sold: [{ declaration: portfolioRoute, sale: gate }],
  reconcile: gate.reconcile,
  devBypass: false,
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
  await database.close();
  control.close();
});
process.stdin.resume();
