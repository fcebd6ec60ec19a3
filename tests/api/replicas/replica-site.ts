// `sextant indexer` and two `sextant api` over a primary and two replicas, and which of them are down.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from "../../support/database/replicated-postgres.ts";
import type { ReplicatedServer } from "../../support/database/replicated-server.ts";
import { KilledProcess } from "../../support/process/killed-process.ts";
import { createTestFolder } from "../../support/test-folder.ts";

/** A time in which something is down: what fails in it may be its consequence. */
class Outage {
  #begun = 0;
  #ended = 0;

  /** The mark of now; never equal to a later one while the outage lasts. */
  get mark(): number {
    return this.#begun === this.#ended ? this.#begun : -1;
  }

  /** Whether it was on at any moment since the mark. */
  wasOnSince(mark: number): boolean {
    return this.mark !== mark || mark === -1;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#begun += 1;
    try {
      return await work();
    } finally {
      this.#ended += 1;
    }
  }
}

export type ApiProcess = { readonly process: KilledProcess; readonly outage: Outage };

export type ReplicaSite = {
  readonly cluster: ReplicatedPostgres;
  /** At the block of the primary within milliseconds, and seconds later. */
  readonly prompt: ReplicatedServer;
  readonly delayed: ReplicatedServer;
  readonly apis: readonly ApiProcess[];
  readonly indexer: KilledProcess;
  readonly withoutPrimary: Outage;
  readonly withoutIndexer: Outage;
  /** Lasts from a reorg until the index has the new branch, which may be short of a block that clients have seen. */
  readonly reorg: Outage;
  /** For other commands over the same index. */
  readonly environment: Readonly<Record<string, string>>;
};

const API_COUNT = 2;

export async function openReplicaSite(
  { deployment, rpcUrls }: { readonly deployment: Deployment; readonly rpcUrls: readonly string[] },
  { applyDelayMs }: { readonly applyDelayMs: number },
): Promise<ReplicaSite> {
  const cluster = await startReplicatedPostgres({ replicas: [{}, { applyDelayMs }], synchronous: true });
  onTestFinished(() => cluster.stop());
  const [prompt, delayed] = cluster.replicas;
  if (!prompt || !delayed) throw new Error("the cluster has two replicas");
  const network = join(await createTestFolder(), "deployment.json");
  await writeFile(network, JSON.stringify(deployment));
  const environment = {
    ...{ NETWORK: network, RPC_URL: rpcUrls.join(","), DATABASE_URL: cluster.url },
    DATABASE_READ_URL: cluster.replicas.map(({ url }) => url).join(","),
    ...{ INDEXER_PORT: "0", API_PORT: "0", SEXTANT_REQUESTS_PER_MINUTE: "0" },
    SEXTANT_METRICS_PORT: "shared",
  };
  const indexer = new KilledProcess("indexer", environment, /This process writes the index/);
  await indexer.start();
  const apis = Array.from({ length: API_COUNT }, () => ({
    process: new KilledProcess("api", environment, /Indexing API is listening/),
    outage: new Outage(),
  }));
  for (const { process } of apis) await process.start();
  const outages = { withoutPrimary: new Outage(), withoutIndexer: new Outage(), reorg: new Outage() };
  return { cluster, prompt, delayed, apis, indexer, ...outages, environment };
}

/** How many reads each database server has served, by its host and port, for the API process. */
export async function countReadsByServer({ process }: ApiProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${process.url}/metrics`)).text();
  const lines = text.matchAll(/^sextant_index_reads_total\{server="([^"]+)"\} ([0-9]+)$/gm);
  return new Map([...lines].map(([, server = "", count]) => [server, Number(count)]));
}
