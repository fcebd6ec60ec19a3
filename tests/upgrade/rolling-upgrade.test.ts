// A rolling upgrade as docs/runbook.md#upgrade describes it, from the version before to this one, while clients read.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { migrations } from "../../src/store/postgres/migrations.ts";
import { toDeployment } from "../support/index/test-index.ts";
import {
  createDatabaseEnvironment,
  type SextantProcess,
  startSextant,
} from "../support/process/sextant-process.ts";
import { silentLog } from "../support/quiet-log.ts";
import { expectSameRecords, expectWritesShared, waitForCheckpoint, waitForReady } from "./both-apis.ts";
import { loadPreviousModule, previousCheckout } from "./previous-version.ts";
import { startTraffic } from "./traffic.ts";

const STEPS = 150;
const UNKNOWN_SCHEMA_EXIT = 78;

type ChainModule = typeof import("@sextant/simulator/deployed-chain");
type SimulatorModule = typeof import("@sextant/simulator/simulator");
type MigrationsModule = typeof import("../../src/store/postgres/migrations.ts");

async function listeningAt(api: SextantProcess): Promise<string> {
  const pattern = /"url":"(http:[^"]+)"/;
  return pattern.exec(await api.waitForOutput(pattern))?.[1] ?? "";
}

async function endsWell({ child, ended }: SextantProcess): Promise<void> {
  child.kill("SIGTERM");
  const { code, err } = await ended;
  expect(code, err).toBe(0);
}

it("fails no request and loses no record", async () => {
  // The contracts are those that the version before was deployed with.
  const { startDeployedChain } = await loadPreviousModule<ChainModule>(
    "packages/simulator/deployed-chain.ts",
  );
  const { runSimulator } = await loadPreviousModule<SimulatorModule>("packages/simulator/simulator.ts");
  const { migrations: known } = await loadPreviousModule<MigrationsModule>(
    "src/store/postgres/migrations.ts",
  );
  const deployed = await startDeployedChain();
  const place = await createDatabaseEnvironment();
  const folder = mkdtempSync(join(tmpdir(), "sextant-upgrade-"));
  const network = join(folder, "deployment.json");
  writeFileSync(network, JSON.stringify(toDeployment(deployed.deployment)));
  const environment = {
    ...place.environment,
    NETWORK: network,
    RPC_URL: deployed.chain.rpcUrl,
    API_PORT: "0",
    INDEXER_PORT: "0",
    // All clients of the test have one address.
    SEXTANT_REQUESTS_PER_MINUTE: "1000000",
  };
  const start = (command: string) => startSextant([command], { environment });
  const startBefore = (command: string) =>
    startSextant([command], { environment, checkout: previousCheckout() });
  let firstAccountIndex = 100;
  const runSteps = async (steps: number) => {
    firstAccountIndex += 40;
    await runSimulator({ world: deployed.world, seed: firstAccountIndex, steps, firstAccountIndex });
    return Number(await deployed.chain.request("eth_blockNumber"));
  };
  const database = await openDatabase({
    connection: place.connection,
    schema: "sextant",
    poolMax: 1,
    log: silentLog,
    applicationName: "test",
  });
  try {
    const first = await runSteps(STEPS);
    const indexerBefore = startBefore("indexer");
    const apiBefore = startBefore("api");
    const before = await listeningAt(apiBefore);
    await waitForCheckpoint(first, [before]);
    await waitForReady(before);
    const trafficBefore = startTraffic(before);

    // The new indexer migrates and stands by; the processes of the version before go on.
    const indexer = start("indexer");
    await indexer.waitForOutput(/Indexer is listening/);
    const { rows } = await database.query("select version from migrations");
    expect(rows).toHaveLength(migrations.length);
    await waitForCheckpoint(await runSteps(20), [before]);

    // A process of the previous version that starts now reports why it cannot run.
    if (migrations.length > known.length) {
      const late = await startBefore("api").ended;
      expect([late.code, late.err]).toEqual([UNKNOWN_SCHEMA_EXIT, expect.stringContaining("newer version")]);
    }

    // A new API reads the rows of the version before until the new indexer has made its own.
    const api = start("api");
    const now = await listeningAt(api);
    await waitForReady(now);
    const traffic = startTraffic(now);
    await expectSameRecords({ before, now });

    // As if this version folded events differently: on taking over, the new indexer makes all rows again.
    await database.query("update row_tables set declaration_hash = 'of another version'");
    await endsWell(indexerBefore);
    await indexer.waitForOutput(/Rows rebuilt/);
    await waitForCheckpoint(await runSteps(20), [before, now]);
    await expectSameRecords({ before, now });
    await expectWritesShared(before, now, "through the version before");
    await expectWritesShared(now, before, "through the new version");
    await expectSameRecords({ before, now });

    // Out of the load balancer first, then stopped.
    const counted = await trafficBefore.stop();
    await endsWell(apiBefore);
    await waitForCheckpoint(await runSteps(20), [now]);
    const countedNow = await traffic.stop();
    process.stdout.write(`version before: ${JSON.stringify(counted)}, new: ${JSON.stringify(countedNow)}\n`);
    expect([counted.failed, countedNow.failed]).toEqual([[], []]);
    expect(Math.min(counted.requests, countedNow.requests)).toBeGreaterThan(20);
    await endsWell(api);
    await endsWell(indexer);
  } finally {
    await database.close();
    await place.drop();
    await deployed.chain.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
