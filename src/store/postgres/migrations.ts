// The tables that hold what can not be made again from anything else: the chain as it was read, and what people wrote.
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
  {
    version: 2,
    name: "what people write",
    sql: `
      -- Hosted documents, byte for byte; a label is null where its kind has none or it was not given.
      create table documents (
        kind text collate "C" not null check (kind in ('catalog', 'quote_request', 'quote_response')),
        hash text collate "C" not null,
        text bytea not null,
        size_bytes integer not null,
        request_hash text collate "C",
        request_id text,
        merchant_id numeric(78,0),
        service_numeric_id numeric(78,0),
        service_id text,
        agent text collate "C",
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        primary key (kind, hash)
      );

      -- Keyed by what the owner signed, not by its number: a reorg may give the number to another intent.
      create table intent_metadata (
        intent_hash text collate "C" primary key,
        execution_target text collate "C",
        execution_data text collate "C",
        required_attestation_subject text collate "C",
        required_attestation_schema text collate "C",
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );

      -- What someone who calls himself the owner wants known of an intent before it is indexed. Everyone has a row of
      -- his own, so that nobody can overwrite another's; only the real owner's is ever linked (see metadata_of_intent).
      create table intent_reservations (
        intent_hash text collate "C" not null,
        owner text collate "C" not null,
        execution_target text collate "C",
        execution_data text collate "C",
        execution_data_hash text collate "C",
        required_attestation_subject text collate "C",
        required_attestation_schema text collate "C",
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        primary key (intent_hash, owner)
      );

      -- Bids of the development helpers; EXPIRED follows from valid_until and the time of the block that is read.
      create table offchain_bids (
        bid_id bigserial primary key,
        intent_id numeric(78,0) not null,
        solver text collate "C" not null,
        amount_in numeric(78,0) not null,
        amount_out numeric(78,0) not null,
        fee numeric(78,0) not null,
        valid_until numeric(78,0) not null,
        execution_plan jsonb not null,
        status text collate "C" not null default 'OPEN' check (status in ('OPEN', 'SELECTED', 'REJECTED')),
        created_at timestamptz not null default now()
      );
      create index offchain_bids_by_intent on offchain_bids (intent_id);
      create unique index offchain_bids_selected on offchain_bids (intent_id) where status = 'SELECTED';

      create table attestation_schemas (
        schema_hash text collate "C" primary key,
        name text not null,
        description text,
        json_schema jsonb not null,
        recommended_subject text,
        publisher text collate "C",
        built_in boolean not null default false,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );

      -- The highest version a signer has used for a resource; a signature is good for a higher one only.
      create table write_versions (
        resource text collate "C" not null,
        signer text collate "C" not null,
        version numeric(20,0) not null,
        primary key (resource, signer)
      );

      -- Times of ours, as answers show them.
      create function iso_time(moment timestamptz) returns text language sql stable as
        $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

      -- The metadata an indexed intent has: what its owner put, otherwise what its owner reserved, where that keeps to
      -- the data hash the intent committed on chain. Null where there is none.
      create function metadata_of_intent(id numeric, hash text, intent_owner text, committed_hash text)
      returns json language sql stable as $$
        select json_build_object(
          'intent_id', id::text,
          'execution_target', m.execution_target,
          'execution_data', m.execution_data,
          'required_attestation_subject', m.required_attestation_subject,
          'required_attestation_schema', m.required_attestation_schema,
          'created_at', iso_time(m.created_at),
          'updated_at', iso_time(m.updated_at))
        from (
          select 1 as rank, execution_target, execution_data, required_attestation_subject,
            required_attestation_schema, created_at, updated_at
          from intent_metadata where intent_hash = hash
          union all
          select 2, execution_target, execution_data, required_attestation_subject,
            required_attestation_schema, created_at, updated_at
          from intent_reservations
          where intent_hash = hash and owner = intent_owner
            and (execution_data_hash is null or execution_data_hash = committed_hash
              or committed_hash = '0x' || repeat('0', 64))
        ) m order by m.rank limit 1 $$;

      insert into attestation_schemas (schema_hash, name, description, json_schema, built_in, created_at, updated_at)
      select '0x' || repeat(digit, 64), name, description, json_schema::jsonb, true,
        '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'
      from (values
        ('1', 'solver_reputation', 'How reliably a solver has filled intents.', '{
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "properties": {
            "solver": {"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"},
            "score": {"type": "integer", "minimum": 0, "maximum": 100},
            "fills": {"type": "integer", "minimum": 0},
            "failed_fills": {"type": "integer", "minimum": 0},
            "as_of_block": {"type": "string", "pattern": "^[0-9]+$"}
          },
          "required": ["solver", "score"]
        }'),
        ('2', 'tool_capability', 'What a tool or agent can do, and at which interface.', '{
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "properties": {
            "subject": {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"},
            "tool": {"type": "string", "minLength": 1},
            "version": {"type": "string"},
            "capabilities": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "interface_uri": {"type": "string"}
          },
          "required": ["tool", "capabilities"]
        }'),
        ('3', 'model_provider', 'Which model answers, and who runs it.', '{
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "properties": {
            "provider": {"type": "string", "minLength": 1},
            "model": {"type": "string", "minLength": 1},
            "version": {"type": "string"},
            "endpoint_uri": {"type": "string"},
            "weights_hash": {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"}
          },
          "required": ["provider", "model"]
        }'),
        ('4', 'safety_review', 'Who has reviewed a subject for safety, and with what result.', '{
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "properties": {
            "subject": {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"},
            "reviewer": {"type": "string", "minLength": 1},
            "result": {"type": "string", "enum": ["passed", "failed", "conditional"]},
            "report_uri": {"type": "string"},
            "report_hash": {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"},
            "expires_at": {"type": "string", "pattern": "^[0-9]+$"}
          },
          "required": ["reviewer", "result"]
        }')
      ) as built_in (digit, name, description, json_schema);
    `,
  },
  {
    version: 3,
    name: "what people pay",
    sql: `
      -- One row per signed authorization, which a token takes once: whoever holds the row's lease acts on it.
      create table payments (
        network text collate "C" not null,
        asset text collate "C" not null,
        payer text collate "C" not null,
        nonce text collate "C" not null,
        pay_to text collate "C" not null,
        amount numeric(78,0) not null,
        valid_before bigint not null,
        -- Of the request it pays for, and of the payment itself, so that neither is taken for another.
        fingerprint text collate "C" not null,
        payment_digest text collate "C" not null,
        payment_id text collate "C",
        -- What the facilitator is sent, now and when it has to be sent again.
        payload text not null,
        terms text not null,
        state text collate "C" not null check
          (state in ('reserved', 'settling', 'settled', 'released', 'refused', 'expired', 'lost')),
        owner text collate "C",
        lease_until timestamptz,
        -- Whether its signature was found to be its payer's: until then anybody may have sent it in his name.
        verified boolean not null default false,
        answer_status integer,
        answer_headers text,
        answer_body bytea,
        transaction text collate "C",
        block_number bigint,
        final boolean not null default false,
        attempts integer not null default 0,
        failures integer not null default 0,
        failed_at timestamptz,
        reason text,
        created_at timestamptz not null default now(),
        settled_at timestamptz,
        updated_at timestamptz not null default now(),
        primary key (network, asset, payer, nonce)
      );
      create unique index payments_by_id on payments (network, asset, payer, payment_id)
        where payment_id is not null;
      create index payments_open on payments (updated_at) where state in ('reserved', 'settling', 'released', 'refused', 'expired');
      create index payments_not_final on payments (updated_at) where state = 'settled' and not final;
      create index payments_busy on payments (payer) where verified and owner is not null;
      create index payments_failed on payments (payer, failed_at) where failures > 0;
      create index payments_kept on payments (settled_at) where answer_body is not null;
    `,
  },
  {
    version: 4,
    name: "how long schemas are",
    sql: `
      -- The length of a schema as text, so that a page of them can stop in time without reading them.
      alter table attestation_schemas add column json_schema_bytes integer
        generated always as (octet_length(json_schema::text)) stored;
    `,
  },
  {
    version: 5,
    name: "what the facilitator sent",
    sql: `
      -- One row per signed payload that was broadcast, so that settling it again finds its transaction after a restart.
      create table facilitator_settlements (
        network text collate "C" not null,
        asset text collate "C" not null,
        payer text collate "C" not null,
        nonce text collate "C" not null,
        -- Of authorization and signature: another payload with the same nonce is another payment.
        payment_digest text collate "C" not null,
        -- The newest first; one that was dropped is sent again as another.
        transactions text[] not null,
        -- Whether the outcome of the newest is not known yet.
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
        -- False where somebody else carried the authorization out first, which its payer can not help.
        bars_payer boolean not null,
        reverted_at timestamptz not null,
        primary key (network, transaction)
      );
      create index facilitator_reverts_by_payer on facilitator_reverts (network, payer, reverted_at);
      create index facilitator_reverts_by_time on facilitator_reverts (network, reverted_at);
    `,
  },
  {
    version: 6,
    name: "identifiers stay with their payments",
    sql: `
      -- Another authorization of the same payer has taken the identifier over: this one keeps its text and is never sent.
      alter table payments add column replaced boolean not null default false;
      drop index payments_by_id;
      create unique index payments_by_id on payments (network, asset, payer, payment_id)
        where payment_id is not null and not replaced;
    `,
  },
  {
    version: 7,
    name: "how much people write",
    sql: `
      -- All at once: where one of them is in use, the migration steps back without having changed anything.
      lock table documents, attestation_schemas, intent_metadata, intent_reservations, offchain_bids, write_versions
        in access exclusive mode;

      -- What all records that people write take up. One row, which every write locks before it writes anything else:
      -- so the sum is exact however many processes write, and no two wait for one another in a circle.
      create table stored_total (
        only_row boolean primary key default true check (only_row),
        bytes bigint not null
      );

      -- What each client has written on a day, in UTC.
      create table client_writes (
        day date not null,
        client text collate "C" not null,
        bytes bigint not null,
        primary key (day, client)
      );

      -- A row counts as the body it was sent in, and 1 KiB for its keys and index entries.
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

      -- By triggers, so that the sum also counts what a process of an older version writes, what is restored from a
      -- backup and what is deleted by hand. Once for a statement: a restored table is one statement of many rows.
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
      -- A repair by hand and a restore have another search path than our sessions.
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

      -- When an indexed row was last known to refer to a record (at first: when it was written), and when that was
      -- looked up. What nothing has referred to for long enough is deleted.
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

      -- A version means nothing once every signature that could carry a lower one has expired.
      alter table write_versions add column used_at timestamptz not null default now();
      create index write_versions_by_use on write_versions (used_at);
    `,
  },
  {
    version: 8,
    name: "payments by block",
    sql: `
      -- With its hash a block can be checked once for all payments in it.
      alter table payments add column block_hash text collate "C";
      create index payments_by_open_block on payments (network, asset, block_number)
        where state = 'settled' and not final;
      create index payments_unresolved on payments (network, asset, payer, nonce)
        where state in ('settling', 'refused');
    `,
  },
  {
    version: 9,
    name: "who holds a lock, and until when it counts as alive",
    sql: `
      -- No timeout of PostgreSQL ends a session inside COPY. The holder renews its row over another connection; a
      -- standby terminates the session of a holder that stopped doing so.
      create table lock_holders (
        key text collate "C" primary key,
        pid integer not null,
        backend_start timestamptz not null,
        alive_until timestamptz not null
      );
    `,
  },
];
