// The first migrations: the chain as it was read, what people write, and what people pay.
import type { Migration } from "../migrate.ts";

export const firstMigrations: readonly Migration[] = [
  // The chain as it was read: blocks, logs, checkpoint, and the state of the row tables.
  {
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
  },
  // Records that clients write: documents, intent metadata, off-chain bids, attestation schemas.
  {
    version: 2,
    name: "what people write",
    published: {
      checksum: "a6f94bd538f32854c3ce4633bf4e4ec801111bc500008289014776e4ff53b834",
      statements: "f282ec9fa254e3aaca47c90c5570fc06f8508e72689a8de540be6a968ce48393",
    },
    sql: `
      -- Hosted documents, byte for byte; a label is null if the kind has none or the client sent none.
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

      -- Keyed by the signed intent hash, not by the intent id: after a reorg another intent may have the id.
      create table intent_metadata (
        intent_hash text collate "C" primary key,
        execution_target text collate "C",
        execution_data text collate "C",
        required_attestation_subject text collate "C",
        required_attestation_schema text collate "C",
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );

      -- Metadata that a claimed owner stores before the intent is indexed. Each claimed owner has a separate row, so no
      -- client can overwrite another's; only the row of the real owner is ever linked (see metadata_of_intent).
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

      -- Bids of the development helpers; EXPIRED is derived from valid_until and the time of the block that is read.
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

      -- The highest version that a signer has used for a resource; a new signature must have a higher one.
      create table write_versions (
        resource text collate "C" not null,
        signer text collate "C" not null,
        version numeric(20,0) not null,
        primary key (resource, signer)
      );

      -- Timestamps as responses show them.
      create function iso_time(moment timestamptz) returns text language sql stable as
        $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

      -- The metadata of an indexed intent: the owner's metadata, or else the owner's reservation if it matches the data
      -- hash that the intent committed on chain. Null without either.
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
  // The payment ledger.
  {
    version: 3,
    name: "what people pay",
    published: {
      checksum: "a60935bde770ae18cd79dadf8aca15768176e0c0132addb7b331a24249f7066c",
      statements: "14c67d639bfe13f5a58a0580c12e91d0920041a3989f858201375261a1c693f9",
    },
    sql: `
      -- One row per signed authorization, which a token accepts once; only the holder of the row's lease acts on it.
      create table payments (
        network text collate "C" not null,
        asset text collate "C" not null,
        payer text collate "C" not null,
        nonce text collate "C" not null,
        pay_to text collate "C" not null,
        amount numeric(78,0) not null,
        valid_before bigint not null,
        -- Digests of the request that it pays for and of the payment itself, to detect reuse for another request.
        fingerprint text collate "C" not null,
        payment_digest text collate "C" not null,
        payment_id text collate "C",
        -- The request to the facilitator, for the first attempt and for every retry.
        payload text not null,
        terms text not null,
        state text collate "C" not null check
          (state in ('reserved', 'settling', 'settled', 'released', 'refused', 'expired', 'lost')),
        owner text collate "C",
        lease_until timestamptz,
        -- Whether the signature is known to be the payer's. Until then any client may have sent it in the payer's name.
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
];
