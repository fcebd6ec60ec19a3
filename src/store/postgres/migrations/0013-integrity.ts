// Stores the evidence for trust in the index: the reorgs that it met, and the results of its audits.
import type { Migration } from "../migrate.ts";

export const integrity: Migration = {
  version: 13,
  name: "reorgs and audits",
  sql: `
      -- A row for each rollback. Only the newest are kept; each has the count and the deepest of all up to it.
      create table reorgs (
        sequence bigint primary key,
        ancestor_number bigint not null,
        ancestor_hash bytea not null,
        abandoned_number bigint not null,
        abandoned_hash bytea not null,
        depth bigint not null,
        deepest bigint not null,
        at timestamptz not null default now()
      );

      -- A row for each comparison with the chain: samples of the indexer itself, and runs of the audit command. Of every
      -- kind the newest are kept; each has what all up to it have compared.
      create table audits (
        source text not null,
        kind text not null,
        sequence bigint not null,
        block_number bigint,
        checked bigint not null,
        checked_total bigint not null,
        differences bigint not null,
        first_difference text,
        version text not null,
        at timestamptz not null default now(),
        primary key (source, kind, sequence)
      );
    `,
};
