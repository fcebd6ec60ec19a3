// Storage limits for written records, and when each record was last referenced.
import type { Migration } from "../migrate.ts";

export const storageLimits: Migration = {
  version: 7,
  name: "how much people write",
  published: {
    checksum: "b9a90905129a07df797fbcfeb18f4dc31228442ab94602f077b3dc1dd5f25844",
    statements: "0533b32593f7376cf13406819ec5a6c842ca48d7a61cd2f914332a058aa4deeb",
  },
  sql: `
      -- All at once: if one of them is in use, the migration gives up without having changed anything.
      lock table documents, attestation_schemas, intent_metadata, intent_reservations, offchain_bids, write_versions
        in access exclusive mode;

      -- The size of all written records. One row, which every write locks first: so the sum is exact with any number of
      -- writing processes, and they cannot deadlock.
      create table stored_total (
        only_row boolean primary key default true check (only_row),
        bytes bigint not null
      );

      -- Bytes that each client has written on a day, in UTC.
      create table client_writes (
        day date not null,
        client text collate "C" not null,
        bytes bigint not null,
        primary key (day, client)
      );

      -- A row counts as the size of its request body, plus 1 KiB for its keys and index entries.
      alter table documents add column stored_bytes integer not null default 1024;
      alter table attestation_schemas add column stored_bytes integer not null default 1024;
      alter table intent_metadata add column stored_bytes integer not null default 1024;
      alter table intent_reservations add column stored_bytes integer not null default 1024;
      alter table offchain_bids add column stored_bytes integer not null default 1024;
      update documents set stored_bytes = 1024 + size_bytes;
      update attestation_schemas set stored_bytes = 1024 + octet_length(json_schema::text);
      update intent_metadata set stored_bytes = 1024 + coalesce(octet_length(execution_data), 0);
      update intent_reservations set stored_bytes = 1024 + coalesce(octet_length(execution_data), 0);
      update offchain_bids set stored_bytes = 1024 + octet_length(execution_plan::text);
      insert into stored_total (bytes)
      select coalesce(sum(stored_bytes), 0) from (
        select stored_bytes from documents
        union all select stored_bytes from attestation_schemas
        union all select stored_bytes from intent_metadata
        union all select stored_bytes from intent_reservations
        union all select stored_bytes from offchain_bids
      ) every_record;

      -- Triggers, so that the sum includes writes by an older version, restores from a backup and manual deletions. They
      -- run once per statement: restoring a table is one statement with many rows.
      create function count_stored_bytes() returns trigger language plpgsql as $$
        declare
          added bigint := 0;
          removed bigint := 0;
        begin
          if tg_op in ('INSERT', 'UPDATE') then
            select coalesce(sum(stored_bytes), 0) into added from new_rows;
          end if;
          if tg_op in ('DELETE', 'UPDATE') then
            select coalesce(sum(stored_bytes), 0) into removed from old_rows;
          end if;
          if added <> removed then
            update stored_total set bytes = bytes + added - removed;
          end if;
          return null;
        end $$;
      create function recount_stored_bytes() returns trigger language plpgsql as $$
        begin
          update stored_total set bytes =
            (select coalesce(sum(stored_bytes), 0) from documents)
            + (select coalesce(sum(stored_bytes), 0) from attestation_schemas)
            + (select coalesce(sum(stored_bytes), 0) from intent_metadata)
            + (select coalesce(sum(stored_bytes), 0) from intent_reservations)
            + (select coalesce(sum(stored_bytes), 0) from offchain_bids);
          return null;
        end $$;
      -- Manual repairs and restores run with another search path than our sessions.
      alter function count_stored_bytes() set search_path from current;
      alter function recount_stored_bytes() set search_path from current;
      do $$
        declare
          counted text;
        begin
          foreach counted in array
            array['documents', 'attestation_schemas', 'intent_metadata', 'intent_reservations', 'offchain_bids']
          loop
            execute format('create trigger count_inserted after insert on %I referencing new table as new_rows
              for each statement execute function count_stored_bytes()', counted);
            execute format('create trigger count_updated after update on %I
              referencing old table as old_rows new table as new_rows
              for each statement execute function count_stored_bytes()', counted);
            execute format('create trigger count_deleted after delete on %I referencing old table as old_rows
              for each statement execute function count_stored_bytes()', counted);
            execute format('create trigger count_truncated after truncate on %I
              for each statement execute function recount_stored_bytes()', counted);
          end loop;
        end $$;

      -- When an indexed row was last known to refer to a record (initially: when it was written), and when that was last
      -- checked. Records without a reference for long enough are deleted.
      alter table documents
        add column referred_at timestamptz not null default now(),
        add column checked_at timestamptz not null default now();
      alter table attestation_schemas
        add column referred_at timestamptz not null default now(),
        add column checked_at timestamptz not null default now();
      alter table intent_metadata
        add column referred_at timestamptz not null default now(),
        add column checked_at timestamptz not null default now();
      alter table intent_reservations
        add column referred_at timestamptz not null default now(),
        add column checked_at timestamptz not null default now();
      create index documents_by_check on documents (checked_at);
      create index attestation_schemas_by_check on attestation_schemas (checked_at) where not built_in;
      create index intent_metadata_by_check on intent_metadata (checked_at);
      create index intent_reservations_by_check on intent_reservations (checked_at);
      create index documents_by_request on documents (request_hash) where request_hash is not null;

      -- A version is no longer needed once every signature with a lower one has expired.
      alter table write_versions add column used_at timestamptz not null default now();
      create index write_versions_by_use on write_versions (used_at);
    `,
};
