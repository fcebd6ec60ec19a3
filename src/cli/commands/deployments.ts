// `sextant deployments`: lists the deployments of this database, or drops one with its schema.

import { type DeploymentState, readDeploymentState } from "../../api/deployments/state.ts";
import { readIndexReadiness } from "../../api/serve.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/settings.ts";
import { INDEXER_LOCK } from "../../indexer/run.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { type ConfiguredDatabase, openConfiguredDatabase } from "../../store/open-database.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { countContents, dropSchema, listSiblingSchemas } from "../../store/postgres/drop-schema.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import { chooseDeployments, type InstalledDeployment, toSchema } from "../installation.ts";

type DatabaseConfig = Config<typeof databaseSettings>;

export const deploymentsCommand: RunCommand = async (context) => {
  const { environment, options, log } = context;
  const config = readConfig(environment, databaseSettings);
  const installed = await chooseDeployments({ environment, options: {} });
  const first = await openConfiguredDatabase(config, log, "deployments");
  try {
    const name = readStringOption(options, "drop");
    return name === undefined
      ? await list(context, config, installed, first.database)
      : await drop(context, config, name, first.database);
  } finally {
    await first.close();
  }
};

async function list(
  { print }: CommandContext,
  config: DatabaseConfig,
  installed: readonly InstalledDeployment[],
  database: Database,
): Promise<number> {
  const stored = new Set([config.databaseSchema, ...(await listSiblingSchemas(database))]);
  for (const { name, databaseSchema, deployment } of installed) {
    const state = stored.has(databaseSchema) ? await readState(database, databaseSchema) : null;
    print(formatLine(name, { schema: databaseSchema, chain: `chain ${deployment.chainId}`, state }));
    stored.delete(databaseSchema);
  }
  for (const schema of stored) {
    const state = await readState(database, schema);
    const name = schema.slice(config.databaseSchema.length + 1).replaceAll("_", "-");
    print(formatLine(name, { schema, chain: "not configured", state }));
  }
  return 0;
}

/** As it is: another installation may have the schema, with another version. */
function readState(database: Database, schema: string): Promise<DeploymentState> {
  return database.transaction(async (session) => {
    await session.query(`set local search_path to "${schema}"`);
    return readDeploymentState({ database: session, checkReadiness: () => readIndexReadiness(session) });
  });
}

function openSchema(config: DatabaseConfig, databaseSchema: string, log: Log): Promise<ConfiguredDatabase> {
  return openConfiguredDatabase({ ...config, databaseSchema }, log, "deployments");
}

type Line = { readonly schema: string; readonly chain: string; readonly state: DeploymentState | null };

function formatLine(name: string, { schema, chain, state }: Line): string {
  const block = state?.checkpoint?.block.number;
  const lag = state?.lag ? `${state.lag.blocks} behind` : "no indexer";
  const parts = [
    name.padEnd(20),
    `schema ${schema.padEnd(28)}`,
    chain.padEnd(16),
    block === undefined ? "nothing indexed" : `block ${block}, ${lag}`,
  ];
  return `${parts.join("  ")}\n`;
}

async function drop(
  { print, log, stop, options }: CommandContext,
  config: DatabaseConfig,
  name: string,
  first: Database,
): Promise<number> {
  const schema = toSchema(config.databaseSchema, name);
  if (!(await listSiblingSchemas(first)).includes(schema)) {
    throw new Fault(
      "USAGE_INVALID",
      `There is no schema ${schema} of a deployment ${name}; \`deployments\` lists those that exist. The default one is never dropped: its schema has the payments as well.`,
    );
  }
  const { database, close } = await openSchema(config, schema, log);
  try {
    const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 0, signal: stop });
    if (!lock) {
      throw new Fault(
        "DATABASE_BUSY",
        `An indexer writes the deployment ${name}; start it without this deployment first.`,
      );
    }
    try {
      const { events, written, payments } = await countContents(database);
      if (payments > 0) {
        throw new Fault(
          "USAGE_INVALID",
          `The schema ${schema} has ${payments.toLocaleString("en")} records of payments: it is the default one of another installation, whose DATABASE_SCHEMA it is. Nothing was deleted.`,
        );
      }
      print(
        `The schema ${schema} has ${events.toLocaleString("en")} events, which an indexer can read again from the chain, and ${written.toLocaleString("en")} records that clients have written (documents, metadata, schemas, webhooks), which are nowhere else.\n`,
      );
      if (options.yes !== true) {
        print("Nothing was deleted. Add --yes to delete all of it.\n");
        return 1;
      }
      await lock.transaction((session) => dropSchema(session, schema));
      print(`Dropped the deployment ${name}. No other schema was touched.\n`);
      return 0;
    } finally {
      await lock.release();
    }
  } finally {
    await close();
  }
}
