// The tables are, to the byte, those of an index that was made afterwards, in peace, by a process of its own.
import { createLog } from "../../../src/lib/log.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { tables } from "../../../src/protocol/domains.ts";
import { readCheckpoint } from "../../../src/store/index/checkpoint.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { digestTables } from "../../support/digest-tables.ts";
import { E2E_FINALITY_DEPTH } from "../chains/protocol-chain.ts";
import { createManagedProcess } from "../services/managed-process.ts";
import type { E2eSystem } from "../system.ts";
import { waitUntil } from "../wait.ts";
import type { E2eCheck } from "./check.ts";

const SCHEMA = "clean";
const INDEX_MS_MAX = 240_000;
// The first few show what kind of log it is.
const LOGS_TOLD_MAX = 5;

export const cleanIndexCheck: E2eCheck = {
  name: "tables equal a clean index",
  async run(system) {
    const { protocol, observations } = system;
    const head = await protocol.head();
    const [lived, clean] = await Promise.all([look(system, "sextant"), look(system, SCHEMA)]);
    const slot = createManagedProcess({
      ...system,
      name: "clean indexer",
      command: "indexer",
      environment: {
        DATABASE_URL: system.databaseUrl,
        DATABASE_SCHEMA: SCHEMA,
        NETWORK: system.network,
        RPC_URL: protocol.chain.rpcUrl,
        INDEXER_PORT: "0",
      },
    });
    try {
      await slot.start();
      await waitUntil(async () => (await indexed(clean)) === head.hash, {
        msMax: INDEX_MS_MAX,
        late: () => `the clean index did not reach block ${head.number}: ${slot.output.slice(-1_000)}`,
      });
      const finalized = head.number - E2E_FINALITY_DEPTH;
      const expected = await digestTables(clean, tables, finalized);
      const found = await digestTables(lived, tables, finalized);
      const different = Object.keys(expected).filter((name) => expected[name] !== found[name]);
      if (different.length > 0) {
        throw new Error(`these differ: ${different.join(", ")}; ${await differingLogs(lived, clean)}`);
      }
      observations.count("events indexed", Number.parseInt(found.logs ?? "0", 10));
      return `${Object.keys(expected).length} tables, ${found.logs?.split(" ")[0]} events`;
    } finally {
      await slot.end("SIGTERM");
      await Promise.all([lived.close(), clean.close()]);
    }
  },
};

function look({ databaseUrl }: E2eSystem, schema: string): Promise<Database> {
  return openDatabase({
    connection: { url: new Secret(databaseUrl) },
    schema,
    poolMax: 2,
    log: createLog({ level: "silent", terminal: false, name: "e2e" }),
    applicationName: "look",
  });
}

/** If a missing log led to different rows, the log explains them. */
async function differingLogs(lived: Database, clean: Database): Promise<string> {
  const [found, expected] = await Promise.all([lived, clean].map(readLogs));
  const lacking = (all: readonly string[] = [], some: readonly string[] = []) => {
    const known = new Set(some);
    return all.filter((log) => !known.has(log)).slice(0, LOGS_TOLD_MAX);
  };
  const [missing, surplus] = [lacking(expected, found), lacking(found, expected)];
  return `logs missing: ${missing.join(", ") || "none"}; logs too many: ${surplus.join(", ") || "none"}`;
}

async function readLogs(database: Database): Promise<readonly string[]> {
  const { rows } = await database.query<{ log: string }>(
    `select format('%s/%s of %s, topic %s', block_number, log_index, encode(address, 'hex'),
      encode(substring(topics for 32), 'hex')) as log from logs order by block_number, log_index`,
  );
  return rows.map(({ log }) => log);
}

/** Null until there are tables at all. */
async function indexed(database: Database): Promise<string | null> {
  const position = await readCheckpoint(database).catch(() => null);
  return position?.block.hash ?? null;
}
