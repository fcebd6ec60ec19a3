// GET /integrity: the position of the index on its chain, the reorgs that it met, its audits, and what made its rows.

import { createHash } from "node:crypto";
import { readVersion } from "../../config/version.ts";
import type { IndexerReport } from "../../indexer/status.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import { rowDeclaration } from "../../protocol/domains.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { integritySchema } from "../../schema/integrity.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import {
  assertBlockReached,
  formatHeadHeaders,
  HEAD_HEADERS,
  type RunRead,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { type IntegrityRow, selectIntegrity } from "../../store/index/integrity.ts";
import { isMadeFrom } from "../../store/index/row-tables.ts";

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
    responses: { 200: integritySchema },
    readsIndex: true,
    responseHeaders: { 200: HEAD_HEADERS, 304: HEAD_HEADERS },
    hasEtag: true,
    handle: ({ client, minBlock }) =>
      run({ sql: selectIntegrity(), cost: "quick", client, atLeast: minBlock }, (head, rows) => {
        assertBlockReached(minBlock, head.number);
        const row = assertDefined(toFirstRecord<IntegrityRow>(rows), "the position of the index");
        const body = describeIntegrity(row);
        const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url")}"`;
        const headers = { ...formatHeadHeaders(head), "cache-control": "no-cache", etag };
        return { status: 200, body, headers };
      }),
  };
}

/** Reports of earlier versions lack some fields. */
type StoredReport = Partial<Pick<IndexerReport, "phase" | "reason" | "head" | "headSeenAt" | "audit">>;

type Integrity = TypeOf<typeof integritySchema>;

function describeIntegrity(row: IntegrityRow): Integrity {
  const report = parse<StoredReport>(row.status);
  const declarationHash = row.declaration_hash;
  const reorgTotals = parse<{ count: string; deepest: string }>(row.reorg_totals);
  return {
    version: readVersion(),
    deployment: {
      chain_id: row.chain_id,
      start_block: row.start_block,
      contracts: parse<Integrity["deployment"]["contracts"]>(row.contracts) ?? {},
      fingerprint: row.fingerprint,
    },
    rows: {
      fold_version: String(rowDeclaration.foldVersion),
      declaration_hash: declarationHash,
      is_current: declarationHash !== null && isMadeFrom(rowDeclaration, declarationHash),
    },
    indexed: {
      block_number: row.indexed_block,
      block_hash: row.indexed_hash,
      block_timestamp: row.indexed_timestamp,
    },
    finalized_block: row.finalized_block,
    safe_block: row.safe_block,
    ...describeChain(row, report),
    indexer:
      report === null || row.status === null
        ? null
        : {
            phase: report.phase ?? "starting",
            reason: report.reason ?? null,
            reported_at: row.reported_at,
            is_reporting: row.is_reporting,
          },
    reorgs: {
      count: reorgTotals?.count ?? "0",
      deepest: reorgTotals?.deepest ?? null,
      last: parse<Integrity["reorgs"]["last"]>(row.reorgs) ?? [],
    },
    audits: {
      unconfirmed_blocks: countUnconfirmed(report),
      latest: parse<Integrity["audits"]["latest"]>(row.latest_audits) ?? [],
      last: parse<Integrity["audits"]["last"]>(row.audits) ?? [],
    },
  };
}

const UNKNOWN_LAG = { blocks: null, seconds: null };

/** The chain's head as a node last showed it, and how far the index is behind it. */
function describeChain(row: IntegrityRow, report: StoredReport | null): Pick<Integrity, "chain" | "lag"> {
  const head = report?.head ?? null;
  if (head === null) return { chain: null, lag: UNKNOWN_LAG };
  const seenAt = report?.headSeenAt ?? null;
  // The report is up to a second older than the rows.
  const behind = (value: number, indexed: string) => String(Math.max(0, value - Number(indexed)));
  return {
    chain: {
      block_number: String(head.number),
      block_hash: head.hash,
      block_timestamp: String(head.timestamp),
      seen_at: seenAt === null ? null : new Date(seenAt * 1_000).toISOString(),
    },
    lag: row.is_reporting
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

function parse<T>(json: string | null): T | null {
  return json === null ? null : JSON.parse(json);
}
