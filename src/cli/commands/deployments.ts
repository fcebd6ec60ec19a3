// `sextant deployments`: lists the deployments of this database, or drops one with its schema.

import { type IndexPosition, readIndexPosition } from "../../api/deployments/endpoint.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import { INDEXER_LOCK } from "../../indexer/run.ts";
import { Fault } from "../../lib/fault.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { acquireLock, type Lock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import {
  countContents,
  dropSchema,
  listSiblingSchemas,
  useSchema,
} from "../../store/postgres/drop-schema.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import { fitText, hangLines, toPlainText } from "../display/plain-text.ts";
import { chooseDeployments, type InstalledDeployment, toSchema } from "../installation.ts";

type DatabaseConfig = Config<typeof databaseSettings>;

export const deploymentsCommand: RunCommand = async (context) => {
  const { environment, options, log } = context;
  const config = readConfig(environment, databaseSettings);
  const installed = await chooseDeployments({ environment, options: {} });
  const { database, close } = await openConfiguredDatabase(config, log, "deployments");
  try {
    const name = readStringOption(options, "drop");
    return name === undefined
      ? await list(context, config, installed, database)
      : await drop(context, config, name, database);
  } finally {
    await close();
  }
};

async function list(
  { print, columns }: CommandContext,
  config: DatabaseConfig,
  installed: readonly InstalledDeployment[],
  database: Database,
): Promise<number> {
  const siblings = await listSiblingSchemas(database);
  const stored = new Set([config.databaseSchema, ...siblings.map(({ name }) => name)]);
  for (const { name, databaseSchema: schema, deployment } of installed) {
    const state = stored.has(schema) ? await describeState(database, schema) : NOTHING_INDEXED;
    print(formatLine({ name, schema, chain: `chain ${deployment.chainId}`, state }, columns));
    stored.delete(schema);
  }
  for (const { name: schema, isOwn } of siblings.filter((each) => stored.has(each.name))) {
    const state = isOwn ? await describeState(database, schema) : "not read: another database user owns it";
    const name = schema.slice(config.databaseSchema.length + 1).replaceAll("_", "-");
    print(formatLine({ name, schema, chain: "not configured", state }, columns));
  }
  return 0;
}

const NOTHING_INDEXED = "nothing indexed";

/** As it is: another installation may have the schema, with another version. */
async function describeState(database: Database, schema: string): Promise<string> {
  try {
    return formatPosition(
      await database.transaction(async (session) => {
        await useSchema(session, schema);
        return readIndexPosition(session);
      }),
    );
  } catch (error) {
    // One that cannot be read must not hide the others.
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function formatPosition({ checkpoint, lag }: IndexPosition): string {
  if (checkpoint === null) return NOTHING_INDEXED;
  return `block ${checkpoint.block.number}, ${lag ? `${lag.blocks} behind` : "no indexer"}`;
}

type Line = Readonly<Record<"name" | "schema" | "chain" | "state", string>>;

function formatLine({ name, schema, chain, state }: Line, columns: CommandContext["columns"]): string {
  if (!columns) {
    return `${[name.padEnd(20), `schema ${schema.padEnd(28)}`, chain.padEnd(16), state].join("  ")}\n`;
  }
  const lines = fitText(toPlainText(`${chain}, ${state}, schema ${schema}`), columns, 2);
  return [name, ...lines.map((line) => `  ${line}`), ""].join("\n");
}

async function drop(
  context: CommandContext,
  config: DatabaseConfig,
  name: string,
  database: Database,
): Promise<number> {
  const schema = toSchema(config.databaseSchema, name);
  const found = (await listSiblingSchemas(database)).find((each) => each.name === schema);
  if (!found) {
    throw new Fault(
      "USAGE_INVALID",
      `There is no schema ${schema} of a deployment ${name}; \`deployments\` lists those that exist. The default one is never dropped: its schema has the payments as well.`,
    );
  }
  if (!found.isOwn) {
    throw new Fault(
      "USAGE_INVALID",
      `Another database user owns the schema ${schema}; run this as that user. Nothing was deleted.`,
    );
  }
  // Reads that schema through the connection of the default one: to open it would migrate it.
  const lock = await acquireLock(database, INDEXER_LOCK, { schema, waitMs: 0, signal: context.stop });
  if (!lock) {
    throw new Fault(
      "DATABASE_BUSY",
      `An indexer writes the deployment ${name}; start it without this deployment first.`,
    );
  }
  try {
    return await dropLocked(context, lock, { name, schema });
  } finally {
    await lock.release();
  }
}

async function dropLocked(
  { print, options, columns }: CommandContext,
  lock: Lock,
  { name, schema }: { readonly name: string; readonly schema: string },
): Promise<number> {
  const { events, written, payments } = await lock.transaction(async (session) => {
    await useSchema(session, schema);
    return countContents(session);
  });
  if (payments > 0) {
    throw new Fault(
      "USAGE_INVALID",
      `The schema ${schema} has ${payments.toLocaleString("en")} records of payments: it is the default one of another installation, whose DATABASE_SCHEMA it is. Nothing was deleted.`,
    );
  }
  const contents = `The schema ${schema} has ${events.toLocaleString("en")} events, which an indexer can read again from the chain, and ${written.toLocaleString("en")} records that clients have written (documents, metadata, schemas, webhooks), which are nowhere else.\n`;
  print(hangLines(contents, columns));
  if (options.yes !== true) {
    print("Nothing was deleted. Add --yes to delete all of it.\n");
    return 1;
  }
  await lock.transaction((session) => dropSchema(session, schema));
  print(`Dropped the deployment ${name}. No other schema was touched.\n`);
  return 0;
}
