// The response of GET /integrity: what shows whether the index can be trusted.
import { closedObject, listOf, nullable, schemaOf, titledRecord } from "./json-schema.ts";

const text = { type: "string" } as const;
const uint = { type: "string", pattern: "^[0-9]+$" } as const;
const time = { type: "string", format: "date-time" } as const;

const AUDIT = titledRecord("AuditResult", {
  source: { type: "string", enum: ["self", "command"] },
  kind: { type: "string", enum: ["blocks", "rows", "tables"] },
  block_number: nullable(uint),
  checked: uint,
  checked_total: {
    ...uint,
    description: "The total of all comparisons of this source and kind up to this one.",
  },
  differences: uint,
  first_difference: nullable(text),
  version: text,
  at: time,
});

const REORG = titledRecord("Reorg", {
  ancestor_block: uint,
  ancestor_hash: text,
  abandoned_block: { ...uint, description: "The last block of the branch that was left." },
  abandoned_hash: text,
  depth: uint,
  at: time,
});

export const integritySchema = titledRecord("Integrity", {
  version: { ...text, description: "The version of the process that responds." },
  deployment: closedObject({
    chain_id: uint,
    start_block: uint,
    contracts: schemaOf<Readonly<Record<string, string>>>({ type: "object", additionalProperties: text }),
    fingerprint: {
      ...text,
      description: "Fingerprint of chain, start block and contracts, as in cursors of events.",
    },
  }),
  rows: closedObject({
    fold_version: { ...text, description: "The fold version of the process that responds." },
    declaration_hash: {
      ...nullable(text),
      description: "Fingerprint of the tables and the fold version that made the stored rows.",
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
  reorgs: closedObject({ count: uint, deepest: nullable(uint), last: listOf(REORG) }),
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
    last: listOf(AUDIT),
  }),
});
