// What a local run has brought about so far, counted in the database: few rows, asked for once a second.
import type { Database } from "../store/postgres/database.ts";

export type LocalCounters = { readonly events: string; readonly openIntents: string };

export async function readLocalCounters(database: Database): Promise<LocalCounters> {
  const { rows } = await database.query<LocalCounters>(
    `select (select count(*) from logs)::text as events,
      (select count(*) from intents where valid_to is null and status = 'OPEN'
        and deadline > (select block_timestamp from checkpoint))::text as "openIntents"`,
  );
  const [tally] = rows;
  if (!tally) throw new Error("a select of counts has a row");
  return tally;
}
