// The migrations since payment channels; append here.
import type { Migration } from "../migrate.ts";

export const newestMigrations: readonly Migration[] = [
  // A refund is owed from the moment at which it is signed: whoever has the signature can use it.
  {
    version: 25,
    name: "signed refunds of channels",
    sql: `
      -- The last refund that was signed, and the nonce for which. It may still be used until the contract's nonce is larger.
      alter table payment_channels add column signed_refund numeric(39,0), add column signed_refund_nonce numeric(78,0);
    `,
  },
];
