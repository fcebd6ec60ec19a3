// The portfolio service in a process of a benchmark: over one chain, until the parent closes its input.

import { Registry } from "prom-client";
import type { Rpc } from "../../src/chain/rpc/types.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { delayOptimization } from "../../src/lib/optimization.ts";
import { createChainAccess } from "../../src/portfolio/chain-access.ts";
import { servePortfolio } from "../../src/portfolio/http/serve.ts";
import { POSITION_READERS } from "../../src/portfolio/positions/readers.ts";
import { rpcHoldingsProvider } from "../../src/portfolio/providers/rpc/provider.ts";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { type ServerReady, startCpuTimeServer } from "../api/cpu-time.ts";
import { benchLog } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";

type Served = Pick<
  Parameters<typeof servePortfolio>[1],
  "priceSources" | "sold" | "reconcile" | "devBypass"
> & {
  readonly rpc: Rpc;
  readonly book: Parameters<typeof createChainAccess>[1];
  readonly onClose?: () => Promise<void>;
};

export async function servePortfolioInChild({ rpc, book, onClose, ...service }: Served): Promise<void> {
  delayOptimization();
  const server = createHttpServer({
    ...NO_LIMITS,
    log: benchLog,
    bodyBytesMax: 262_144,
    requestMsMax: 30_000,
    checkReadiness: async () => ({ ready: true }),
  });
  const portfolio = servePortfolio(server.app, {
    ...service,
    chains: [createChainAccess(rpc, book)],
    provider: rpcHoldingsProvider,
    positionReaders: POSITION_READERS,
    registry: new Registry(),
    log: benchLog,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "PORTFOLIO_PORT" });
  const control = await startCpuTimeServer();
  const ready: ServerReady = { url, control: control.url };
  sendToParent(ready);
  process.stdin.on("end", async () => {
    await portfolio.close();
    await server.close();
    rpc.close();
    await onClose?.();
    control.close();
  });
  process.stdin.resume();
}
