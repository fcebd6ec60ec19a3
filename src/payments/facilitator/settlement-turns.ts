// Turns of settlements: one process does one at a time, whichever of several facilitators receives the request.
import type { StatementRunner } from "../../schema/record-store.ts";

export type SettlementTurns = {
  /**
   * Runs the work once no other settlement, of this process or another, has the name; with several names, once one of
   * them is free. `store` fails when the turn is lost, so that what is sent is recorded during the turn or not at all.
   */
  run<T>(names: readonly string[], work: (store: StatementRunner) => Promise<T>): Promise<T>;
};
