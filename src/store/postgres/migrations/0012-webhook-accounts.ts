// Accounts whose events an owner gets as well, and which blocks a webhook has undone.
import type { Migration } from "../migrate.ts";

export const webhookAccounts: Migration = {
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
};
