// The metrics of the calls to nodes: counted by provider, method and outcome in the registry of a service.
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { Secret } from "../../lib/secret.ts";
import { createRpc } from "./client.ts";
import { createRpcMetrics } from "./metrics.ts";
import { rawCall } from "./types.ts";

let chain: LocalChain;
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337 });
});
afterAll(() => chain.stop());

it("counts every call, single and batched, and those of all clients of a service", async () => {
  const registry = new Registry();
  const onCall = createRpcMetrics(registry);
  const urls = [new Secret(chain.rpcUrl)];
  const clients = [0, 1].map(() => createRpc({ urls, log: silentLog, onCall, limits: { attemptsMax: 1 } }));
  for (const rpc of clients) {
    await rpc.request(rawCall("eth_chainId"));
    await rpc.batch([rawCall("eth_chainId"), rawCall("eth_nonsense")]);
  }
  const provider = new URL(chain.rpcUrl).host;
  const text = await registry.metrics();
  expect(text).toContain(
    `sextant_rpc_calls_total{provider="${provider}",method="eth_chainId",outcome="ok"} 4`,
  );
  expect(text).toContain(
    `sextant_rpc_calls_total{provider="${provider}",method="eth_nonsense",outcome="unsupported"} 2`,
  );
  expect(text).toContain(`sextant_rpc_call_seconds_count{provider="${provider}"} 6`);
});
