// Rows of the ledger, written as they are: states that a test would otherwise have to reach step by step.
import type { Hex } from "../../../src/lib/hex.ts";
import type { PaymentOffer } from "../../../src/payments/paywall/offer.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

/** Columns of the table `payments`; what is left out has a value that most rows have. */
export type LedgerRowColumns = {
  readonly network?: string;
  readonly asset?: Hex;
  readonly payer?: Hex;
  readonly nonce?: Hex;
  readonly valid_before?: number;
  readonly fingerprint?: string;
  readonly payment_digest?: string;
  readonly payment_id?: string | null;
  readonly state?: string;
  readonly verified?: boolean;
  readonly replaced?: boolean;
  readonly final?: boolean;
  readonly owner?: string | null;
  /** Seconds from now. */
  readonly lease_seconds?: number | null;
  readonly attempts?: number;
  readonly failures?: number;
  /** Seconds from now. */
  readonly failed_seconds?: number | null;
  readonly updated_seconds?: number;
  readonly reason?: string | null;
  readonly transaction?: Hex | null;
  readonly block_number?: number | null;
  readonly block_hash?: Hex | null;
  readonly settled?: boolean;
  readonly payload?: string;
  readonly terms?: string;
  readonly answer_body?: string | null;
};

export const TEST_KEY = {
  network: "eip155:31337",
  asset: `0x${"22".repeat(20)}`,
  payer: `0x${"11".repeat(20)}`,
  nonce: `0x${"01".repeat(32)}`,
} as const;
export const TEST_PAY_TO: Hex = `0x${"33".repeat(20)}`;

/** The resource that such rows pay for. */
export const LEDGER_OFFER: PaymentOffer = {
  network: "eip155:31337",
  asset: TEST_KEY.asset,
  assetName: "USD Coin",
  assetVersion: "2",
  decimals: 6,
  payTo: TEST_PAY_TO,
  amount: 10_000n,
  maxTimeoutSeconds: 60,
  description: "A snapshot.",
  mimeType: "application/json",
  resourceOrigin: "https://sold.example",
  listing: null,
};

/** Leaves a row out that would break a unique index. */
export async function insertLedgerRow(database: Database, columns: LedgerRowColumns): Promise<void> {
  const row = {
    ...TEST_KEY,
    valid_before: 4_000_000_000,
    fingerprint: "fingerprint",
    payment_digest: "digest",
    payment_id: null,
    state: "reserved",
    verified: false,
    replaced: false,
    final: false,
    owner: null,
    lease_seconds: null,
    attempts: 0,
    failures: 0,
    failed_seconds: null,
    updated_seconds: 0,
    reason: null,
    transaction: null,
    block_number: null,
    block_hash: null,
    settled: false,
    payload: "{}",
    terms: "{}",
    answer_body: null,
    ...columns,
  };
  await database.query({
    text: `insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before, fingerprint,
        payment_digest, payment_id, payload, terms, state, verified, replaced, final, owner, lease_until, attempts,
        failures, failed_at, updated_at, reason, transaction, block_number, block_hash, settled_at, answer_status,
        answer_headers, answer_body)
      values ($1, $2, $3, $4, $5, 10000, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
        now() + $17::double precision * interval '1 second', $18, $19,
        now() + $20::double precision * interval '1 second', now() + $21::double precision * interval '1 second',
        $22, $23, $24, $25, case when $26::boolean then now() end, case when $27::text is null then null else 200 end,
        case when $27::text is null then null else '{}' end, convert_to($27, 'UTF8'))
      on conflict do nothing`,
    values: [
      ...[row.network, row.asset, row.payer, row.nonce, TEST_PAY_TO, row.valid_before, row.fingerprint],
      ...[row.payment_digest, row.payment_id, row.payload, row.terms, row.state, row.verified, row.replaced],
      ...[row.final, row.owner, row.lease_seconds, row.attempts, row.failures, row.failed_seconds],
      ...[row.updated_seconds, row.reason, row.transaction, row.block_number, row.block_hash, row.settled],
      row.answer_body,
    ],
  });
}
