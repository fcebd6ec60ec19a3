// Whether a stored snapshot was paid for: only then a difference can start from it.
import type { Migration } from "../migrate.ts";

export const soldSnapshots: Migration = {
  version: 16,
  name: "whether stored snapshots were sold",
  // The default is for rows of the version before, which has no column for it.
  sql: `
      alter table stored_snapshots add column sold boolean not null default true;
      create index stored_snapshots_unsold on stored_snapshots (stored_at) where not sold;
    `,
};
