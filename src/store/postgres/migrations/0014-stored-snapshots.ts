// The figures of sold snapshots, from which a later difference can start.
import type { Migration } from "../migrate.ts";

export const storedSnapshots: Migration = {
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
};
