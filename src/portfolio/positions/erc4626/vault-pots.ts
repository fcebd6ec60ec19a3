// Tracks what is left of the coins that vaults hold: shares in many vaults, or of many accounts, may rest on the same coins.

import type { Hex } from "../../../lib/hex.ts";

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
