// Counts the coins of a vault that is believed for them alone once, however many shares of the wallet rest on them.

import type { SharesOutcome, VaultContext } from "./resolve-shares.ts";

/**
 * Cuts what rests on the same coins to what there is of them. The wallet's own shares of a vault come before those of
 * vaults over it, then the order of the outcomes decides. Outcomes that are not shown take nothing.
 */
export function shareOutPots(
  { query, pots }: VaultContext,
  outcomes: readonly SharesOutcome[],
  isShown: (outcome: SharesOutcome, index: number) => boolean,
): readonly SharesOutcome[] {
  const shown = outcomes
    .filter((outcome, index) => outcome.draws.length > 0 && isShown(outcome, index))
    .toSorted((a, b) => a.draws.length - b.draws.length);
  const cut = new Map<SharesOutcome, SharesOutcome>();
  for (const outcome of shown) {
    const { asset, draws, warnings } = outcome;
    if (asset === null) continue;
    const rawBalance = pots.take(asset.rawBalance, draws);
    if (rawBalance === asset.rawBalance) continue;
    const warning = `The vault ${draws[0]?.vault} on ${query.at.chain.name} rests on assets that other shares of the wallet rest on, which count once.`;
    cut.set(outcome, {
      ...outcome,
      asset: rawBalance > 0n ? { ...asset, rawBalance } : null,
      warnings: [...warnings, warning],
    });
  }
  return outcomes.map((outcome) => cut.get(outcome) ?? outcome);
}
