// The migrations of limits, locks, events and webhooks.
import type { Migration } from "../migrate.ts";

export const earlierMigrations: readonly Migration[] = [
  // The length of each attestation schema.
  {
    version: 4,
    name: "how long schemas are",
    published: {
      checksum: "a68f1c4710fa6e3fb4a0118e47df717c4c02866218685b24228d75032bcf7e82",
      statements: "1bd44853e6f206aa435777a8a806a699dcbcc13e11113ae49a53463efaa8c2e3",
    },
    sql: `
      -- The length of a schema as text, so that a page can be cut at its size limit without reading the schemas.
      alter table attestation_schemas add column json_schema_bytes integer
        generated always as (octet_length(json_schema::text)) stored;
    `,
  },
  // Settlements of the local facilitator.
  {
    version: 5,
    name: "what the facilitator sent",
    published: {
      checksum: "065a35350d577ecf8600b6fd829131e42af899bd71debcf9fb1fb58d9ced170a",
      statements: "d343f24e241d0eb5cb064e3f4308b25de25737d9ace9b55715fdd382d9b93706",
    },
    sql: `
      -- One row per broadcast payload, so that a repeated settlement finds its transaction after a restart.
      create table facilitator_settlements (
        network text collate "C" not null,
        asset text collate "C" not null,
        payer text collate "C" not null,
        nonce text collate "C" not null,
        -- Digest of authorization and signature: another payload with the same nonce is another payment.
        payment_digest text collate "C" not null,
        -- Newest first; a dropped transaction is replaced by another one.
        transactions text[] not null,
        -- Whether the outcome of the newest is still unknown.
        is_open boolean not null,
        is_contract boolean not null,
        gas bigint not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (network, asset, payer, nonce, payment_digest)
      );
      create index facilitator_settlements_open on facilitator_settlements (network, updated_at) where is_open;
      create index facilitator_settlements_kept on facilitator_settlements (updated_at);

      -- Transfers that were mined and reverted, at the facilitator's cost.
      create table facilitator_reverts (
        network text collate "C" not null,
        transaction text collate "C" not null,
        payer text collate "C" not null,
        is_contract boolean not null,
        gas_used bigint not null,
        -- False if a third party executed the authorization first, which is not the payer's fault.
        bars_payer boolean not null,
        reverted_at timestamptz not null,
        primary key (network, transaction)
      );
      create index facilitator_reverts_by_payer on facilitator_reverts (network, payer, reverted_at);
      create index facilitator_reverts_by_time on facilitator_reverts (network, reverted_at);
    `,
  },
  // Payment identifiers that a later authorization may take over.
  {
    version: 6,
    name: "identifiers stay with their payments",
    published: {
      checksum: "a03f70366bd96967b991d145846347674dd55edfed54348fdbfe5d5bd285597a",
      statements: "475691599571a5d0aceceda341afe10febf9c9253c83e14f33a96aacc1eab347",
    },
    sql: `
      -- Another authorization of the same payer took over the identifier; this one keeps its text and is never sent.
      alter table payments add column replaced boolean not null default false;
      drop index payments_by_id;
      create unique index payments_by_id on payments (network, asset, payer, payment_id)
        where payment_id is not null and not replaced;
    `,
  },
  // Storage limits for written records, and when each record was last referenced.
  {
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
  },
  // The block hash of each payment.
  {
    version: 8,
    name: "payments by block",
    published: {
      checksum: "3365cbb1aa1ba09ec21cea9d8c015f0df647e0302ba57ecf09f6ad4d01203b85",
      statements: "147f601e0cf39f37789ad54916846e947f6d99dca9bdbff5c9036cf19b206c92",
    },
    sql: `
      -- With its hash, a block is checked once for all payments in it.
      alter table payments add column block_hash text collate "C";
      create index payments_by_open_block on payments (network, asset, block_number)
        where state = 'settled' and not final;
      create index payments_unresolved on payments (network, asset, payer, nonce)
        where state in ('settling', 'refused');
    `,
  },
  // Records which session holds a lock, and until when it counts as alive.
  {
    version: 9,
    name: "who holds a lock, and until when it counts as alive",
    published: {
      checksum: "c50939b8159ed16f5c1e506e907632a05c7120fce8a0ee6e47ddbb95cd660f9b",
      statements: "e3687099e8fdcf159f69a80d749775557507f4a6b6d89dc17a5b5b226d127d55",
    },
    sql: `
      -- No timeout of PostgreSQL ends a session inside COPY. The holder renews its row over another connection, and a
      -- standby terminates the session of a holder that stopped renewing.
      create table lock_holders (
        key text collate "C" primary key,
        pid integer not null,
        backend_start timestamptz not null,
        alive_until timestamptz not null
      );
    `,
  },
  // Adds what readers of events need: the blocks that a reorg removed, and the newest block that nodes call safe.
  {
    version: 10,
    name: "what readers of events need",
    sql: `
      -- Written by a rollback for every block that it removes. A reader of events who stopped at such a block learns from
      -- it which of them still count: those up to the ancestor, or up to the ancestor's own if that was removed later.
      create table abandoned_blocks (
        hash bytea primary key,
        number bigint not null,
        ancestor_number bigint not null,
        ancestor_hash bytea not null
      );
      create index abandoned_blocks_by_number on abandoned_blocks (number);

      -- Null as long as the version before writes. What is final is safe, whatever it says.
      alter table checkpoint add column safe_block bigint;
    `,
  },
  // Endpoints that events are delivered to, each with its place in them.
  {
    version: 11,
    name: "where events are delivered to",
    sql: `
      create table webhooks (
        id text collate "C" primary key,
        -- Null for an endpoint of the operator's configuration, which has a name there.
        owner text collate "C",
        name text collate "C" unique,
        url text not null,
        host text collate "C" not null,
        allow_private boolean not null default false,
        -- Names of events, or null for all, and what they must be about.
        types jsonb,
        subjects jsonb not null,
        finality text collate "C" not null,
        status text collate "C" not null default 'active' check (status in ('active', 'paused', 'disabled')),
        disabled_reason text collate "C",

        -- Where to read on: a cursor, and before the first read a block number or genesis.
        position text collate "C" not null,
        -- The furthest message that the receiver may have and was not undone, and whether it is past the position: it was
        -- sent without a response, or a replay went back.
        reached jsonb,
        is_reached_ahead boolean not null default false,
        -- An undo that is decided and not yet delivered, with the time of the decision.
        undo jsonb,
        -- Grows with every undo and replay; part of the ids of messages.
        epoch integer not null default 0,
        -- The head of the index when nothing more was there to deliver.
        caught_up_at text collate "C",

        -- Keys are derived from the server's key and this number. Those of the number before are valid for a time.
        generation integer not null default 1,
        previous_until timestamptz not null default '-infinity',

        failures integer not null default 0,
        retry_at timestamptz not null default '-infinity',
        pending_since timestamptz,
        last_error text,
        last_success_at timestamptz,
        tested_at timestamptz not null default '-infinity',
        delivered bigint not null default 0,

        -- Which process delivers, and until when it may.
        lease text collate "C",
        leased_until timestamptz not null default '-infinity',
        created_at timestamptz not null default now()
      );
      create index webhooks_by_owner on webhooks (owner);
      create index webhooks_by_host on webhooks (host);
      create index webhooks_due on webhooks (retry_at, id) where status = 'active';
    `,
  },
  // Accounts whose events an owner gets as well, and which blocks a webhook has undone.
  {
    version: 12,
    name: "accounts and undone blocks of webhooks",
    sql: `
      alter table webhooks
        -- Policy accounts of the owner, checked at registration.
        add column accounts jsonb not null default '[]',
        -- The undos that decide ids of messages: each with the last block that it left, and its epoch.
        add column undos jsonb not null default '[]';
      -- Until now an undo gave new ids to everything.
      update webhooks set undos = jsonb_build_array(jsonb_build_object('block', -1, 'epoch', epoch)) where epoch > 0;
    `,
  },
];
