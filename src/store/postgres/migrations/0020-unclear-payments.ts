// Payments that a request left unclear, by key: each reconciliation looks for those that are over.
import type { Migration } from "../migrate.ts";

export const unclearPayments: Migration = {
  version: 20,
  name: "unclear payments",
  concurrentIndex: "payments_unclear",
  // A payment that is served has an owner as long as it is reserved, so that it never enters this index.
  sql: `
      create index concurrently payments_unclear on payments (network, asset, payer, nonce)
        where state = 'reserved' and owner is null and transaction is null and not replaced;
    `,
};
