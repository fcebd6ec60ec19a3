// The accounts of a wallet that borrow in Euler as positions: collateral and debt of one account are valued together.

import type { Hex } from "../../../lib/hex.ts";
import { runRoutines } from "../../contract-reads/read-groups.ts";
import type { ProtocolPosition } from "../../types.ts";
import type { EulerAccount, EulerAccounts } from "./euler-accounts.ts";
import {
  hasLure,
  resolveShares,
  type Shares,
  type SharesOutcome,
  shareOutPots,
  type VaultContext,
} from "./resolve-shares.ts";

const PROTOCOL = "euler";
/**
 * Four loans with as much collateral as Euler allows. Only the owner can pledge shares, so that no one else uses it up.
 */
const COLLATERAL_MAX = 40;

type Pledge = {
  readonly owner: EulerAccount;
  readonly shares: Shares;
  readonly outcome: SharesOutcome | null;
};

type EulerPositions = {
  readonly positions: readonly ProtocolPosition[];
  /** Shares of the wallet itself that these positions represent. */
  readonly pledged: ReadonlySet<Hex>;
};

/** As many round trips as the collateral has levels of vaults; none for a wallet that does not borrow. */
export async function readEulerPositions(
  context: VaultContext,
  { accounts, isComplete }: EulerAccounts,
): Promise<EulerPositions> {
  const { run } = context;
  const { at, wallet } = run;
  // Shares that the wallet itself holds without owing anything are those of an ordinary vault.
  const shown = accounts.filter(({ account, loan }) => loan !== null || account !== wallet);
  const pledges = shown.flatMap((owner) => owner.collateral.map((shares) => ({ owner, shares })));
  const asked = pledges.slice(0, COLLATERAL_MAX);
  const own: VaultContext = { ...context, payableLeft: COLLATERAL_MAX };
  const routines = asked.map(({ owner, shares }) => resolveShares(own, shares, owner.account));
  const outcomes = shareOutPots(
    own,
    await runRoutines(at, routines, run.signal),
    (outcome, index) => !hasLure(context, (asked[index] as Pick<Pledge, "shares">).shares, outcome),
  );
  const resolved = pledges.map((pledge, index): Pledge => ({ ...pledge, outcome: outcomes[index] ?? null }));
  const unread = `What the wallet owes in Euler on ${run.chain} could not be read in full.`;
  run.warnOfMarkets(isComplete ? [] : [PROTOCOL], unread);
  for (const warning of new Set(outcomes.flatMap(({ warnings }) => warnings))) run.warn(warning);
  return {
    positions: shown.flatMap((owner) => {
      const pledged = resolved.filter((pledge) => pledge.owner === owner);
      return createPositions(context, owner, pledged);
    }),
    pledged: new Set(asked.flatMap(({ owner, shares }) => (owner.account === wallet ? shares.contract : []))),
  };
}

function createPositions(
  context: VaultContext,
  { account, loan }: EulerAccount,
  pledges: readonly Pledge[],
): readonly ProtocolPosition[] {
  const { wallet } = context.run;
  const isOwn = account === wallet;
  // Euler's applications number an owner's accounts like this.
  const part = isOwn ? "" : ` (sub-account ${BigInt(wallet) ^ BigInt(account)})`;
  const facts = { protocol: PROTOCOL, market: loan && `${PROTOCOL}:${account}` };
  const supplied = pledges.flatMap(({ shares, outcome }): ProtocolPosition[] => {
    if (!outcome?.asset || hasLure(context, shares, outcome)) return [];
    return [
      {
        ...facts,
        kind: "supplied",
        contract: shares.contract,
        name: `${shares.name ?? shares.symbol ?? "Euler vault"}${part}`,
        assets: [outcome.asset],
        receiptTokens: isOwn ? [shares.contract] : [],
        selfReported: outcome.isSelfReported,
      },
    ];
  });
  if (loan === null) return supplied;
  const { vault, asset, owed, debtToken } = loan;
  const isKnown = pledges.every(({ shares, outcome }) => isValuedInFull(context, shares, outcome));
  const debt: ProtocolPosition = {
    ...facts,
    kind: "borrowed",
    contract: vault,
    name: `Euler ${asset.symbol ?? "loan"}: debt${part}`,
    // Collateral of unknown value must not make the debt look like the whole account.
    ...(!isKnown && { incomplete: true }),
    assets: [{ ...asset, rawBalance: owed }],
    receiptTokens: isOwn && debtToken !== null ? [debtToken] : [],
  };
  return [...supplied, debt];
}

/** Nothing was left out or cut. */
function isValuedInFull(context: VaultContext, shares: Shares, outcome: SharesOutcome | null): boolean {
  if (outcome === null || outcome.belief === null || outcome.belief === "named") return false;
  return outcome.warnings.length === 0 && !hasLure(context, shares, outcome);
}
