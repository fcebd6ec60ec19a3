// Pots of vaults: nothing is paid twice, and nothing is left out while there is enough.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../../lib/hex.ts";
import { VaultPots } from "./vault-pots.ts";

describe("pots of vaults", () => {
  it("pays all that is asked while there is enough, then the rest", () => {
    const pots = new VaultPots();
    const draw = (vault: Hex, amount: bigint) => ({ vault, amount, held: 100n });
    expect(pots.take(60n, [])).toBe(60n);
    expect(pots.take(60n, [draw("0xa", 60n)])).toBe(60n);
    expect(pots.take(60n, [draw("0xa", 60n)])).toBe(40n);
    expect(pots.take(1n, [draw("0xa", 1n)])).toBe(0n);
    // The scarcest on the way decides, in its own units.
    expect(pots.take(1_000n, [draw("0xc", 50n), draw("0xd", 400n)])).toBe(250n);
    expect(pots.take(80n, [draw("0xc", 80n)])).toBe(80n);
  });

  it("never pays more out of a pot than it holds", () => {
    const draw = fc.record({ vault: fc.nat(3), amount: fc.bigInt(1n, 1_000n) });
    const request = fc.record({
      amount: fc.bigInt(1n, 1_000n),
      draws: fc.uniqueArray(draw, { minLength: 1, maxLength: 3, selector: ({ vault }) => vault }),
    });
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 12 }),
        fc.array(fc.bigInt(0n, 2_000n), { minLength: 4, maxLength: 4 }),
        (requests, held) => {
          const pots = new VaultPots();
          const paid = [0n, 0n, 0n, 0n];
          for (const { amount, draws } of requests) {
            const named = draws.map((each): Parameters<VaultPots["take"]>[1][number] => ({
              ...{ vault: `0x${each.vault}`, amount: each.amount, held: held[each.vault] ?? 0n },
            }));
            const taken = pots.take(amount, named);
            expect(taken).toBeLessThanOrEqual(amount);
            for (const each of draws) {
              paid[each.vault] = (paid[each.vault] ?? 0n) + (each.amount * taken) / amount;
            }
          }
          for (const [index, sum] of paid.entries()) expect(sum).toBeLessThanOrEqual(held[index] ?? 0n);
        },
      ),
    );
  });
});
