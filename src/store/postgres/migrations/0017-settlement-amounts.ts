// Stores how much of a payer's balance its payments in flight need, for all facilitators that share the database.
import type { Migration } from "../migrate.ts";

export const settlementAmounts: Migration = {
  version: 17,
  name: "amounts of settlements",
  // Null in rows of the version before, which does not count amounts.
  sql: `
      alter table facilitator_settlements add column amount numeric(78,0);
    `,
};
