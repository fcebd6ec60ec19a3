// Shows a position without a value as its receipt tokens when those have one, so that nothing is lost or counted twice.
import type { Hex } from "../../lib/hex.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import type { Holding, PositionAsset, ProtocolPosition } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";
import { findAssetPrice, valueAsset } from "./usd.ts";

type ResolvedPositions = {
  readonly shownAsPositions: readonly ProtocolPosition[];
  /** Shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
};

/** Resolves each non-empty position to itself or to its receipt tokens. */
export function resolvePositions(data: ChainData): ResolvedPositions {
  const held = heldTokens(data);
  const isCountable = (receipt: Hex) => {
    const holding = held.get(receipt);
    return (
      holding !== undefined &&
      hasValue(holding, data) &&
      findSpamReasons(holding, { chain: data.chain, unpriced: false }).length === 0
    );
  };
  const replaced = new Set(
    replaceableGroups(data)
      .filter((group) => receiptsOf(group).every(isCountable))
      .flat(),
  );
  const nonEmpty = data.positions.filter((position) => nonZeroAssets(position).length > 0);
  return {
    shownAsPositions: nonEmpty.filter((position) => !replaced.has(position)),
    shownAsReceiptTokens: nonEmpty.filter((position) => replaced.has(position)),
  };
}

/** Unpriced receipt tokens whose price would let them replace a position without a value. */
export function findUnpricedReceiptTokens(data: ChainData): readonly Holding[] {
  const held = heldTokens(data);
  return receiptsOf(replaceableGroups(data).flat()).flatMap((receipt) => {
    const holding = held.get(receipt);
    return holding === undefined || data.prices.has(receipt) ? [] : [holding];
  });
}

/**
 * Groups without a full value that their receipt tokens may replace. Positions that share a receipt token are replaced
 * together. A debt is never replaced: its token would count as an asset. Nor is a position with a receipt token that is
 * not among the holdings: it would be lost.
 */
function replaceableGroups(data: ChainData): readonly (readonly ProtocolPosition[])[] {
  const held = heldTokens(data);
  return groupsByReceipt(data.positions.filter((position) => nonZeroAssets(position).length > 0)).filter(
    (group) =>
      group.some((position) => !nonZeroAssets(position).every((asset) => hasValue(asset, data))) &&
      group.every(({ kind }) => kind !== "borrowed") &&
      receiptsOf(group).every((receipt) => held.has(receipt)),
  );
}

/** Groups of positions connected by receipt tokens; a position without one is in no group. */
function groupsByReceipt(positions: readonly ProtocolPosition[]): readonly (readonly ProtocolPosition[])[] {
  const groupOf = new Map<Hex, readonly ProtocolPosition[]>();
  for (const position of positions) {
    const connected = new Set(position.receiptTokens.map((receipt) => groupOf.get(receipt) ?? []));
    const group = [...[...connected].flat(), position];
    for (const receipt of receiptsOf(group)) groupOf.set(receipt, group);
  }
  return [...new Set(groupOf.values())];
}

function receiptsOf(positions: readonly ProtocolPosition[]): readonly Hex[] {
  return [...new Set(positions.flatMap(({ receiptTokens }) => receiptTokens))];
}

function heldTokens({ holdings }: ChainData): ReadonlyMap<Hex | null, Holding> {
  return new Map(
    holdings.filter(({ rawBalance }) => rawBalance > 0n).map((holding) => [holding.contract, holding]),
  );
}

function nonZeroAssets({ assets }: ProtocolPosition): readonly PositionAsset[] {
  return assets.filter(({ rawBalance }) => rawBalance > 0n);
}

function hasValue(asset: PositionAsset, { prices }: ChainData): boolean {
  return valueAsset(asset, findAssetPrice(asset, prices)).value !== null;
}
