// Rows of hosted documents. Later publications of the same text change nothing.
import type { Hex } from "viem";
import type { StatementRunner } from "../../schema/record-store.ts";
import { joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import type { DocumentKind, DocumentLabelName, DocumentText } from "./kinds.ts";

export type DocumentLabels = Readonly<Partial<Record<DocumentLabelName, string>>>;

export type DocumentRow = Readonly<Record<DocumentLabelName, string | null>> & {
  readonly hash: string;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Whether its expiry period began a day or more ago, so that publishing it again restarts the period. */
  readonly is_due: boolean;
};

export type NewDocument = {
  readonly document: DocumentText;
  readonly labels: DocumentLabels;
  /** Size that counts against the storage limits. */
  readonly bytes: number;
};

export async function insertDocument(
  rows: StatementRunner,
  { kind, labels }: Pick<DocumentKind, "kind" | "labels">,
  { document: { text, hash, size, name }, labels: given, bytes }: NewDocument,
): Promise<void> {
  const columns = labels.map((label) => sql`, ${rawSql(label)}`);
  const values = labels.map((label) => sql`, ${given[label] ?? null}`);
  await rows.run(
    sql`insert into documents (kind, hash, text, size_bytes, name, stored_bytes${joinSql(columns, "")}) values (${kind}, ${hash}, convert_to(${text}, 'UTF8'), ${size}, ${name}, ${bytes}${joinSql(values, "")}) on conflict (kind, hash) do nothing`,
  );
}

/** Restarts the expiry period. The labels of the first publisher stay; a version without names may have stored the row. */
export async function renewDocumentExpiry(
  rows: StatementRunner,
  { kind }: Pick<DocumentKind, "kind">,
  { hash, name }: Pick<DocumentText, "hash" | "name">,
): Promise<void> {
  await rows.run(
    sql`update documents set referred_at = now(), name = coalesce(name, ${name}) where ${hasKey(kind, hash)}`,
  );
}

export async function findDocument(
  rows: StatementRunner,
  { kind }: Pick<DocumentKind, "kind">,
  hash: Hex,
): Promise<DocumentRow | null> {
  const found = await rows.run<DocumentRow>(
    sql`select hash, size_bytes, request_hash, request_id, merchant_id, service_numeric_id, service_id, agent, iso_time(created_at) as created_at, iso_time(updated_at) as updated_at, referred_at < now() - interval '1 day' as is_due from documents where ${hasKey(kind, hash)}`,
  );
  return found[0] ?? null;
}

export async function readDocumentBytes(
  rows: StatementRunner,
  { kind }: Pick<DocumentKind, "kind">,
  hash: Hex,
): Promise<Buffer | null> {
  const [found] = await rows.run<{ text: Hex }>(sql`select text from documents where ${hasKey(kind, hash)}`);
  return found === undefined ? null : Buffer.from(found.text.slice(2), "hex");
}

function hasKey(kind: DocumentKind["kind"], hash: Hex): SqlText {
  return sql`kind = ${kind} and hash = ${hash}`;
}
