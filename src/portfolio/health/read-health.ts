// The health of all lending accounts of a wallet on one chain, by the markets' own numbers at the pinned block.
import type { Hex } from "../../lib/hex.ts";
import { runRoutines } from "../contract-reads/read-groups.ts";
import { BUDGET_MS, runWithinBudget } from "../time-budgets.ts";
import type { ProtocolPosition, WalletQuery } from "../types.ts";
import type { LendingAccount, Loan } from "./loan.ts";
import { LOAN_READERS } from "./loan-readers.ts";

export type LoanHealth = LendingAccount & {
  /** Null when the market did not tell. */
  readonly loan: Loan | null;
};
type HealthResult = { readonly health: readonly LoanHealth[]; readonly warnings: readonly string[] };

// More than any wallet has; others can open accounts for it, so that accounts with debt come first.
const ACCOUNTS_MAX = 100;

/** At most two round trips for all accounts together, alongside the prices. */
export async function readHealth(
  query: WalletQuery,
  positions: readonly ProtocolPosition[],
  signal: AbortSignal,
  budgetMs: number = BUDGET_MS.prices,
): Promise<HealthResult> {
  const all = listAccounts(positions);
  const accounts = all.slice(0, ACCOUNTS_MAX);
  if (accounts.length === 0) return { health: [], warnings: [] };
  const routines = accounts.flatMap((account) => LOAN_READERS.get(account.protocol)?.(account, query) ?? []);
  const outcome = await runWithinBudget((stop) => runRoutines(query.at, routines, stop), budgetMs, signal);
  const loans = "value" in outcome ? outcome.value : [];
  const health = accounts.map((account, index) => ({ ...account, loan: loans[index] ?? null }));
  const unread = all.length - accounts.length;
  const cut = `${query.at.chain.name}: the health of ${unread} more lending accounts was not read.`;
  return { health, warnings: [...describeUnknown(query, health), ...(unread > 0 ? [cut] : [])] };
}

/** Accounts with debt first, otherwise in the order of the positions. */
function listAccounts(positions: readonly ProtocolPosition[]): readonly LendingAccount[] {
  const groups = new Map<string, ProtocolPosition[]>();
  for (const position of positions) {
    if (!position.market || !LOAN_READERS.has(position.protocol)) continue;
    const key = `${position.protocol} ${position.market}`;
    const group = groups.get(key);
    if (group) group.push(position);
    else groups.set(key, [position]);
  }
  const accounts = [...groups.values()].map(toAccount);
  const owes = (account: LendingAccount) => account.positions.some(({ kind }) => kind === "borrowed");
  return [...accounts.filter(owes), ...accounts.filter((account) => !owes(account))];
}

const ADDRESS = /^0x[0-9a-f]{40}$/;

function toAccount(positions: readonly ProtocolPosition[]): LendingAccount {
  const shown = positions.find(({ kind }) => kind === "borrowed") ?? positions[0];
  const { protocol = "", market = "", name = "", contract = null } = shown ?? {};
  return {
    protocol,
    market: market ?? "",
    // Without the asset or the role of the one position.
    name: name.split(": ")[0] ?? name,
    // A pool or comptroller is the key of its accounts; Morpho and Euler have keys of their own.
    contract: market && ADDRESS.test(market) ? (market as Hex) : contract,
    positions,
  };
}

/** Keyed by protocol and contract: anyone may choose names. */
function describeUnknown({ at }: WalletQuery, health: readonly LoanHealth[]): readonly string[] {
  return health
    .filter(({ loan }) => loan === null)
    .map(
      ({ protocol, contract }) =>
        `The health of a lending account in ${protocol} on ${at.chain.name} is unknown: its market ${contract ?? ""} could not be read, or contradicts itself.`,
    );
}
