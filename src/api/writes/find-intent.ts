// Intents as the index has them now, as far as a write must know them.
import type { Hex } from "../../lib/hex.ts";
import { type Parameter, uintParameter } from "../../schema/parameter.ts";
import type { Rows } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";

export type IndexedIntent = {
  readonly intent_id: string;
  readonly intent_hash: Hex;
  readonly owner: Hex;
  readonly data_hash: Hex;
};

export const intentInPath: Parameter = {
  name: "id",
  place: "path",
  required: true,
  kind: uintParameter(),
  meaning: "Which intent: its id.",
};

export function findIntent(rows: Rows, id: string): Promise<IndexedIntent | null> {
  return first(rows, sql`intent_id = ${id}`);
}

export function findIntentByHash(rows: Rows, hash: Hex): Promise<IndexedIntent | null> {
  return first(rows, sql`intent_hash = ${hash}`);
}

async function first(rows: Rows, condition: SqlText): Promise<IndexedIntent | null> {
  const found = await rows.run<IndexedIntent>(
    sql`select intent_id, intent_hash, owner, data_hash from intents where ${condition} and valid_to is null order by intent_id limit 1`,
  );
  return found[0] ?? null;
}
