// Payment identifiers that a later authorization may take over.
import type { Migration } from "../migrate.ts";

export const paymentIdentifiers: Migration = {
  version: 6,
  name: "identifiers stay with their payments",
  published: {
    checksum: "a03f70366bd96967b991d145846347674dd55edfed54348fdbfe5d5bd285597a",
    statements: "475691599571a5d0aceceda341afe10febf9c9253c83e14f33a96aacc1eab347",
  },
  sql: `
      -- Another authorization of the same payer took over the identifier; this one keeps its text and is never sent.
      alter table payments add column replaced boolean not null default false;
      drop index payments_by_id;
      create unique index payments_by_id on payments (network, asset, payer, payment_id)
        where payment_id is not null and not replaced;
    `,
};
