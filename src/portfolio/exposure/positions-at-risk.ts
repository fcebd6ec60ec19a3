// Values the wallet's positions for an account that may act on them: each account of collateral and debt once.
import { compareDecimals } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { Asset, ProtocolPosition } from "../types.ts";
import type { ChainData } from "../valuation/snapshot-data.ts";
import { findAssetPrice, sumKnownValues, type UsdValue, valueAsset } from "../valuation/usd.ts";
import type { LivePermission, PositionPower } from "./types.ts";

/** The amount that can be taken. */
export type Risk = {
  /** Null when nothing of it is known. */
  readonly value: UsdValue;
  /** Something of it is unknown: it is at least this. */
  readonly isPartial: boolean;
};

export const NO_RISK: Risk = { value: { units: 0n, scale: 0 }, isPartial: false };
export const UNKNOWN_RISK: Risk = { value: null, isPartial: true };

/** Positions that are worth something together only: collateral and debt of one market, or a single one. */
export type PositionAccount = {
  readonly protocol: string;
  readonly market: string | null;
  readonly positions: readonly ProtocolPosition[];
  /** The value that is left after its debt; never less than nothing. */
  readonly net: Risk;
};

/** The positions of one chain, as they were read. */
export type ExposedPositions = {
  readonly accounts: readonly PositionAccount[];
  /** Contracts of delegations whose positions could not be read. */
  readonly unread: ReadonlySet<Hex>;
  /** Managers of which NFTs may be missing among the positions. */
  readonly incomplete: ReadonlySet<Hex>;
  /** Every reader was asked and returned, so that nothing else is in a protocol. */
  readonly isComplete: boolean;
  readonly prices: ChainData["prices"];
  /** The amounts that delegates of debt may borrow. */
  readonly assets: ReadonlyMap<Hex, Asset>;
  /** The amount that each pool of Aave would lend against the collateral; null if it did not say. */
  readonly borrowable: ReadonlyMap<Hex, UsdValue>;
  /** Shares that Euler's connector can move for their owner. */
  readonly connectorShares: ReadonlySet<Hex>;
};

/** At least nothing is unknown: a zero alongside an unknown part would read like safety. */
export function sumRisks(risks: readonly Risk[]): Risk {
  const value = sumKnownValues(risks.map((risk) => risk.value));
  const isPartial = risks.some((risk) => risk.isPartial);
  return isPartial && value?.units === 0n ? UNKNOWN_RISK : { value, isPartial };
}

/** Unknown if the limit is unknown: more may not be there, and less may be. */
export function limitRisk(risk: Risk, limit: Risk): Risk {
  if (risk.value === null || limit.value === null) return UNKNOWN_RISK;
  return compareDecimals(risk.value, limit.value) <= 0 ? risk : limit;
}

export function groupAccounts(
  positions: readonly ProtocolPosition[],
  prices: ChainData["prices"],
): readonly PositionAccount[] {
  const groups = groupBy(positions, (one) => (one.market ? `${one.protocol} ${one.market}` : one));
  return [...groups.values()].map((group) => ({
    protocol: group[0]?.protocol ?? "",
    market: group[0]?.market ?? null,
    positions: group,
    net: valueGroup(group, prices),
  }));
}

/** With a debt, or with a part that could not be read, an account is known in full or not at all. */
function valueGroup(positions: readonly ProtocolPosition[], prices: ChainData["prices"]): Risk {
  const values = positions.flatMap((position) => valueAssets(position, prices));
  const isPartial = values.includes(null);
  const owes = positions.some(({ kind }) => kind === "borrowed");
  if (positions.some(({ incomplete }) => incomplete) || (owes && isPartial)) return UNKNOWN_RISK;
  const value = sumKnownValues(values);
  return { value: value && value.units < 0n ? { units: 0n, scale: 0 } : value, isPartial };
}

function valueAssets({ kind, assets }: ProtocolPosition, prices: ChainData["prices"]): readonly UsdValue[] {
  const isDebt = kind === "borrowed";
  return assets
    .filter(({ rawBalance }) => rawBalance > 0n)
    .map((asset) => valueAsset(asset, findAssetPrice(asset, prices), { isDebt }).value);
}

