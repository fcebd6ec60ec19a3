// `sextant portfolio` shuts down in time alongside a frozen node; the deadline itself is tested in src/lib/shutdown.test.ts.
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { expect, it, onTestFinished } from "vitest";
import { startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import { waitFor } from "../../../tests/support/payments/paid-client.ts";
import { createDatabaseEnvironment } from "../../../tests/support/process/sextant-process.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { portfolioCommand } from "./portfolio.ts";

const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

it("shuts down in time while a request waits for a hanging node", async () => {
  const chain = await startLocalChain({ chainId: 8453 });
  onTestFinished(() => chain.stop());
  const database = await createDatabaseEnvironment();
  onTestFinished(() => database.drop());
  let isHanging = false;
  const node = await startFaultyNode({
    upstream: chain.rpcUrl,
    plan: () => (isHanging ? { kind: "hang" } : null),
  });
  const stop = new AbortController();
  let url = "";
  const ended = portfolioCommand({
    environment: {
      ...database.environment,
      ...{ PORTFOLIO_PORT: "0", PAY_TO, X402_DEV_BYPASS: "true", RPC_URL_8453: node.url },
    },
    options: {},
    log: silentLog,
    print: () => undefined,
    stop: stop.signal,
    onListening: (listening) => {
      url = listening;
    },
  });
  await waitFor(() => url !== "");
  isHanging = true;
  const requestsBefore = node.requests.length;
  const pending = fetch(`${url}/portfolio?address=${chain.accounts.payer.address}`).catch(() => null);
  await waitFor(() => node.requests.length > requestsBefore);
  const startedMs = Date.now();
  stop.abort();
  expect(await ended).toBe(0);
  expect(Date.now() - startedMs).toBeLessThan(9_500);
  await node.stop();
  expect((await pending)?.status).not.toBe(200);
});
