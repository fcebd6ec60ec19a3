// The block hash of each payment.
import type { Migration } from "../migrate.ts";

export const paymentBlocks: Migration = {
  version: 8,
  name: "payments by block",
  published: {
    checksum: "3365cbb1aa1ba09ec21cea9d8c015f0df647e0302ba57ecf09f6ad4d01203b85",
    statements: "147f601e0cf39f37789ad54916846e947f6d99dca9bdbff5c9036cf19b206c92",
  },
  sql: `
      -- With its hash, a block is checked once for all payments in it.
      alter table payments add column block_hash text collate "C";
      create index payments_by_open_block on payments (network, asset, block_number)
        where state = 'settled' and not final;
      create index payments_unresolved on payments (network, asset, payer, nonce)
        where state in ('settling', 'refused');
    `,
};
