// Turns of a facilitator that is alone on its database, for tests of everything but several processes.
import type { SettlementTurns } from "../../../src/payments/facilitator/key-claim.ts";
import type { StatementRunner } from "../../../src/schema/record-store.ts";

export function singleProcessTurns(store: StatementRunner): SettlementTurns {
  return { run: (_, work) => work(store) };
}
