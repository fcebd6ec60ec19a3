// `sextant serve` with an empty data folder, a node that comes up late, and a second process on the same folder.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startDeployedChain } from "@sextant/simulator/deployed-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { expect, it } from "vitest";
import { toDeployment } from "../support/index/test-index.ts";
import { startFaultyNode } from "../support/nodes/faulty-node.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { startSextant } from "../support/process/sextant-process.ts";

const PORTS = { API_PORT: "0", INDEXER_PORT: "0" };
const DOWN = { kind: "reset" } as const;

async function eventually(url: string): Promise<Response> {
  for (const until = Date.now() + 60_000; ; await sleep(100)) {
    const response = await fetch(url).catch(() => null);
    if (response?.status === 200) return response;
    if (Date.now() > until) throw new Error(`${url} responds ${response?.status ?? "nothing"}`);
  }
}

it("waits for its node, serves, is joined by a second process, and continues after a restart", async () => {
  const stage = await startDeployedChain();
  await runSimulator({ world: stage.world, seed: 5, steps: 120 });
  let isUp = false;
  const node = await startFaultyNode({ upstream: stage.chain.rpcUrl, plan: () => (isUp ? null : DOWN) });
  const folder = mkdtempSync(join(tmpdir(), "sextant-serve-"));
  const file = join(folder, "deployment.json");
  writeFileSync(file, JSON.stringify(toDeployment(stage.deployment)));
  const data = join(folder, "data");
  try {
    const serveOptions = ["serve", "--network", file, "--rpc", node.url, "--data", data];
    const run = startSextant(serveOptions, { environment: PORTS });
    const banner = await run.waitForOutput(/Press Ctrl-C to stop/);
    const api = /Indexing API +(http:\S+)\/docs/.exec(banner)?.[1] ?? "";
    expect(banner).toContain("embedded, in");
    const waiting = await fetch(`${api}/ready`);
    expect(waiting.status).toBe(503);
    await waiting.arrayBuffer();
    isUp = true;
    await eventually(`${api}/ready`);
    const merchants = await (await eventually(`${api}/merchants`)).text();
    expect(JSON.parse(merchants).merchants.length).toBeGreaterThan(0);

    const listed = await runSextantInProcess(["list", "merchants", "--json"], { SEXTANT_DATA: data });
    expect([listed.code, listed.err]).toEqual([0, ""]);
    expect(
      listed.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(JSON.parse(merchants).merchants.slice(0, 20));
    expect(await runSextantInProcess(["audit"], { SEXTANT_DATA: data })).toMatchObject({
      code: 0,
      err: expect.stringContaining(`Using the run at ${api}`),
    });

    const environment = { ...PORTS, NETWORK: file, RPC_URL: node.url, SEXTANT_DATA: data };
    const second = startSextant(["api"], { environment });
    const sibling =
      /"url":"(http:[^"]+)"/.exec(await second.waitForOutput(/Indexing API is listening/))?.[1] ?? "";
    expect(await (await eventually(`${sibling}/merchants`)).text()).toBe(merchants);

    // The process that started the database stops; the other one takes it over.
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(0);
    expect(await (await eventually(`${sibling}/merchants?limit=100`)).text()).toContain('"merchants"');

    const again = startSextant(serveOptions, { environment: PORTS });
    const next =
      /Indexing API +(http:\S+)\/docs/.exec(await again.waitForOutput(/Press Ctrl-C to stop/))?.[1] ?? "";
    expect(await (await eventually(`${next}/merchants`)).text()).toBe(merchants);
    for (const { child, ended } of [again, second]) {
      child.kill("SIGINT");
      expect((await ended).code).toBe(0);
    }
    expect(existsSync(join(data, "postgres", "data", "postmaster.pid"))).toBe(false);
  } finally {
    await node.stop();
    await stage.chain.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
