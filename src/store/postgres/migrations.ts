// The tables that hold primary data (the chain as it was read, writes, payments), as opposed to derived rows.
import type { Migration } from "./migrate.ts";
import { chain } from "./migrations/0001-chain.ts";
import { writes } from "./migrations/0002-writes.ts";
import { payments } from "./migrations/0003-payments.ts";
import { schemaLength } from "./migrations/0004-schema-length.ts";
import { facilitatorMigration } from "./migrations/0005-facilitator.ts";
import { paymentIdentifiers } from "./migrations/0006-payment-identifiers.ts";
import { storageLimits } from "./migrations/0007-storage-limits.ts";
import { paymentBlocks } from "./migrations/0008-payment-blocks.ts";
import { lockHolders } from "./migrations/0009-lock-holders.ts";
import { eventReading } from "./migrations/0010-event-reading.ts";
import { webhooks } from "./migrations/0011-webhooks.ts";
import { webhookAccounts } from "./migrations/0012-webhook-accounts.ts";
import { integrity } from "./migrations/0013-integrity.ts";
import { storedSnapshots } from "./migrations/0014-stored-snapshots.ts";
import { indexRevision } from "./migrations/0015-index-revision.ts";
import { soldSnapshots } from "./migrations/0016-sold-snapshots.ts";
import { settlementAmounts } from "./migrations/0017-settlement-amounts.ts";
import { contractPayers } from "./migrations/0018-contract-payers.ts";
import { settledByPayer } from "./migrations/0019-settled-by-payer.ts";
import { unclearPayments } from "./migrations/0020-unclear-payments.ts";

/** In order; only ever append. */
export const migrations: readonly Migration[] = [
  chain,
  writes,
  payments,
  schemaLength,
  facilitatorMigration,
  paymentIdentifiers,
  storageLimits,
  paymentBlocks,
  lockHolders,
  eventReading,
  webhooks,
  webhookAccounts,
  integrity,
  storedSnapshots,
  indexRevision,
  soldSnapshots,
  settlementAmounts,
  contractPayers,
  settledByPayer,
  unclearPayments,
];
