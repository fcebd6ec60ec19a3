// GET /integrity: the position of the index on its chain, the reorgs that it met, its audits, and what made its rows.

import { createHash } from "node:crypto";
import { readVersion } from "../../config/settings.ts";
import type { IndexerReport } from "../../indexer/status.ts";
import { rowDeclaration } from "../../protocol/domains.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject, type JsonSchema, nullable } from "../../schema/json-schema.ts";
import {
  assertBlockReached,
  formatHeadHeaders,
  HEAD_HEADERS,
  type ResultRow,
  type RunRead,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { selectIntegrity } from "../../store/index/integrity.ts";
import { isMadeFrom } from "../../store/index/row-tables.ts";

const text: JsonSchema = { type: "string" };
const uint: JsonSchema = { type: "string", pattern: "^[0-9]+$" };
const time: JsonSchema = { type: "string", format: "date-time" };

const AUDIT: JsonSchema = {
  title: "AuditResult",
  ...closedObject({
    source: { type: "string", enum: ["self", "command"] },
    kind: { type: "string", enum: ["blocks", "rows", "tables"] },
    block_number: nullable(uint),
    checked: uint,
    checked_total: { ...uint, description: "Of all comparisons of this source and kind up to this one." },
    differences: uint,
    first_difference: nullable(text),
    version: text,
    at: time,
  }),
};

const REORG: JsonSchema = {
  title: "Reorg",
  ...closedObject({
    ancestor_block: uint,
    ancestor_hash: text,
    abandoned_block: { ...uint, description: "The last block of the branch that was left." },
    abandoned_hash: text,
    depth: uint,
    at: time,
  }),
};

const RESPONSE: JsonSchema = {
  title: "Integrity",
  ...closedObject({
    version: { ...text, description: "Of the process that responds." },
    deployment: closedObject({
      chain_id: uint,
      start_block: uint,
      contracts: { type: "object", additionalProperties: text },
      fingerprint: { ...text, description: "Of chain, start block and contracts, as in cursors of events." },
    }),
    rows: closedObject({
      fold_version: { ...text, description: "Of the process that responds." },
      declaration_hash: {
        ...nullable(text),
        description: "Of the tables and the fold version that made the stored rows.",
      },
      is_current: {
        type: "boolean",
        description: "Whether the stored rows are those of the process that responds.",
      },
    }),
    indexed: closedObject({ block_number: uint, block_hash: text, block_timestamp: uint }),
    finalized_block: uint,
    safe_block: nullable(uint),
    chain: nullable(
      closedObject({ block_number: uint, block_hash: text, block_timestamp: uint, seen_at: nullable(time) }),
    ),
    lag: {
      ...closedObject({ blocks: nullable(uint), seconds: nullable(uint) }),
      description: "Null while no indexer reports: the chain may be anywhere by then.",
    },
    indexer: nullable(
      closedObject({
        phase: text,
        reason: nullable(text),
        reported_at: time,
        is_reporting: {
          type: "boolean",
          description: "Whether its last report is recent; the rest is what it said then.",
        },
      }),
    ),
    reorgs: closedObject({ count: uint, deepest: nullable(uint), last: { type: "array", items: REORG } }),
    audits: closedObject({
      unconfirmed_blocks: {
        ...nullable(uint),
        description: "Blocks that only one of several nodes has shown.",
      },
      latest: {
        type: "array",
        items: AUDIT,
        description: "The last comparison of each source and kind.",
      },
      last: { type: "array", items: AUDIT },
    }),
  }),
};

export function createIntegrityEndpoint({ run }: { readonly run: RunRead }): Endpoint {
  return {
    method: "GET",
    path: "/integrity",
    operationId: "getIntegrity",
    summary: "Whether the index can be trusted",
    description:
      "How far the index is behind its chain, what is final, the reorgs that were recorded, the last comparisons with the chain, and the deployment and declarations that the rows come from. Never cached.",
    tag: "Index",
    parameters: [],
    body: null,
    responses: { 200: RESPONSE },
    readsIndex: true,
    responseHeaders: { 200: HEAD_HEADERS, 304: HEAD_HEADERS },
    hasEtag: true,
    handle: ({ client, minBlock }) =>
      run({ sql: selectIntegrity(), cost: "quick", client, atLeast: minBlock }, (head, rows) => {
        assertBlockReached(minBlock, head.number);
        const body = describeIntegrity(toFirstRecord(rows) ?? {});
        const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url")}"`;
        const headers = { ...formatHeadHeaders(head), "cache-control": "no-cache", etag };
        return { status: 200, body, headers };
      }),
  };
}

/** Reports of earlier versions lack some fields. */
type StoredReport = Partial<Pick<IndexerReport, "phase" | "reason" | "head" | "headSeenAt" | "audit">>;

function describeIntegrity(row: ResultRow): Readonly<Record<string, unknown>> {
  const report = parse<StoredReport>(row.status);
  const declarationHash = typeof row.declaration_hash === "string" ? row.declaration_hash : null;
  const reorgTotals = parse<{ count: string; deepest: string }>(row.reorg_totals);
  return {
    version: readVersion(),
    deployment: {
      chain_id: String(row.chain_id),
      start_block: String(row.start_block),
      contracts: parse(row.contracts) ?? {},
      fingerprint: String(row.fingerprint),
    },
    rows: {
      fold_version: String(rowDeclaration.foldVersion),
      declaration_hash: declarationHash,
      is_current: declarationHash !== null && isMadeFrom(rowDeclaration, declarationHash),
    },
    indexed: {
      block_number: String(row.indexed_block),
      block_hash: String(row.indexed_hash),
      block_timestamp: String(row.indexed_timestamp),
    },
    finalized_block: String(row.finalized_block),
    safe_block: row.safe_block === null || row.safe_block === undefined ? null : String(row.safe_block),
    ...describeChain(row, report),
    indexer:
      report === null
        ? null
        : {
            phase: report.phase ?? "starting",
            reason: report.reason ?? null,
            reported_at: row.reported_at,
            is_reporting: isReporting(row),
          },
    reorgs: {
      count: reorgTotals?.count ?? "0",
      deepest: reorgTotals?.deepest ?? null,
      last: parse(row.reorgs) ?? [],
    },
    audits: {
      unconfirmed_blocks: countUnconfirmed(report),
      latest: parse(row.latest_audits) ?? [],
      last: parse(row.audits) ?? [],
    },
  };
}

const isReporting = (row: ResultRow) => String(row.is_reporting) === "true";

const UNKNOWN_LAG = { blocks: null, seconds: null };

/** The chain's head as a node last showed it, and how far the index is behind it. */
function describeChain(row: ResultRow, report: StoredReport | null): Readonly<Record<string, unknown>> {
  const head = report?.head ?? null;
  if (head === null) return { chain: null, lag: UNKNOWN_LAG };
  const seenAt = report?.headSeenAt ?? null;
  // The report is up to a second older than the rows.
  const behind = (value: number, indexed: unknown) => String(Math.max(0, value - Number(indexed)));
  return {
    chain: {
      block_number: String(head.number),
      block_hash: head.hash,
      block_timestamp: String(head.timestamp),
      seen_at: seenAt === null ? null : new Date(seenAt * 1_000).toISOString(),
    },
    lag: isReporting(row)
      ? {
          blocks: behind(head.number, row.indexed_block),
          seconds: behind(head.timestamp, row.indexed_timestamp),
        }
      : UNKNOWN_LAG,
  };
}

function countUnconfirmed(report: StoredReport | null): string | null {
  const spans = report?.audit?.unconfirmed;
  return spans === undefined ? null : String(spans.reduce((sum, { from, to }) => sum + to - from + 1, 0));
}

function parse<T>(value: unknown): T | null {
  return typeof value === "string" ? (JSON.parse(value) as T) : null;
}
