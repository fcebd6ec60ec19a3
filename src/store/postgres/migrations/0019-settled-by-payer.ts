// The settled payments of a payer by time: every purchase counts the last of them.
import type { Migration } from "../migrate.ts";

export const settledByPayer: Migration = {
  version: 19,
  name: "settled payments by payer",
  concurrentIndex: "payments_settled_by_payer",
  sql: `
      create index concurrently payments_settled_by_payer on payments (network, asset, payer, settled_at)
        where state = 'settled';
    `,
};
