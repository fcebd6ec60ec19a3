// Records that people write: plain statements, and changes within limits that every process with cached responses hears of.
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { RecordStore, StatementRunner, WritableTable } from "../../schema/record-store.ts";
import type { SqlText } from "../../schema/sql.ts";
import { buildChangeNotification } from "./change-notifications.ts";
import type { Database } from "./database.ts";
import { sqlState } from "./errors.ts";
import type { Session, StatementValue } from "./session.ts";
import {
  chargeClientBytes,
  lockStoredTotal,
  NO_STORAGE_LIMITS,
  type StorageLimits,
} from "./storage-limits.ts";

export type RecordStoreOptions = {
  /** Called for changes of our own as soon as they are committed: notifications arrive a moment later. */
  readonly onChange?: (tables: readonly WritableTable[]) => void;
  /** What people may store; without it there is no limit. */
  readonly limits?: StorageLimits;
};

// Changes wait for one another in the database: more of them at once would only hold connections that reads need.
const CHANGES_MAX = 2;
// At some milliseconds each, the last one waits about a second.
const WAITING_MAX = 200;
// Whoever publishes a whole folder at once is served, and leaves three quarters of the queue to others.
const WAITING_PER_CLIENT_MAX = 50;

export function openRecordStore(database: Database, options: RecordStoreOptions = {}): RecordStore {
  const { onChange: changed = () => undefined, limits = NO_STORAGE_LIMITS } = options;
  const turn = createFairLimit({
    runningMax: CHANGES_MAX,
    runningPerKeyMax: 1,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_CLIENT_MAX,
  });
  return {
    ...rowsOf(database),
    async write({ client, tables: changes }, work) {
      const result = await turn.run(client, () =>
        database.transaction(async (session) => {
          const total = await lockStoredTotal(session);
          const charge = (bytes: number) => chargeClientBytes(session, { client, bytes, total }, limits);
          const done = await work({ ...rowsOf(session), charge });
          if (changes.length > 0) await session.query(buildChangeNotification(database.schema, changes));
          return done;
        }),
      );
      if (changes.length > 0) changed(changes);
      return result;
    },
  };
}

const UNDEFINED_TABLE = "42P01";

function rowsOf(session: Pick<Session, "query">): StatementRunner {
  return {
    async run<R extends object>({ text, values }: SqlText) {
      try {
        return (await session.query<R>({ text, values: values as readonly StatementValue[] })).rows;
      } catch (cause) {
        // The tables of the index are made by the indexer; until it has run, nothing can be linked to them.
        if (sqlState(cause) !== UNDEFINED_TABLE) throw cause;
        throw new Fault("INDEX_EMPTY", "Nothing is indexed yet; try again when /ready answers 200.", {
          cause,
        });
      }
    },
  };
}
