// Applies a difference to the figures that it starts from: the result is those that it leads to.
import { Fault } from "../../lib/fault.ts";
import type { FiguresDiff } from "./diff-snapshots.ts";
import {
  byKey,
  type FiguresOf,
  formatAssetKey,
  formatPositionKey,
  formatTokenKey,
  type PositionAssetKey,
  type SnapshotFigures,
  type TokenKey,
} from "./figures.ts";

/** Throws INPUT_INVALID if the difference starts from other figures than these. */
export function applyDiff(
  before: SnapshotFigures,
  diff: FiguresDiff & { readonly timestamp: string },
): SnapshotFigures {
  requireEqual(before.totalValueUsd, diff.total.beforeUsd, "the total");
  const chains = diff.chains.map(({ chain, beforeUsd, afterUsd }, index) => {
    requireEqual(before.chains[index], { chain, totalValueUsd: beforeUsd }, chain);
    return { chain, totalValueUsd: afterUsd };
  });
  const changes = new Map(diff.positions.map((position) => [formatPositionKey(position), position]));
  const known = new Set(before.positions.map(formatPositionKey));
  const added = diff.positions.filter((position) => !known.has(formatPositionKey(position)));
  const positions = [...before.positions, ...added.map((position) => ({ ...position, assets: [] }))]
    .map(({ chain, protocol, kind, name, contract, assets }) => {
      const key = { chain, protocol, kind, name, contract };
      const changed = changes.get(formatPositionKey(key))?.assets ?? [];
      return { ...key, assets: applyChanges(assets, changed, ASSET_KEYS) };
    })
    .filter(({ assets }) => assets.length > 0)
    .sort(byKey(formatPositionKey));
  return {
    address: before.address,
    timestamp: diff.timestamp,
    totalValueUsd: diff.total.afterUsd,
    chains,
    tokens: applyChanges(before.tokens, diff.tokens, TOKEN_KEYS),
    positions,
  };
}

type KeyRule<Key> = { readonly format: (key: Key) => string; readonly pick: (key: Key) => Key };

const TOKEN_KEYS: KeyRule<TokenKey> = {
  format: formatTokenKey,
  pick: ({ chain, contract }) => ({ chain, contract }),
};
const ASSET_KEYS: KeyRule<PositionAssetKey> = {
  format: formatAssetKey,
  pick: ({ contract }) => ({ contract }),
};

/** Replaces what changed, and checks that it was what the difference says. */
function applyChanges<Key, Figures>(
  items: readonly FiguresOf<Key, Figures>[],
  changes: readonly (Key & { readonly before: Figures | null; readonly after: Figures | null })[],
  { format, pick }: KeyRule<Key>,
): readonly FiguresOf<Key, Figures>[] {
  const left = new Map(items.map((item) => [format(item), item]));
  for (const change of changes) {
    const key = format(change);
    requireEqual(left.get(key)?.figures ?? null, change.before, key);
    if (change.after === null) left.delete(key);
    else left.set(key, { ...pick(change), figures: change.after });
  }
  return [...left.values()].sort(byKey(format));
}

function requireEqual(actual: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Fault("INPUT_INVALID", `The difference does not start from these figures: ${what} differs.`);
}
