// The indexed intent that a write refers to.
import type { Hex } from "../../lib/hex.ts";
import { type Parameter, uintParameter } from "../../schema/parameter.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";

export type IndexedIntent = {
  readonly intent_id: string;
  readonly intent_hash: Hex;
  readonly owner: Hex;
  readonly data_hash: Hex;
};

export const intentIdParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  kind: uintParameter(),
  description: "Intent id.",
};

export function findIntentById(rows: StatementRunner, id: string): Promise<IndexedIntent | null> {
  return findFirst(rows, sql`intent_id = ${id}`);
}

export function findIntentByHash(rows: StatementRunner, hash: Hex): Promise<IndexedIntent | null> {
  return findFirst(rows, sql`intent_hash = ${hash}`);
}

async function findFirst(rows: StatementRunner, condition: SqlText): Promise<IndexedIntent | null> {
  const found = await rows.run<IndexedIntent>(
    sql`select intent_id, intent_hash, owner, data_hash from intents where ${condition} and valid_to is null order by intent_id limit 1`,
  );
  return found[0] ?? null;
}
