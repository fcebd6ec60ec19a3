// An index of a chain without events: every list is empty and every record missing.

import { tables } from "../../../src/protocol/domains.ts";
import { createRowTables } from "../../../src/store/index/row-tables.ts";
import type { DatabaseConnection } from "../../../src/store/postgres/connection.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { createMigratedDatabase } from "../database/test-database.ts";
import { silentLog } from "../quiet-log.ts";

export type EmptyIndex = {
  readonly database: Database;
  /** For tests that open their own connection. */
  readonly connection: DatabaseConnection;
  drop(): Promise<void>;
};

export function openTestConnection(connection: DatabaseConnection): Promise<Database> {
  return openDatabase({ connection, schema: "sextant", poolMax: 4, log: silentLog, applicationName: "test" });
}

export async function openEmptyIndex(): Promise<EmptyIndex> {
  const { connection, drop } = await createMigratedDatabase();
  const database = await openTestConnection(connection);
  await fillEmptyIndex(database);
  return {
    database,
    connection,
    async drop() {
      await database.close();
      await drop();
    },
  };
}

/** In a schema that is migrated. */
export async function fillEmptyIndex(database: Database): Promise<void> {
  await database.transaction(async (session) => {
    await createRowTables(session, tables);
    const contracts = JSON.stringify({ PolicyModule: `0x${"11".repeat(20)}` });
    await session.query({
      text: "insert into deployment (chain_id, start_block, contracts) values (31337, 0, $1::jsonb)",
      values: [contracts],
    });
    await session.query(
      "insert into checkpoint (block_number, block_hash, block_timestamp, finalized_block) values (7, '\\x07', 1700000000, 0)",
    );
  });
}
