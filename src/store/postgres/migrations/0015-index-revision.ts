// The order of the states of the index: block numbers do not order them over a reorg.
import type { Migration } from "../migrate.ts";

export const indexRevision: Migration = {
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
};
