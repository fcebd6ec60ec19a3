// Records that clients write: statements, and writes within limits that notify every process with cached responses.
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import type { RecordStore, StatementRunner, WritableTable } from "../../schema/record-store.ts";
import type { SqlText } from "../../schema/sql.ts";
import { buildChangeNotification } from "./change-notifications.ts";
import type { Database } from "./database.ts";
import { createIndexEmptyFault, SQLSTATE, sqlState } from "./errors.ts";
import type { QueryRunner } from "./session.ts";
import {
  chargeClientBytes,
  lockStoredTotal,
  NO_STORAGE_LIMITS,
  type StorageLimits,
} from "./storage-limits.ts";

export type RecordStoreOptions = {
  /** Called for writes of this process as soon as they commit: notifications arrive a moment later. */
  readonly onChange?: (tables: readonly WritableTable[]) => void;
  /** Without it there is no limit. */
  readonly limits?: StorageLimits;
};

// Writes wait for one another in the database: more at once would only occupy connections that reads need.
const WRITES_MAX = 2;
// At a few milliseconds each, the last one waits about a second.
const WAITING_MAX = 200;
// A client may publish a whole folder at once, and still leaves three quarters of the queue to others.
const WAITING_PER_CLIENT_MAX = 50;

export function openRecordStore(database: Database, options: RecordStoreOptions = {}): RecordStore {
  const { onChange = () => undefined, limits = NO_STORAGE_LIMITS } = options;
  const queue = createFairLimit({
    runningMax: WRITES_MAX,
    runningPerKeyMax: 1,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_CLIENT_MAX,
  });
  return {
    ...createStatementRunner(database),
    async write({ client, tables }, work) {
      const result = await queue.run(client, () =>
        database.transaction(async (session) => {
          const total = await lockStoredTotal(session);
          const charge = (bytes: number) => chargeClientBytes(session, { client, bytes, total }, limits);
          const done = await work({ ...createStatementRunner(session), charge });
          if (tables.length > 0) await session.query(buildChangeNotification(database.schema, tables));
          return done;
        }),
      );
      if (tables.length > 0) onChange(tables);
      return result;
    },
  };
}

function createStatementRunner(session: QueryRunner): StatementRunner {
  return {
    async run<R extends object>({ text, values }: SqlText) {
      try {
        return (await session.query<R>({ text, values })).rows;
      } catch (cause) {
        // The indexer creates the tables of the index when it first runs.
        if (sqlState(cause) !== SQLSTATE.undefinedTable) throw cause;
        throw createIndexEmptyFault(cause);
      }
    },
  };
}
