// The indexer as a process of its own, put together as `sextant indexer` does.
import { runIndexer } from "../../src/indexer/run.ts";
import { createIndexerStatus } from "../../src/indexer/status.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { type Deployment, parseDeployment } from "../../src/protocol/deployment.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";

export type LagIndexerTask = BenchDatabaseTarget & {
  readonly urls: readonly string[];
  readonly deployment: Pick<Deployment, "network" | "chainId" | "startBlock" | "contracts">;
};

/** Said once the index is at the head for the first time. */
export type LagIndexerReady = { readonly synced: true };

const { urls, deployment, ...place } = JSON.parse(process.argv[2] ?? "") as LagIndexerTask;
const database = await openBenchDatabase(place);
const status = createIndexerStatus(benchLog, systemClock);
const stop = new AbortController();
let isSynced = false;
const running = runIndexer({
  database,
  deployment: parseDeployment(deployment, deployment.network),
  urls: urls.map((url) => new Secret(url)),
  logRangeMax: 10_000,
  comparedPercent: 5,
  auditMs: 0,
  log: benchLog,
  stop: stop.signal,
  report: {
    ...status,
    onSynced(position) {
      status.onSynced(position);
      if (isSynced) return;
      isSynced = true;
      const ready: LagIndexerReady = { synced: true };
      sendToParent(ready);
    },
  },
  onCall: status.onCall,
});

// The parent holds our standard input open for as long as it wants us, and however it ends, it lets go of it.
process.stdin.on("end", async () => {
  stop.abort();
  await running;
  await database.close();
});
process.stdin.resume();
await running;