/** The accounts that the holder of a permission can empty; not those of Aave, if it can borrow only. */
export function findAccounts(
  { power, tokenId }: Pick<LivePermission, "power" | "tokenId">,
  { accounts, connectorShares }: ExposedPositions,
  wallet: Hex,
): readonly PositionAccount[] {
  if (power === undefined) return [];
  const { form, contract, protocol } = power.delegation;
  const isOwn = (account: PositionAccount) => account.positions.some((one) => one.contract === contract);
  switch (form) {
    case "aave":
    case "comet":
    case "venus":
      return accounts.filter((account) => account.protocol === protocol && account.market === contract);
    case "morpho":
      return accounts.filter(isOwn);
    case "nft":
      return accounts.filter(({ positions }) =>
        positions.some(
          (one) =>
            one.contract === contract &&
            one.tokenId !== undefined &&
            (tokenId === null || one.tokenId === tokenId),
        ),
      );
    case "euler":
      return accounts.filter(({ market, positions }) => {
        const ofConnector = positions.some(
          (one) => one.receiptTokens.length > 0 && one.contract !== null && connectorShares.has(one.contract),
        );
        const isNamed = listEulerAccounts(power, wallet).some((account) => market === `euler:${account}`);
        return isNamed || (market === null && hasBit(power, 0) && ofConnector);
      });
  }
}

const EULER_ACCOUNTS = 256;

function hasBit({ accounts = 0n }: PositionPower, index: number): boolean {
  return ((accounts >> BigInt(index)) & 1n) === 1n;
}

/** The accounts of an owner differ from its address in the last byte. */
function listEulerAccounts(power: PositionPower, wallet: Hex): readonly Hex[] {
  return Array.from({ length: EULER_ACCOUNTS }, (_, index) => index)
    .filter((index) => hasBit(power, index))
    .map((index): Hex => `0x${(BigInt(wallet) ^ BigInt(index)).toString(16).padStart(40, "0")}`);
}

/** The amount that the holder of a permission over positions can take. */
export function valuePower(
  permission: Pick<LivePermission, "power" | "tokenId" | "rawAllowance">,
  positions: ExposedPositions,
  wallet: Hex,
): Risk {
  const { power } = permission;
  if (power === undefined || positions.unread.has(power.delegation.contract)) return UNKNOWN_RISK;
  if (power.delegation.form === "aave") return valueDelegations([permission], positions);
  const accounts = findAccounts(permission, positions, wallet);
  const risk = sumRisks(accounts.map(({ net }) => net));
  // Only of the wallet's own account, and of those that borrow, it is known what is in them.
  const isUnseen =
    power.delegation.form === "euler" &&
    listEulerAccounts(power, wallet).some(
      (account) => account !== wallet && !accounts.some(({ market }) => market === `euler:${account}`),
    );
  // An NFT that was not found may be worth anything; one that is approved by itself was found or was not.
  const isLost =
    positions.incomplete.has(power.delegation.contract) &&
    (permission.tokenId === null || accounts.length === 0);
  if (!isUnseen && !isLost) return risk;
  return { value: accounts.length === 0 ? null : risk.value, isPartial: true };
}

/**
 * The amount that delegates of debt in one pool can borrow together: by their allowances, and by what the collateral
 * permits.
 */
export function valueDelegations(
  permissions: readonly Pick<LivePermission, "power" | "rawAllowance">[],
  { borrowable, prices, accounts, assets }: ExposedPositions,
): Risk {
  const delegation = permissions[0]?.power?.delegation;
  if (delegation === undefined) return NO_RISK;
  // Without collateral nothing can be borrowed.
  const isUsed = accounts.some(
    ({ market, protocol }) => market === delegation.contract && protocol === delegation.protocol,
  );
  if (!isUsed) return NO_RISK;
  const most: UsdValue = borrowable.get(delegation.contract) ?? null;
  if (most === null) return UNKNOWN_RISK;
  const limit = { value: most, isPartial: false };
  const asked = permissions.map(({ power, rawAllowance }): Risk => {
    const price = (power?.underlying && prices.get(power.underlying)) ?? null;
    const decimals = (power?.underlying && assets.get(power.underlying)?.decimals) ?? null;
    const amount = rawAllowance ?? 0n;
    // More than there is of any token: what the collateral permits is the limit, whatever the token costs.
    if (amount >= 2n ** 128n) return limit;
    if (price === null || decimals === null) return UNKNOWN_RISK;
    const holding = { contract: null, symbol: null, name: null, logo: null, decimals, rawBalance: amount };
    return { value: valueAsset(holding, price, { valueMax: null }).value, isPartial: false };
  });
  return limitRisk(sumRisks(asked), limit);
}

/** For each receipt token: the positions that it represents, without those that are owed. */
export function indexReceipts({
  accounts,
  prices,
}: ExposedPositions): ReadonlyMap<Hex, { readonly account: PositionAccount; readonly risk: Risk }> {
  const receipts = new Map<Hex, { account: PositionAccount; risk: Risk }>();
  for (const account of accounts) {
    for (const position of account.positions) {
      const values = valueAssets(position, prices);
      const known = { value: sumKnownValues(values), isPartial: values.includes(null) };
      const risk = position.kind === "borrowed" ? NO_RISK : known;
      for (const token of position.receiptTokens) {
        const before = receipts.get(token);
        receipts.set(token, { account, risk: before ? sumRisks([before.risk, risk]) : risk });
      }
    }
  }
  return receipts;
}
