// The demo's requests, each right after its receipt, against a chain, an indexer and the API.
import { startDeployedChain } from "@sextant/simulator/deployed-chain";
import { expect, it } from "vitest";
import { openDemoSession } from "../../scripts/demo/demo-session.ts";
import { replayDemo } from "../../scripts/demo/replay-demo.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { startTestIndex, toDeployment } from "../support/index/test-index.ts";

it("reads every write at once, twice on one chain", async () => {
  const { chain, deployment, world } = await startDeployedChain();
  const index = await startTestIndex({
    urls: [chain.rpcUrl, chain.wsUrl],
    deployment: toDeployment(deployment),
  });
  const api = await startTestApi(index.database);
  const lines: string[] = [];
  try {
    const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
      number: string;
      hash: string;
    };
    // An empty index has no rows yet; from here on every read waits for itself.
    await index.waitUntilIndexed({ number: Number(head.number), hash: head.hash });
    const context = { world, session: openDemoSession(api.url), report: (line: string) => lines.push(line) };
    await replayDemo(context);
    await replayDemo(context);
  } finally {
    await api.close();
    await index.close();
    await chain.stop();
  }
  expect(lines).toHaveLength(16);
}, 120_000);
