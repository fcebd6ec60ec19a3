// Contract accounts that have paid before: others whose transfers revert must not keep them from being served.
import type { Migration } from "../migrate.ts";

export const contractPayers: Migration = {
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
};
