// Adds what readers of events need: the blocks that a reorg removed, and the newest block that nodes call safe.
import type { Migration } from "../migrate.ts";

export const eventReading: Migration = {
  version: 10,
  name: "what readers of events need",
  sql: `
      -- Written by a rollback for every block that it removes. A reader of events who stopped at such a block learns from
      -- it which of them still count: those up to the ancestor, or up to the ancestor's own if that was removed later.
      create table abandoned_blocks (
        hash bytea primary key,
        number bigint not null,
        ancestor_number bigint not null,
        ancestor_hash bytea not null
      );
      create index abandoned_blocks_by_number on abandoned_blocks (number);

      -- Null as long as the version before writes. What is final is safe, whatever it says.
      alter table checkpoint add column safe_block bigint;
    `,
};
