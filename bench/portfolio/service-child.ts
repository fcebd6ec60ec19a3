// The portfolio service as a process of its own, put together as `sextant portfolio` does over one small chain.
import { Registry } from "prom-client";
import { local } from "../../src/chain/chains/local.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { createServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLocalFacilitator } from "../../src/payments/facilitator/local.ts";
import { createGate } from "../../src/payments/paywall/gate.ts";
import { settlementChain } from "../../src/payments/settlement/onchain.ts";
import { portfolioChain } from "../../src/portfolio/chain-access.ts";
import { servePortfolio } from "../../src/portfolio/http/serve.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { priceSources } from "../../src/portfolio/prices/sources.ts";
import { rpcProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { startControl } from "../api/cpu-time.ts";
import type { ServerReady } from "../api/server-child.ts";
import { type BenchPlace, openBenchDatabase, quietLog } from "../harness/bench-database.ts";
import { say } from "../harness/progress.ts";
import { listedToken } from "./listed-tokens.ts";
import type { PaidChain } from "./paid-chain-child.ts";

export type ServiceTask = BenchPlace & { readonly chain: PaidChain };

const PRICE = 10_000n;

const { chain, ...place } = JSON.parse(process.argv[2] ?? "") as ServiceTask;
const database = await openBenchDatabase(place);
const urls = [new Secret(chain.url)];
const network = `eip155:${chain.chainId}` as const;
const rpc = createRpc({ urls, chainId: chain.chainId, log: quietLog });
const { asset, payTo } = chain;
const book = {
  ...local,
  tokens: new Map([[asset, listedToken(asset, "USDC", 6)]]),
  stablecoins: new Set([asset]),
};
const gate = createGate({
  offer: {
    ...{ network, asset, assetName: "USD Coin", assetVersion: "2", decimals: 6, payTo, amount: PRICE },
    maxTimeoutSeconds: 60,
    description: "A snapshot.",
    mimeType: "application/json",
    resourceOrigin: "https://sold.example",
  },
  store: openRecordStore(database),
  facilitator: createLocalFacilitator({
    network,
    urls,
    privateKey: new Secret(chain.facilitatorKey),
    store: openRecordStore(database),
    gas: { ...local.gas, revertedGasMax: 2_000_000n, ofPayment: null },
    log: quietLog,
  }),
  chain: settlementChain(rpc, local),
  log: quietLog,
});
const server = createServer({
  log: quietLog,
  bodyBytesMax: 262_144,
  requestMsMax: 30_000,
  ready: async () => ({ ready: true }),
});
const service = servePortfolio(server.app, {
  chains: [portfolioChain(rpc, book)],
  provider: rpcProvider,
  priceSources: priceSources(),
  positionReaders: POSITION_READERS,
  gate,
  devBypass: false,
  registry: new Registry(),
  log: quietLog,
});
const url = await server.listen({ host: "127.0.0.1", port: 0, variable: "PORTFOLIO_PORT" });
const control = await startControl();
const ready: ServerReady = { url, control: control.url };
say(ready);

process.stdin.on("end", async () => {
  await service.close();
  await server.close();
  rpc.close();
  await database.close();
  control.close();
});
process.stdin.resume();
