// Tracks what is left of the coins that vaults hold: shares in many vaults, or of many accounts, may rest on the same coins.

import type { Hex } from "../../../lib/hex.ts";
import type { SharesOutcome, VaultContext } from "./resolve-shares.ts";

/** An amount that a vault must pay out of the coins that it holds. */
export type Draw = { readonly vault: Hex; readonly amount: bigint; readonly held: bigint };

export class VaultPots {
  readonly #left = new Map<Hex, bigint>();

  /** The part of `amount`, at the end of these draws, that all the vaults on its way still have the coins for. */
  take(amount: bigint, draws: readonly Draw[]): bigint {
    const isScarcer = (a: Draw, b: Draw) => this.#leftFor(a) * b.amount < this.#leftFor(b) * a.amount;
    const scarcest = draws.reduce<Draw | null>(
      (found, draw) => (found === null || isScarcer(draw, found) ? draw : found),
      null,
    );
    if (scarcest === null) return amount;
    const left = this.#leftFor(scarcest);
    const [paid, owed] = left < scarcest.amount ? [left, scarcest.amount] : [1n, 1n];
    for (const draw of draws) {
      // Rounded up, so that the parts never sum up to more than there is.
      const taken = (draw.amount * paid + owed - 1n) / owed;
      const before = this.#leftFor(draw);
      this.#left.set(draw.vault, taken < before ? before - taken : 0n);
    }
    return (amount * paid) / owed;
  }

  #leftFor({ vault, held }: Draw): bigint {
    return this.#left.get(vault) ?? held;
  }
}

/**
 * Cuts what rests on the same coins to what there is of them. The wallet's own shares of a vault come before those of
 * vaults over it, then the order of the outcomes decides. Outcomes that are not shown take nothing.
 */
export function shareOutPots(
  { run, pots }: VaultContext,
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
    const warning = `The vault ${draws[0]?.vault} on ${run.chain} rests on assets that other shares of the wallet rest on, which count once.`;
    cut.set(outcome, {
      ...outcome,
      asset: rawBalance > 0n ? { ...asset, rawBalance } : null,
      warnings: [...warnings, warning],
    });
  }
  return outcomes.map((outcome) => cut.get(outcome) ?? outcome);
}
