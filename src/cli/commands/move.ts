// `sextant move`: copies the database to another PostgreSQL and verifies the copy before it commits.

import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import { createRebuildOptions } from "../../indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../indexer/run.ts";
import { Fault } from "../../lib/fault.ts";
import { PROGRAM } from "../../lib/program.ts";
import { Secret } from "../../lib/secret.ts";
import { parseDeployment } from "../../protocol/deployment.ts";
import { rebuildRows } from "../../store/index/rebuild.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import { copySchema } from "../../store/postgres/copy-schema.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import { chooseDeployments } from "../installation.ts";
import { trackRebuild } from "./rebuild.ts";

// One connection for the copy, one for queries about it.
const POOL_MAX = 2;

export const moveCommand: RunCommand = async (context) => {
  const { environment, options, print } = context;
  const to = readStringOption(options, "to");
  if (to === undefined) {
    throw new Fault(
      "USAGE_INVALID",
      `--to is required: ${PROGRAM} move --to postgres://user:password@host/database.`,
    );
  }
  const config = readConfig(environment, databaseSettings);
  const chosen = await chooseDeployments({ environment, options });
  for (const { name, databaseSchema } of chosen) {
    if (chosen.length > 1) print(`${name}, schema ${databaseSchema}\n`);
    await moveSchema({ ...config, databaseSchema }, new Secret(to), context);
  }
  print(
    "Set DATABASE_URL to the new database and start the services. The old one is unchanged: keep it until you are sure.\n",
  );
  return 0;
};

async function moveSchema(
  config: Config<typeof databaseSettings>,
  to: Secret<string>,
  context: CommandContext,
): Promise<void> {
  const { log, print, progress } = context;
  const source = await openConfiguredDatabase(config, log, "move");
  try {
    await assertNoServices(source.database);
    const target = await openDatabase({
      connection: { url: to },
      schema: config.databaseSchema,
      poolMax: POOL_MAX,
      log,
      applicationName: "sextant move",
    });
    try {
      const copied = await copySchema({
        source: source.database,
        target,
        log,
        onTableCopied: ({ name, rows }) =>
          print(`  ${name.padEnd(24)} ${rows.toLocaleString("en").padStart(14)} rows\n`),
        onProgress:
          progress &&
          ((done, total) => progress.track("Copying and comparing", { done, total, unit: "rows" })),
      });
      const logs = await rebuildCopiedRows(target, context);
      progress?.show("");
      const rows = copied.reduce((sum, table) => sum + table.rows, 0);
      print(
        `Moved ${rows.toLocaleString("en")} rows of ${copied.length} tables, each compared with its original, and rebuilt the rows from ${logs.toLocaleString("en")} events.\n`,
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** A running service would keep writing to the old database, and those writes would be lost. */
async function assertNoServices(database: Database): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'sextant %' AND application_name NOT LIKE 'sextant move%'`,
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(", ");
  throw new Fault("DATABASE_BUSY", `Stop the services that use this database first: ${names}.`);
}

/** Returns the number of folded logs; 0 if nothing was ever indexed. */
async function rebuildCopiedRows(
  database: Database,
  { log, stop: signal, progress }: CommandContext,
): Promise<number> {
  const { rows } = await database.query<{ chain_id: string; start_block: string; contracts: object }>(
    "SELECT chain_id, start_block, contracts FROM deployment",
  );
  const [indexed] = rows;
  if (!indexed) return 0;
  const { chain_id: chainId, start_block: startBlock, contracts } = indexed;
  const deployment = parseDeployment(
    { network: "moved", chainId: Number(chainId), startBlock: Number(startBlock), contracts },
    "the stored deployment",
  );
  const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 0, signal, bulkWrites: true });
  if (!lock)
    throw new Fault("DATABASE_BUSY", "An indexer already writes to the new database; stop it first.");
  try {
    const { schema } = database;
    const onProgress = trackRebuild(progress, deployment);
    return await rebuildRows(lock, createRebuildOptions(deployment, { schema, log, signal, onProgress }));
  } finally {
    await lock.release();
  }
}
