// Positions that have no value give way to their receipt tokens where those have one: nothing is lost or counted twice.
import type { Hex } from "../../lib/hex.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import { getAssetKey, type Holding, type ProtocolPosition } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";
import { valueAsset } from "./usd.ts";

type SettledPositions = {
  readonly shownAsPositions: readonly ProtocolPosition[];
  /** Shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
};

/** Each position that holds something, as itself or as the tokens it stands for. */
export function resolvePositions(parts: ChainData): SettledPositions {
  const held = heldTokens(parts);
  const counts = (receipt: Hex) => {
    const holding = held.get(receipt);
    return (
      holding !== undefined &&
      hasValue(holding, parts) &&
      findSpamReasons(holding, { chain: parts.chain, unpriced: false }).length === 0
    );
  };
  const yielding = new Set(
    groupsInDoubt(parts)
      .filter((group) => receiptsOf(group).every(counts))
      .flat(),
  );
  const found = parts.positions.filter((position) => amountsIn(position).length > 0);
  return {
    shownAsPositions: found.filter((position) => !yielding.has(position)),
    shownAsReceiptTokens: found.filter((position) => yielding.has(position)),
  };
}

/** Receipt tokens still without a price that would let a position without a value give way. */
export function findUnpricedReceiptTokens(parts: ChainData): readonly Holding[] {
  const held = heldTokens(parts);
  return receiptsOf(groupsInDoubt(parts).flat()).flatMap((receipt) => {
    const holding = held.get(receipt);
    return holding === undefined || parts.prices.has(receipt) ? [] : [holding];
  });
}

/**
 * Positions that share a receipt token stand or give way together. A debt never gives way: its token would count as
 * something owned. Nor does a position of which a receipt token is not among the holdings: it would be lost.
 */
function groupsInDoubt(parts: ChainData): readonly (readonly ProtocolPosition[])[] {
  const held = heldTokens(parts);
  return groupsByReceipt(parts.positions.filter((position) => amountsIn(position).length > 0)).filter(
    (group) =>
      group.some((position) => !amountsIn(position).every((asset) => hasValue(asset, parts))) &&
      group.every(({ kind }) => kind !== "borrowed") &&
      receiptsOf(group).every((receipt) => held.has(receipt)),
  );
}

/** Positions without a receipt token are in no group. */
function groupsByReceipt(positions: readonly ProtocolPosition[]): readonly (readonly ProtocolPosition[])[] {
  const groupOf = new Map<Hex, readonly ProtocolPosition[]>();
  for (const position of positions) {
    const joined = new Set(position.receiptTokens.map((receipt) => groupOf.get(receipt) ?? []));
    const group = [...[...joined].flat(), position];
    for (const receipt of receiptsOf(group)) groupOf.set(receipt, group);
  }
  return [...new Set(groupOf.values())];
}

function receiptsOf(positions: readonly ProtocolPosition[]): readonly Hex[] {
  return [...new Set(positions.flatMap(({ receiptTokens: replaces }) => replaces))];
}

function heldTokens({ holdings }: ChainData): ReadonlyMap<Hex | null, Holding> {
  return new Map(
    holdings.filter(({ rawBalance }) => rawBalance > 0n).map((holding) => [holding.contract, holding]),
  );
}

function amountsIn({ assets }: ProtocolPosition): readonly Holding[] {
  return assets.filter(({ rawBalance }) => rawBalance > 0n);
}

function hasValue(holding: Holding, { prices }: ChainData): boolean {
  return valueAsset(holding, prices.get(getAssetKey(holding))?.price ?? null).value !== null;
}
