// Records of reorgs and audits, and everything that shows whether the index can be trusted, in one statement.
import type { BlockId } from "../../schema/chain-log.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { Session } from "../postgres/session.ts";
import { DEPLOYMENT_FINGERPRINT, REPORT_AGE_SECONDS_MAX } from "./checkpoint.ts";
import { encodeBytea } from "./raw-logs.ts";

// Weeks of a chain that forks every few minutes.
const REORGS_KEPT = 1_000;

/** Remembers a rollback; before the checkpoint moves, in the same transaction. */
export function buildReorgSteps({ number, hash }: BlockId): PipelineStep[] {
  return [
    {
      text: `
        insert into reorgs (sequence, ancestor_number, ancestor_hash, abandoned_number, abandoned_hash, depth, deepest)
        select coalesce(l.sequence, 0) + 1, $1::bigint, $2::bytea, c.block_number, c.block_hash, c.block_number - $1::bigint,
          greatest(coalesce(l.deepest, 0), c.block_number - $1::bigint)
        from checkpoint c left join lateral (select sequence, deepest from reorgs order by sequence desc limit 1) l on true
        where c.block_number > $1::bigint`,
      values: [number, encodeBytea(hash)],
    },
    {
      text: "delete from reorgs where sequence <= (select max(sequence) from reorgs) - $1::bigint",
      values: [REORGS_KEPT],
    },
  ];
}

/** One comparison of the index with the chain. */
export type AuditRecord = {
  /** `self`: a sample of the indexer. `command`: a run of `sextant audit`. */
  readonly source: "self" | "command";
  /** The kind of comparison: stored logs of blocks, rows, or whole tables. */
  readonly kind: "blocks" | "rows" | "tables";
  /** The block as of which it was compared; null for samples. */
  readonly block: number | null;
  readonly checked: number;
  readonly differences: number;
  readonly firstDifference: string | null;
  readonly version: string;
};

// Results kept of each kind: a few hours of samples, and more runs than anyone needs.
const AUDITS_KEPT = 200;
const DIFFERENCE_LENGTH_MAX = 1_000;

/** Within a transaction: a second writer waits, so that none is lost. */
export async function insertAudit(session: Session, audit: AuditRecord): Promise<void> {
  const { source, kind, block, checked, differences, firstDifference, version } = audit;
  await session.query("lock table audits in share row exclusive mode");
  await session.query({
    text: `
      insert into audits (source, kind, sequence, block_number, checked, checked_total, differences, first_difference, version)
      select $1::text, $2::text, coalesce(l.sequence, 0) + 1, $3::bigint, $4::bigint, coalesce(l.checked_total, 0) + $4::bigint, $5::bigint, $6::text, $7::text
      from (select 1) one left join lateral (select a.sequence, a.checked_total from audits a
        where a.source = $1::text and a.kind = $2::text order by a.sequence desc limit 1) l on true`,
    values: [
      source,
      kind,
      block,
      checked,
      differences,
      firstDifference?.slice(0, DIFFERENCE_LENGTH_MAX) ?? null,
      version,
    ],
  });
  await session.query({
    text: `delete from audits where source = $1 and kind = $2
           and sequence <= (select max(sequence) from audits where source = $1 and kind = $2) - $3::bigint`,
    values: [source, kind, AUDITS_KEPT],
  });
}

// The results that a page shows.
const REORGS_READ = 20;
const AUDITS_READ = 20;

const hexOf = (column: string) => `'0x' || encode(${column}, 'hex')`;

/** The row of `selectIntegrity`; an indexer that never reported has no status. */
export type IntegrityRow = Readonly<
  Record<"indexed_block" | "indexed_hash" | "indexed_timestamp" | "finalized_block", string> &
    Record<"chain_id" | "start_block" | "contracts" | "fingerprint", string> &
    Record<"safe_block" | "declaration_hash" | "reorg_totals" | "reorgs", string | null> &
    Record<"latest_audits" | "audits", string | null> &
    (
      | { status: string; reported_at: string; is_reporting: boolean }
      | { status: null; reported_at: null; is_reporting: null }
    )
>;

/** One row; `h` is the checkpoint and `d` the deployment, as in every read. */
export function selectIntegrity(): SqlText {
  const reorgs = `select coalesce(json_agg(json_build_object('ancestor_block', r.ancestor_number::text, 'ancestor_hash', ${hexOf("r.ancestor_hash")},
      'abandoned_block', r.abandoned_number::text, 'abandoned_hash', ${hexOf("r.abandoned_hash")}, 'depth', r.depth::text,
      'at', iso_time(r.at)) order by r.sequence desc), '[]')
    from (select * from reorgs order by sequence desc limit ${REORGS_READ}) r`;
  const newest = `select json_build_object('count', r.sequence::text, 'deepest', r.deepest::text) from reorgs r order by r.sequence desc limit 1`;
  const audit = `json_build_object('source', a.source, 'kind', a.kind, 'block_number', a.block_number::text, 'checked', a.checked::text,
      'checked_total', a.checked_total::text, 'differences', a.differences::text, 'first_difference', a.first_difference,
      'version', a.version, 'at', iso_time(a.at))`;
  const audits = `select coalesce(json_agg(${audit} order by a.at desc, a.sequence desc), '[]')
    from (select * from audits order by at desc, sequence desc limit ${AUDITS_READ}) a`;
  const latest = `select coalesce(json_agg(${audit} order by a.source, a.kind), '[]')
    from (select distinct on (source, kind) * from audits order by source, kind, sequence desc) a`;
  return sql`select h.block_number as indexed_block, ${rawSql(hexOf("h.block_hash"))} as indexed_hash, h.block_timestamp as indexed_timestamp,
      h.finalized_block as finalized_block, h.safe_block as safe_block, d.chain_id as chain_id, d.start_block as start_block,
      d.contracts::text as contracts, ${rawSql(DEPLOYMENT_FINGERPRINT)} as fingerprint,
      (select t.declaration_hash from row_tables t) as declaration_hash,
      (select s.status::text from indexer_status s) as status, (select iso_time(s.reported_at) from indexer_status s) as reported_at,
      (select s.reported_at >= now() - interval '${rawSql(String(REPORT_AGE_SECONDS_MAX))} seconds' from indexer_status s) as is_reporting,
      (${rawSql(newest)})::text as reorg_totals, (${rawSql(reorgs)})::text as reorgs, (${rawSql(latest)})::text as latest_audits,
      (${rawSql(audits)})::text as audits`;
}
