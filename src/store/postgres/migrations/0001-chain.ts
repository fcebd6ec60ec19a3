// The chain as it was read: blocks, logs, checkpoint, and the state of the row tables.
import type { Migration } from "../migrate.ts";

export const chain: Migration = {
  version: 1,
  name: "the chain as it was read",
  published: {
    checksum: "61b7830e44156a0a8ed891d6d77eaa9ab30377a4f5effd7f50d94dd8498817e4",
    statements: "c3e443753ce5cd7b0f737783db750fe9098cf11c83eaef4f601d3bf6fc2654bb",
  },
  sql: `
      -- The chain and contracts that this schema belongs to; one row, never changed.
      create table deployment (
        only_row boolean primary key default true check (only_row),
        chain_id bigint not null,
        start_block bigint not null,
        contracts jsonb not null
      );

      -- Blocks with logs, and every block that a reorg may still remove.
      create table blocks (
        number bigint primary key,
        hash bytea not null,
        timestamp bigint not null,
        log_count integer not null
      );
      create index blocks_empty on blocks (number) where log_count = 0;

      -- Every log of the protocol, unchanged, with the details that its event leaves out.
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

      -- The block up to which the rows are valid; one row, written in the transaction of that block.
      create table checkpoint (
        only_row boolean primary key default true check (only_row),
        block_number bigint not null,
        block_hash bytea not null,
        block_timestamp bigint not null,
        finalized_block bigint not null
      );

      -- The declarations that the row tables were created from; when those change, the rows are rebuilt.
      create table row_tables (
        only_row boolean primary key default true check (only_row),
        declaration_hash text not null,
        names text[] not null
      );

      -- The last status of the indexer, for the processes that serve its rows.
      create table indexer_status (
        only_row boolean primary key default true check (only_row),
        status jsonb not null,
        reported_at timestamptz not null
      );
    `,
};
