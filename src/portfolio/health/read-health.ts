// The health of all lending accounts of a wallet on one chain, by the markets' own numbers at the pinned block.
import type { Hex } from "../../lib/hex.ts";
import { readByMulticall } from "../multicall.ts";
import { BUDGET_MS, runWithinBudget } from "../time-budgets.ts";
import type { ProtocolPosition, WalletQuery } from "../types.ts";
import { prepareAave } from "./aave.ts";
import { prepareCompoundV2 } from "./compound-v2.ts";
import { prepareCompoundV3 } from "./compound-v3.ts";
import { prepareEuler } from "./euler.ts";
import type { LendingAccount, Loan, LoanProbe, PrepareProbe } from "./loan.ts";
import { prepareMorphoBlue } from "./morpho-blue.ts";

const PROBES: ReadonlyMap<string, PrepareProbe> = new Map([
  ["aave-v2", prepareAave],
  ["aave-v3", prepareAave],
  ["spark", prepareAave],
  ["compound-v2", prepareCompoundV2],
  ["moonwell", prepareCompoundV2],
  ["venus", prepareCompoundV2],
  ["compound-v3", prepareCompoundV3],
  ["morpho-blue", prepareMorphoBlue],
  ["euler", prepareEuler],
]);

export type LoanHealth = LendingAccount & {
  /** Null when the market did not tell. */
  readonly loan: Loan | null;
};
type HealthResult = { readonly health: readonly LoanHealth[]; readonly warnings: readonly string[] };

// More than any wallet has; strangers can open accounts for it, so that those with debt come first.
const ACCOUNTS_MAX = 100;
// The parameters of a market, then what those name.
const TRIPS_MAX = 2;

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
  const work = (stop: AbortSignal) => readLoans(query, accounts, stop);
  const outcome = await runWithinBudget(work, budgetMs, signal);
  const loans = "value" in outcome ? outcome.value : [];
  const health = accounts.map((account, index) => ({ ...account, loan: loans[index] ?? null }));
  return {
    health,
    warnings: [
      ...describeUnknown(query, health),
      ...(all.length > ACCOUNTS_MAX
        ? [
            `${query.at.chain.name}: the health of ${all.length - ACCOUNTS_MAX} more lending accounts was not read.`,
          ]
        : []),
    ],
  };
}

/** Accounts with debt first, otherwise in the order of the positions. */
function listAccounts(positions: readonly ProtocolPosition[]): readonly LendingAccount[] {
  const groups = new Map<string, ProtocolPosition[]>();
  for (const position of positions) {
    if (!position.market || !PROBES.has(position.protocol)) continue;
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

async function readLoans(
  query: WalletQuery,
  accounts: readonly LendingAccount[],
  signal: AbortSignal,
): Promise<readonly (Loan | null)[]> {
  let steps: readonly (Loan | LoanProbe | null)[] = accounts.map(
    (account) => PROBES.get(account.protocol)?.(account, query) ?? null,
  );
  for (let trip = 0; trip < TRIPS_MAX; trip += 1) {
    const calls = steps.flatMap((step) => (isProbe(step) ? step.calls : []));
    const results = await readByMulticall(query.at, calls, signal);
    let from = 0;
    steps = steps.map((step) => {
      if (!isProbe(step)) return step;
      const own = results.slice(from, from + step.calls.length);
      from += step.calls.length;
      return step.decode(own);
    });
  }
  return steps.map((step) => (isProbe(step) ? null : step));
}

function isProbe(step: Loan | LoanProbe | null): step is LoanProbe {
  return step !== null && "calls" in step;
}

/** By protocol and contract: names may be chosen by strangers. */
function describeUnknown({ at }: WalletQuery, health: readonly LoanHealth[]): readonly string[] {
  return health
    .filter(({ loan }) => loan === null)
    .map(
      ({ protocol, contract }) =>
        `The health of a lending account in ${protocol} on ${at.chain.name} is unknown: its market ${contract ?? ""} could not be read, or contradicts itself.`,
    );
}
