// Settlements of the local facilitator.
import type { Migration } from "../migrate.ts";

export const facilitatorMigration: Migration = {
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
};
