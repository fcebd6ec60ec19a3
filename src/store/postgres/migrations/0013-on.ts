// The migrations since integrity records; append here.
import type { Migration } from "../migrate.ts";

export const laterMigrations: readonly Migration[] = [
  // Stores the evidence for trust in the index: the reorgs that it met, and the results of its audits.
  {
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
  },
  // The figures of sold snapshots, from which a later difference can start.
  {
    version: 14,
    name: "figures of sold snapshots",
    sql: `
      create table stored_snapshots (
        wallet bytea not null,
        -- sha256 of the figures as text.
        id bytea not null,
        -- The text, deflated.
        figures bytea not null,
        stored_at timestamptz not null default now(),
        primary key (wallet, id)
      );
      create index stored_snapshots_by_age on stored_snapshots (stored_at);
    `,
  },
  // The order of the states of the index: block numbers do not order them over a reorg.
  {
    version: 15,
    name: "the order of the states of the index",
    sql: `
      alter table checkpoint add column revision bigint not null default 0;

      -- A trigger, so that it also counts what the version before writes during an upgrade.
      create function count_revision() returns trigger language plpgsql as $$
        begin
          new.revision := old.revision + 1;
          return new;
        end
      $$;
      create trigger count_revision before update on checkpoint for each row execute function count_revision();
    `,
  },
  // Whether a stored snapshot was paid for: only then a difference can start from it.
  {
    version: 16,
    name: "whether stored snapshots were sold",
    // The default is for rows of the version before, which has no column for it.
    sql: `
      alter table stored_snapshots add column sold boolean not null default true;
      create index stored_snapshots_unsold on stored_snapshots (stored_at) where not sold;
    `,
  },
  // Stores how much of a payer's balance its payments in flight need, for all facilitators that share the database.
  {
    version: 17,
    name: "amounts of settlements",
    // Null in rows of the version before, which does not count amounts.
    sql: `
      alter table facilitator_settlements add column amount numeric(78,0);
    `,
  },
  // Contract accounts that have paid before: others whose transfers revert must not keep them from being served.
  {
    version: 18,
    name: "contract accounts that pay",
    sql: `
      create table facilitator_contract_payers (
        network text collate "C" not null,
        payer text collate "C" not null,
        -- Accounts of one kind of wallet have the same code.
        code_hash text collate "C" not null,
        -- Null until a transfer has settled, and again after one that reverted.
        settled_at timestamptz,
        seen_at timestamptz not null,
        primary key (network, payer)
      );
      create index facilitator_contract_payers_by_code on facilitator_contract_payers (network, code_hash)
        where settled_at is not null;

      -- Which gas budget a revert counts for; null, as the version before writes it, is the one of unknown code.
      alter table facilitator_reverts add column budget text collate "C";
    `,
  },
  // The settled payments of a payer by time: every purchase counts the last of them.
  {
    version: 19,
    name: "settled payments by payer",
    concurrentIndex: "payments_settled_by_payer",
    sql: `
      create index concurrently payments_settled_by_payer on payments (network, asset, payer, settled_at)
        where state = 'settled';
    `,
  },
  // Payments that a request left unclear, by key: each reconciliation looks for those that are over.
  {
    version: 20,
    name: "unclear payments",
    concurrentIndex: "payments_unclear",
    // A payment that is served has an owner as long as it is reserved, so that it never enters this index.
    sql: `
      create index concurrently payments_unclear on payments (network, asset, payer, nonce)
        where state = 'reserved' and owner is null and transaction is null and not replaced;
    `,
  },
  // The name that a hosted document gives itself, so that lists show it without reading the whole text.
  {
    version: 21,
    name: "names of documents",
    // Null in rows of the version before, until their text is published again.
    sql: `
      alter table documents add column name text;
    `,
  },
  // Hex in row tables, which is text now and bytes in the next version: reads work with either.
  {
    version: 22,
    name: "hex of either form",
    // Not strict, so that PostgreSQL puts the expressions in place of the calls, and finds rows by an index.
    sql: `
      -- Hex of a row as 0x text.
      create function hex_text(stored text) returns text language sql immutable parallel safe as $$ select stored $$;
      create function hex_text(stored bytea) returns text language sql immutable parallel safe
        as $$ select '0x' || encode(stored, 'hex') $$;

      -- 0x text in the form of a column, whose value does not matter.
      create function stored_hex(like_column text, hex text) returns text language sql immutable parallel safe
        as $$ select hex $$;
      create function stored_hex(like_column bytea, hex text) returns bytea language sql immutable parallel safe
        as $$ select decode(substr(hex, 3), 'hex') $$;
    `,
  },
  // Logs without the zeros of their words: src/schema/stored-log.ts describes the form.
  {
    version: 23,
    name: "packed logs",
    sql: `
      -- Whether new logs are packed; one row.
      create table log_storage (
        only_row boolean primary key default true check (only_row),
        is_packed boolean not null
      );
      insert into log_storage (is_packed) values (false);

      -- A log of either form as the chain has it.
      create function plain_log(inout topics bytea, inout data bytea, inout details bytea)
      language plpgsql immutable parallel safe as $$
        declare
          zeros constant bytea := decode(repeat('00', 32), 'hex');
          packed constant bytea := data;
          words integer;
          all_words integer;
          other_topics integer;
          form integer;
          size integer;
          at integer := 0;
          odd bytea := '';
          plain bytea := '';
        begin
          if octet_length(topics) % 32 = 0 then return; end if;
          other_topics := get_byte(topics, 32) & 3;
          words := other_topics + get_byte(topics, 33);
          all_words := words + case octet_length(topics) when 35 then get_byte(topics, 34) else 0 end;
          for i in 0 .. all_words loop
            if i = words then
              size := get_byte(topics, 32) >> 2;
              odd := substring(packed from at + 1 for size);
              at := at + size;
            end if;
            exit when i = all_words or at >= octet_length(packed);
            form := get_byte(packed, at);
            size := case when form <= 32 then form when form < 64 then form - 32 else 0 end;
            plain := plain || case
              when form <= 32 then substring(zeros from 1 for 32 - size) || substring(packed from at + 2 for size)
              when form < 64 then substring(packed from at + 2 for size) || substring(zeros from 1 for 32 - size)
              when form < 128 then substring(plain from 32 * (i - form + 63) + 1 for 32)
              else set_byte(zeros, 31, form - 128)
            end;
            at := at + 1 + size;
          end loop;
          details := case octet_length(topics) when 35 then odd || substring(plain from 32 * words + 1) end;
          data := substring(plain from 32 * other_topics + 1 for 32 * (words - other_topics));
          topics := substring(topics from 1 for 32) || substring(plain from 1 for 32 * other_topics);
        end
      $$;
    `,
    sqlIfNew: "update log_storage set is_packed = true",
  },
  // Payment channels: one deposit pays for many purchases, each by a voucher of all that was bought so far.
  {
    version: 24,
    name: "payment channels",
    sql: `
      create table payment_channels (
        network text collate "C" not null,
        channel_id text collate "C" not null,
        payer text collate "C" not null,
        payer_authorizer text collate "C" not null,
        receiver text collate "C" not null,
        receiver_authorizer text collate "C" not null,
        token text collate "C" not null,
        withdraw_delay integer not null,
        salt text collate "C" not null,

        -- What the contract holds, as our own node showed it, and the block in which it was seen first.
        balance numeric(39,0) not null,
        -- The part of the balance that no reorg can take away.
        final_balance numeric(39,0) not null,
        total_claimed numeric(39,0) not null,
        -- A withdrawal that the payer has started, and in which second; 0 without one.
        withdraw_amount numeric(39,0) not null,
        withdraw_started bigint not null,
        refund_nonce numeric(78,0) not null,
        block_number bigint not null,
        -- The newest block at which it was read.
        seen_block bigint not null,
        seen_at timestamptz not null default now(),

        -- The sum of all purchases, and the voucher for it; null if the sum is what the contract has paid out.
        charged numeric(39,0) not null,
        signature text collate "C",
        -- Since when a voucher waits to be claimed.
        unclaimed_since timestamptz,
        -- The claim of its voucher failed: it is tried again later, and apart from others.
        claim_failed_at timestamptz,

        -- The request that acts on the channel. Without work the turn is kept for a client that was corrected: for the
        -- same request, by its fingerprint, because clients that send at once sign the same voucher.
        owner text collate "C",
        owner_works boolean not null default false,
        kept_for text collate "C",
        lease_until timestamptz,
        failures integer not null default 0,
        failed_at timestamptz,
        created_at timestamptz not null default now(),
        primary key (network, channel_id)
      );
      create index payment_channels_unclaimed on payment_channels (network, seen_at) where charged > total_claimed;

      create table channel_purchases (
        network text collate "C" not null,
        channel_id text collate "C" not null,
        -- What the voucher of the purchase lets the receiver claim in all.
        cumulative numeric(39,0) not null,
        amount numeric(39,0) not null,
        token text collate "C" not null,
        payer text collate "C" not null,
        fingerprint text collate "C" not null,
        payment_id text collate "C",
        -- The deposit that came with the voucher.
        deposit_transaction text collate "C",
        deposit_amount numeric(39,0),
        answer_status integer not null,
        answer_headers text not null,
        answer_body bytea not null,
        created_at timestamptz not null default now(),
        primary key (network, channel_id, cumulative)
      );
      create unique index channel_purchases_by_identifier on channel_purchases (network, token, payer, payment_id)
        where payment_id is not null;
      create index channel_purchases_by_age on channel_purchases (network, created_at);

      -- How far the events of channels were read, one row for each network.
      create table channel_scans (
        network text collate "C" primary key,
        block_number bigint not null,
        block_hash text collate "C" not null,
        block_time bigint not null,
        final_number bigint not null,
        read_at timestamptz not null
      );

      -- Claims and refunds that were sent, so that none is sent again while it may still be mined.
      create table channel_transactions (
        network text collate "C" not null,
        transaction text collate "C" not null,
        kind text collate "C" not null,
        channels text[] not null,
        is_open boolean not null,
        created_at timestamptz not null default now(),
        primary key (network, transaction)
      );
      create index channel_transactions_open on channel_transactions (network) where is_open;
    `,
  },
];
