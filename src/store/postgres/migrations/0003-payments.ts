// The payment ledger.
import type { Migration } from "../migrate.ts";

export const payments: Migration = {
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
};
