// Records that clients write: statements, and writes within limits that notify every process with cached responses.
import { createFairLimit, listClientNetworks } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type {
  RecordStore,
  StatementRunner,
  WritableTable,
  WriteTransaction,
} from "../../schema/record-store.ts";
import type { SqlText } from "../../schema/sql.ts";
import { buildChangeNotification } from "./change-notifications.ts";
import type { Database } from "./database.ts";
import { createIndexEmptyFault, SQLSTATE, sqlState } from "./errors.ts";
import type { QueryRunner } from "./session.ts";

type RecordStoreOptions = {
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
          const charge: WriteTransaction["charge"] = async (bytes, mayUseReserve) => {
            await assertStorage({ bytes, total }, limits, mayUseReserve);
            await chargeClientBytes(session, { client, bytes }, limits);
          };
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
    async run<R extends object>({ text, values, name }: SqlText) {
      try {
        return (await session.query<R>({ text, values, ...(name === undefined ? {} : { name }) })).rows;
      } catch (cause) {
        // The indexer creates the tables of the index when it first runs.
        if (sqlState(cause) !== SQLSTATE.undefinedTable) throw cause;
        throw createIndexEmptyFault(cause);
      }
    },
  };
}

/** Both limits are exact across processes. */
type StorageLimits = {
  /** Bytes that one client may write per day (UTC); 0 means no limit. */
  readonly clientBytesPerDayMax: number;
  /** Bytes of all records; 0 means no limit. */
  readonly totalBytesMax: number;
};

const NO_STORAGE_LIMITS: StorageLimits = { clientBytesPerDayMax: 0, totalBytesMax: 0 };

/** Must come first in every transaction that writes or deletes records, so that they wait here and cannot deadlock. */
export async function lockStoredTotal(session: QueryRunner): Promise<bigint> {
  const { rows } = await session.query<{ bytes: string }>("select bytes from stored_total for update");
  return BigInt(rows[0]?.bytes ?? 0);
}

// A gigabyte of the default: what anyone may write, or any free key may sign, never takes all of it.
const RESERVE_PERCENT = 10n;

/** Throws a Fault if the bytes do not fit into all storage, or without a right to the reserve into the rest. */
async function assertStorage(
  { bytes, total }: { readonly bytes: number; readonly total: bigint },
  { totalBytesMax }: StorageLimits,
  mayUseReserve: () => Promise<boolean> = async () => false,
): Promise<void> {
  if (totalBytesMax === 0) return;
  const max = BigInt(totalBytesMax);
  const after = total + BigInt(bytes);
  if (after <= max - (max * RESERVE_PERCENT) / 100n) return;
  if (after <= max && (await mayUseReserve())) return;
  throw new Fault(
    "STORAGE_FULL",
    "The storage of this server is full; nothing was stored. Everything can still be read.",
  );
}

/** Counts bytes for a client, in a transaction that has locked the total and stores them next. */
async function chargeClientBytes(
  session: QueryRunner,
  { client, bytes }: { readonly client: string; readonly bytes: number },
  { clientBytesPerDayMax: clientMax }: StorageLimits,
): Promise<void> {
  for (const { id, share } of listClientNetworks(client)) {
    if (await addClientBytes(session, { client: id, bytes, max: clientMax * share })) continue;
    throw new Fault(
      "RATE_LIMITED",
      `There is a limit of ${clientMax} stored bytes per client and day (UTC).`,
      { retryAfterSeconds: await secondsUntilTomorrow(session) },
    );
  }
}

/** Whether they are within the limit of the day; 0 means no limit. */
async function addClientBytes(
  session: QueryRunner,
  { client, bytes, max }: { readonly client: string; readonly bytes: number; readonly max: number },
): Promise<boolean> {
  const { count } = await session.query({
    text: `insert into client_writes as w (day, client, bytes)
           select (now() at time zone 'UTC')::date, $1, $2::bigint where $3::bigint = 0 or $2::bigint <= $3::bigint
           on conflict (day, client) do update set bytes = w.bytes + excluded.bytes
           where $3::bigint = 0 or w.bytes + excluded.bytes <= $3::bigint`,
    values: [client, bytes, max],
  });
  return count === 1;
}

// Takes the database's clock, so that all processes agree on the day.
async function secondsUntilTomorrow(session: QueryRunner): Promise<number> {
  const { rows } = await session.query<{ seconds: number }>(
    `select ceil(extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day'
       - (now() at time zone 'UTC')))::int as seconds`,
  );
  return rows[0]?.seconds ?? 1;
}
