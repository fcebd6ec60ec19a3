// Records that people write: plain statements, and changes of which every process that keeps answers hears.
import { Fault } from "../kit/fault.ts";
import type { RecordStore, Rows } from "../schema/record-store.ts";
import type { SqlText } from "../schema/statement.ts";
import type { Database } from "./database.ts";
import { sqlState } from "./database-fault.ts";
import type { Session, Value } from "./session.ts";
import { tellChange } from "./watch-changes.ts";

export function openRecordStore(database: Database): RecordStore {
  return {
    ...rowsOf(database),
    change: (work) =>
      database.transaction(async (session) => {
        const result = await work(rowsOf(session));
        await tellChange(session, database.schema);
        return result;
      }),
  };
}

const UNDEFINED_TABLE = "42P01";

function rowsOf(session: Pick<Session, "query">): Rows {
  return {
    async run<R extends object>({ text, values }: SqlText) {
      try {
        return (await session.query<R>({ text, values: values as readonly Value[] })).rows;
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
