// Sign-in of payers: what a gate needs for it, opened once for each process.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { LedgerScope } from "../ledger/row.ts";
import { SignInChallenges } from "./challenges.ts";
import { openSignInKey, SignInRows } from "./sign-in-rows.ts";

export type SignIn = { readonly challenges: SignInChallenges; readonly rows: SignInRows };

export async function openSignIn(
  store: StatementRunner,
  scope: LedgerScope,
  clock: Clock = systemClock,
): Promise<SignIn> {
  const challenges = new SignInChallenges(await openSignInKey(store), clock);
  return { challenges, rows: new SignInRows(store, scope) };
}
