// Records that people write: plain statements, and changes of which every process that keeps answers hears.
import { Fault } from "../kit/fault.ts";
import type { RecordStore, Rows } from "../schema/record-store.ts";
import type { SqlText } from "../schema/statement.ts";
import type { Database } from "./database.ts";
import { sqlState } from "./database-fault.ts";
import type { Session, Value } from "./session.ts";
import { tellChange } from "./watch-changes.ts";

/** `changed` is called for changes of our own as soon as they are committed: others hear of them a moment later. */
export function openRecordStore(database: Database, changed: () => void = () => undefined): RecordStore {
  return {
    ...rowsOf(database),
    async change(work) {
      const result = await database.transaction(async (session) => {
        const done = await work(rowsOf(session));
        await session.query(tellChange(database.schema));
        return done;
      });
      changed();
      return result;
    },
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
