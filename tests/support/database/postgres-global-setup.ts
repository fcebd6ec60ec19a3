// One PostgreSQL for the whole test run: TEST_DATABASE_URL if given, otherwise an embedded one in a fast folder.
import { chmod, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isProcessAlive } from "@sextant/embedded-postgres/processes";
import { startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import type { TestProject } from "vitest/node";
import { createLog, type Log } from "../../../src/lib/log.ts";
import { rowDeclaration } from "../../../src/protocol/domains.ts";
import { createRowIndexes, createRowTables, recordRowTables } from "../../../src/store/index/row-tables.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { migrate } from "../../../src/store/postgres/migrate.ts";
import { migrations } from "../../../src/store/postgres/migrations.ts";
import { findFastFolder } from "../test-folder.ts";
import { createDatabaseOn, type TestDatabase, type TestServer } from "./test-database.ts";

const PREFIX = "sextant-test-";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = createLog({ level: "error", terminal: true, name: "test-postgres" });
  const folder = await createRunFolder();
  project.provide("initialisedFolder", join(folder, "initialised"));
  const { server, stop } = await startServer(folder, log);
  project.provide("postgres", server);
  const template = await createMigratedTemplate(server, log);
  project.provide("migratedTemplate", template.name);
  const rowTemplate = await createRowTemplate(server, template.name, log);
  project.provide("rowTemplate", rowTemplate.name);
  return async () => {
    await rowTemplate.drop();
    await template.drop();
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** For the databases of the run; removed at its end. */
async function createRunFolder(): Promise<string> {
  const parent = findFastFolder();
  await removeAbandonedFolders(parent);
  const folder = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  // The server runs as another account when the tests run as root, and must be able to pass.
  await chmod(folder, 0o711);
  return folder;
}

async function startServer(folder: string, log: Log): Promise<{ server: TestServer; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { server: { kind: "given", url }, stop: async () => undefined };
  const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log, durability: "none" });
  return { server: { kind: "embedded", ...server.connection }, stop: () => server.stop() };
}

/** Copying it is cheaper than migrating each test database. */
async function createMigratedTemplate(server: TestServer, log: Log): Promise<TestDatabase> {
  const template = await createDatabaseOn(server);
  await withDatabase(template, log, (database) => migrate(database, migrations, log));
  return template;
}

/** The tables of an index and their indexes are hundreds of statements, which each test index would send again. */
async function createRowTemplate(server: TestServer, migrated: string, log: Log): Promise<TestDatabase> {
  const template = await createDatabaseOn(server, { template: migrated });
  await withDatabase(template, log, (database) =>
    database.transaction(async (session) => {
      await createRowTables(session, rowDeclaration.tables);
      await createRowIndexes(session, rowDeclaration.tables);
      await recordRowTables(session, rowDeclaration);
    }),
  );
  return template;
}

/** Disconnects afterwards: no one may stay connected to a template. */
async function withDatabase(
  { connection }: TestDatabase,
  log: Log,
  work: (database: Database) => Promise<unknown>,
): Promise<void> {
  const options = { connection, schema: "sextant", poolMax: 1, log, applicationName: "test" };
  const database = await openDatabase(options);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

/** A killed run could not clean up: its server ended with it, its folder is still there. */
async function removeAbandonedFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split("-")[0]) : Number.NaN;
    if (!Number.isInteger(pid) || isProcessAlive(pid)) continue;
    const path = join(parent, name);
    if ((await lstat(path)).uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}
