// The subjects of signed writes and the hash that an author signs, and whether an account is in the index.
import { type WriteDomain, type WriteMessage, writeTypedData } from "@sextant/client/writes/typed-data";
import { hashTypedData } from "viem";
import type { Hex } from "../../lib/hex.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { equalsHex, joinSql, rawSql, sql } from "../../schema/sql.ts";

/** The action of a write, and its resource. */
export type WriteSubject = Pick<WriteMessage, "action" | "resource">;

export const metadataWriteSubject = (intentId: bigint | string): WriteSubject => ({
  action: "putIntentMetadata",
  resource: `/intents/${intentId}/metadata`,
});

export const reservationWriteSubject = (intentHash: Hex): WriteSubject => ({
  action: "reserveIntentMetadata",
  resource: `/intents/metadata/${intentHash.toLowerCase()}`,
});

export const schemaWriteSubject = (schemaHash: Hex): WriteSubject => ({
  action: "publishAttestationSchema",
  resource: `/attestations/schemas/${schemaHash.toLowerCase()}`,
});

export const webhooksWriteSubject = (action: "registerWebhook" | "listWebhooks"): WriteSubject => ({
  action,
  resource: "/webhooks",
});

export const webhookWriteSubject = (id: string): WriteSubject => ({
  action: "manageWebhook",
  resource: `/webhooks/${id}`,
});

export function hashWrite(domain: WriteDomain, write: WriteMessage): Hex {
  return hashTypedData(writeTypedData(domain, write));
}

// Each column begins an index of its table, so that a search is a few lookups.
const ROLES = [
  ["agents", "owner"],
  ["intents", "owner"],
  ["merchants", "owner"],
  ["solvers", "operator"],
  ["attestors", "operator"],
  ["attestations", "attester"],
  ["facilitators", "facilitator"],
  ["receipts", "agent"],
  ["disputes", "opener"],
  // Policy accounts.
  ["policies", "account"],
  ["session_keys", "account"],
] as const;

/** Whether a write may use the storage that is kept for accounts in the index; the signer is null in open mode. */
export function mayUseReserve(rows: StatementRunner, signer: Hex | null): () => Promise<boolean> {
  return async () => signer !== null && (await isIndexedAccount(rows, signer));
}

export async function isIndexedAccount(rows: StatementRunner, account: Hex): Promise<boolean> {
  const roles = ROLES.map(
    ([table, column]) =>
      sql`exists (select from ${rawSql(table)} where ${equalsHex(column, account)} and valid_to is null)`,
  );
  const [found] = await rows.run<{ is_indexed: boolean }>(
    sql`select ${joinSql(roles, " or ")} as is_indexed`,
  );
  return found?.is_indexed ?? false;
}
