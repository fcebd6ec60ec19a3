// The tables that hold what can not be made again from anything else: raw logs, block hashes, the checkpoint.
import type { Migration } from "./migrate.ts";

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "the chain as it was read",
    sql: `
      -- Which chain and contracts this schema belongs to; one row, never changed.
      create table deployment (
        only_row boolean primary key default true check (only_row),
        chain_id bigint not null,
        start_block bigint not null,
        contracts jsonb not null
      );

      -- Blocks with logs, and every block that may still be undone.
      create table blocks (
        number bigint primary key,
        hash bytea not null,
        timestamp bigint not null,
        log_count integer not null
      );
      create index blocks_empty on blocks (number) where log_count = 0;

      -- Every log of the protocol, exact, with what its event leaves out.
      create table logs (
        block_number bigint not null,
        log_index integer not null,
        tx_index integer not null,
        tx_hash bytea not null,
        address bytea not null,
        topics bytea not null,
        data bytea not null,
        details bytea,
        primary key (block_number, log_index)
      );
      create index logs_by_tx_hash on logs (tx_hash);

      -- How far the rows are true; one row, written in the transaction that makes it so.
      create table checkpoint (
        only_row boolean primary key default true check (only_row),
        block_number bigint not null,
        block_hash bytea not null,
        block_timestamp bigint not null,
        finalized_block bigint not null
      );

      -- From which declarations the row tables were made; when those change, the rows are made again.
      create table row_tables (
        only_row boolean primary key default true check (only_row),
        declaration_hash text not null,
        names text[] not null
      );

      -- What the indexer last said of itself, for the processes that serve its rows.
      create table indexer_status (
        only_row boolean primary key default true check (only_row),
        status jsonb not null,
        reported_at timestamptz not null
      );
    `,
  },
];
