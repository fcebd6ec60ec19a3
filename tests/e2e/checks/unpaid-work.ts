// Work that was done for accounts whose money moved on: at most once for each.
import type { Hex } from "viem";
import type { E2eCheck } from "./check.ts";
import { withDatabase } from "./ledger.ts";

type Row = {
  readonly payer: Hex;
  readonly has_run: boolean;
  readonly is_paid: boolean;
  /** The block that held the transfer; of an unpaid payment, when its work began. */
  readonly block_hash: Hex | null;
  /** The facts that explain a violation. */
  readonly facts: object;
};

const ROWS = `select payer, answer_status is not null as has_run, settled_at is not null as is_paid, block_hash,
    to_jsonb(payments) - '{network,asset,payer,pay_to,amount,fingerprint,payment_digest,payload,terms,answer_headers,
      answer_body}'::text[] as facts
  from payments order by created_at`;

// A payer who has never paid has one payment in progress. All of an account's are signed at once, so that no second one
// is left when the first has expired.
const UNPAID_MAX = 1;

export const unpaidWorkCheck = (accounts: readonly Hex[]): E2eCheck => ({
  name: "unpaid work is bounded",
  async run(system) {
    const { branches, observations } = system;
    const rows = await withDatabase(system, (query) => query<Row>(ROWS));
    const own = rows.filter(({ payer }) => accounts.includes(payer));
    const unpaid = own.filter(({ has_run, is_paid }) => has_run && !is_paid);
    // Paid by someone else when the work began, in addition to any other payment; then a reorg removed the transfer.
    const isUndone = ({ block_hash }: Row) => block_hash !== null && branches.wasRemoved(block_hash);
    for (const account of accounts) {
      const runs = unpaid.filter((row) => row.payer === account && !isUndone(row)).length;
      if (runs <= UNPAID_MAX) continue;
      const facts = own.filter(({ payer }) => payer === account).map((row) => row.facts);
      observations.recordViolation(`${runs} requests of ${account} ran unpaid: ${JSON.stringify(facts)}`);
    }
    const runs = own.filter(({ has_run }) => has_run).length;
    const undone = unpaid.filter(isUndone).length;
    return `${accounts.length} accounts, ${runs} runs, ${unpaid.length} unpaid, ${undone} of them undone by reorgs`;
  },
});
