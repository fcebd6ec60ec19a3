// Three deployments on three chains and one whose node is down, in one database, run by the commands themselves.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandContext, RunCommand } from "../../src/cli/command.ts";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { indexerCommand } from "../../src/cli/commands/indexer.ts";
import { webhooksCommand } from "../../src/cli/commands/webhooks.ts";
import { tables } from "../../src/protocol/domains.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { createMigratedDatabase, formatConnectionUrl } from "../support/database/test-database.ts";
import { digestTables } from "../support/digest-tables.ts";
import { silentLog } from "../support/quiet-log.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

type Environment = Readonly<Record<string, string>>;
type Options = CommandContext["options"];

export type RunningService = {
  readonly url: string;
  /** Rejects if it fails. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
};

export type InstallationStage = {
  /** Stages by name: `local` is the default one. */
  readonly stages: ReadonlyMap<string, IndexerStage>;
  readonly environment: Environment;
  fileOf(name: string): string;
  start(
    command: keyof typeof COMMANDS,
    options?: Options,
    environment?: Environment,
  ): Promise<RunningService>;
  run(
    command: RunCommand,
    options?: Options,
    environment?: Environment,
  ): Promise<{ readonly code: number; readonly out: string }>;
  query(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  digest(schema: string): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
};

const CHAINS = { local: 31_337, second: 31_338, "third-one": 31_339 } as const;
// Enough that every chain has agents and intents.
const STEPS = 6;
const COMMANDS = { api: apiCommand, indexer: indexerCommand, webhooks: webhooksCommand };

export async function openInstallationStage(): Promise<InstallationStage> {
  const place = await createMigratedDatabase();
  const folder = await mkdtemp(join(tmpdir(), "sextant-installation-"));
  const fileOf = (name: string) => join(folder, `${name}.json`);
  const stages = new Map<string, IndexerStage>();
  for (const [name, chainId] of Object.entries(CHAINS)) {
    const stage = await openIndexerStage(chainId, { chainId });
    await stage.runSteps(STEPS);
    stages.set(name, stage);
    await writeFile(fileOf(name), JSON.stringify({ ...stage.deployment, network: name }));
  }
  const { deployment } = stages.get("local") as IndexerStage;
  await writeFile(fileOf("broken"), JSON.stringify({ ...deployment, network: "Broken", chainId: 31_340 }));
  const nodeOf = (name: string) => stages.get(name)?.chain.rpcUrl ?? "";
  const environment: Environment = {
    DATABASE_URL: formatConnectionUrl(place.connection),
    NETWORK: fileOf("local"),
    DEPLOYMENTS: ["second", "third-one", "broken"].map(fileOf).join(","),
    RPC_URL: nodeOf("local"),
    RPC_URL_31338: nodeOf("second"),
    RPC_URL_31339: nodeOf("third-one"),
    RPC_URL_31340: "http://127.0.0.1:1",
    API_PORT: "0",
    SEXTANT_METRICS_PORT: "shared",
    INDEXER_PORT: "0",
    WEBHOOKS_PORT: "0",
  };
  const started: RunningService[] = [];
  const inspect = await openDatabase({
    connection: place.connection,
    schema: "sextant",
    poolMax: 1,
    log: silentLog,
    applicationName: "test",
  });
  return {
    stages,
    environment,
    fileOf,
    async start(command, options = {}, chosen = environment) {
      const service = await startService(COMMANDS[command], { environment: chosen, options });
      started.push(service);
      return service;
    },
    async run(command, options = {}, chosen = environment) {
      let out = "";
      const print = (text: string) => {
        out += text;
      };
      const stop = new AbortController().signal;
      const code = await command({ environment: chosen, options, log: silentLog, print, stop });
      return { code, out };
    },
    digest: (schema) => digestSchema(inspect, schema),
    query: async (text) => (await inspect.query(text)).rows,
    async close() {
      await Promise.allSettled(started.map((service) => service.stop()));
      for (const { chain } of stages.values()) await chain.stop();
      await inspect.close();
      await place.drop();
      await rm(folder, { recursive: true });
    },
  };
}

export function digestSchema(database: Database, schema: string): Promise<Readonly<Record<string, string>>> {
  return database.transaction(async (session) => {
    await session.query(`set local search_path to "${schema}"`);
    return digestTables(session, tables, 0);
  });
}

// As often as a service in the same process can respond alongside its work.
const LOOK_MS = 100;

/**
 * For hooks that open the stage: three chains, four schemas with all their migrations, an indexer and an API. On two
 * cores with eighteen runnable processes it took 35 seconds, and an indexer that fails once waits ten more.
 */
export const INSTALLATION_MS_MAX = 300_000;

/** The limit of the test ends it. */
export async function waitFor(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

export async function startService(
  command: RunCommand,
  given: Pick<CommandContext, "environment" | "options">,
): Promise<RunningService> {
  const shutdown = new AbortController();
  let onListening: (url: string) => void = () => undefined;
  const listening = new Promise<string>((resolve) => {
    onListening = resolve;
  });
  const print = () => undefined;
  const ended = command({ ...given, log: silentLog, print, stop: shutdown.signal, onListening });
  const url = await Promise.race([listening, ended.then(() => "")]);
  return {
    url,
    ended,
    async stop() {
      shutdown.abort();
      await ended;
    },
  };
}
