// The accounts of a wallet that borrow in Euler as positions: collateral and debt of one account are valued together.

import type { Hex } from "../../../lib/hex.ts";
import { runRoutines } from "../../contract-reads/read-routines.ts";
import { findSpamReasons } from "../../tokens/spam.ts";
import type { Holding, PositionResult, ProtocolPosition } from "../../types.ts";
import type { EulerAccount, EulerAccounts, EulerLoan } from "./euler-accounts.ts";
import { resolveShares, type Shares, type SharesOutcome, type VaultContext } from "./resolve-shares.ts";
import { shareOutPots } from "./share-out-pots.ts";

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

type EulerPositions = Pick<PositionResult, "positions" | "warnings" | "hasUnreadDebt"> & {
  /** Shares of the wallet itself that these positions represent. */
  readonly pledged: ReadonlySet<Hex>;
};

/** As many round trips as the collateral has levels of vaults; none for a wallet that does not borrow. */
export async function readEulerPositions(
  context: VaultContext,
  { accounts, isComplete }: EulerAccounts,
  signal: AbortSignal,
): Promise<EulerPositions> {
  const { at, wallet } = context.query;
  // Shares that the wallet itself holds without owing anything are those of an ordinary vault.
  const shown = accounts.filter(({ account, loan }) => loan !== null || account !== wallet);
  const pledges = shown.flatMap((owner) => owner.collateral.map((shares) => ({ owner, shares })));
  const asked = pledges.slice(0, COLLATERAL_MAX);
  const own: VaultContext = { ...context, payableLeft: COLLATERAL_MAX };
  const routines = asked.map(({ owner, shares }) => resolveShares(own, shares, owner.account));
  const outcomes = shareOutPots(
    own,
    await runRoutines(at, routines, signal),
    (outcome, index) => !hasLure(context, (asked[index] as Pick<Pledge, "shares">).shares, outcome),
  );
  const resolved = pledges.map((pledge, index): Pledge => ({ ...pledge, outcome: outcomes[index] ?? null }));
  const unread = isComplete
    ? []
    : [`What the wallet owes in Euler on ${at.chain.name} could not be read in full.`];
  return {
    positions: shown.flatMap((owner) =>
      createPositions(
        context,
        owner,
        resolved.filter((pledge) => pledge.owner === owner),
      ),
    ),
    pledged: new Set(asked.flatMap(({ owner, shares }) => (owner.account === wallet ? shares.contract : []))),
    warnings: [...unread, ...new Set(outcomes.flatMap(({ warnings }) => warnings))],
    ...(isComplete ? {} : { hasUnreadDebt: true }),
  };
}

function createPositions(
  context: VaultContext,
  { account, loan }: EulerAccount,
  pledges: readonly Pledge[],
): readonly ProtocolPosition[] {
  const part = describeAccount(context.query.wallet, account);
  const market = loan === null ? null : `${PROTOCOL}:${account}`;
  const supplied = pledges.flatMap(({ shares, outcome }): ProtocolPosition[] => {
    const asset = outcome?.asset;
    if (!asset || hasLure(context, shares, outcome)) return [];
    const place = { market, part, isOwn: account === context.query.wallet };
    return [{ ...createCollateral(shares, asset, place), selfReported: outcome.isSelfReported }];
  });
  if (loan === null) return supplied;
  const isKnown = pledges.every(({ shares, outcome }) => isValuedInFull(context, shares, outcome));
  return [...supplied, createDebt(loan, { market, part, isOwn: account === context.query.wallet, isKnown })];
}

type Place = { readonly market: string | null; readonly part: string; readonly isOwn: boolean };

function createCollateral(shares: Shares, asset: Holding, { market, part, isOwn }: Place): ProtocolPosition {
  return {
    ...{ protocol: PROTOCOL, kind: "supplied", market, contract: shares.contract },
    name: `${shares.name ?? shares.symbol ?? "Euler vault"}${part}`,
    assets: [asset],
    receiptTokens: isOwn ? [shares.contract] : [],
  };
}

function createDebt(
  { vault, asset, owed, debtToken }: EulerLoan,
  { market, part, isOwn, isKnown }: Place & { readonly isKnown: boolean },
): ProtocolPosition {
  return {
    ...{ protocol: PROTOCOL, kind: "borrowed", market, contract: vault },
    name: `Euler ${asset.symbol ?? "loan"}: debt${part}`,
    // Collateral of unknown value must not make the debt look like the whole account.
    ...(isKnown ? {} : { incomplete: true }),
    assets: [{ ...asset, rawBalance: owed }],
    receiptTokens: isOwn && debtToken !== null ? [debtToken] : [],
  };
}

/** Nothing was left out or cut. */
function isValuedInFull(context: VaultContext, shares: Shares, outcome: SharesOutcome | null): boolean {
  if (outcome === null || outcome.belief === null || outcome.belief === "named") return false;
  return outcome.warnings.length === 0 && !hasLure(context, shares, outcome);
}

/** The creator of the vault chose its name: only governance or curators vouch for that as well. */
export function hasLure(
  { query }: VaultContext,
  shares: Shares,
  { belief }: Pick<SharesOutcome, "belief">,
): boolean {
  return belief !== "full" && findSpamReasons(shares, { chain: query.at.chain, unpriced: false }).length > 0;
}

/** Euler's applications number an owner's accounts like this. */
function describeAccount(wallet: Hex, account: Hex): string {
  const index = BigInt(wallet) ^ BigInt(account);
  return index === 0n ? "" : ` (sub-account ${index})`;
}
