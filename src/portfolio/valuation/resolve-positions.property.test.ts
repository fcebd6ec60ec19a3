// Any wallet: each position is shown as itself or as its receipt tokens, never both and never neither.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary as wallet } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { getAssetKey, type Holding, type ProtocolPosition } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

describe("any wallet", () => {
  it("shows each position as itself or as its receipt tokens, and the latter only for the better", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions } = makeSnapshot(...chains);
        for (const parts of chains) {
          const { slug } = parts.chain;
          const shownAs = ({ name }: ProtocolPosition) =>
            positions.find((shown) => shown.chain === slug && shown.name === name);
          const tokenOf = (receipt: string) =>
            tokens.find(({ chain, contract }) => chain === slug && contract === receipt);
          for (const position of parts.positions.filter(holdsSomething)) {
            const group = related(position, parts.positions.filter(holdsSomething));
            const receipts = group.flatMap(({ receiptTokens: replaces }) => replaces);
            const better =
              receipts.length > 0 &&
              group.every(({ kind }) => kind !== "borrowed") &&
              group.some(({ assets }) =>
                assets.some((asset) => asset.rawBalance > 0n && !priced(asset, parts)),
              ) &&
              receipts.every((receipt) =>
                parts.holdings.some((held) => held.contract === receipt && countsAlone(held, parts)),
              );
            expect(shownAs(position) === undefined).toBe(better);
            for (const receipt of position.receiptTokens) {
              expect(tokenOf(receipt) !== undefined).toBe(better);
              if (better)
                expect(tokenOf(receipt)).toMatchObject({ spam: false, valueUsd: expect.any(String) });
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

const holdsSomething = ({ assets }: ProtocolPosition) => assets.some((asset) => asset.rawBalance > 0n);

function priced(holding: Holding, { prices }: ChainData): boolean {
  return holding.decimals !== null && prices.has(getAssetKey(holding));
}

/** Held, with a value, and not so much of an unlisted token that it must be spam. */
function countsAlone(holding: Holding, parts: ChainData): boolean {
  const { contract, rawBalance } = holding;
  const listed = contract !== null && parts.chain.tokens.has(contract);
  return priced(holding, parts) && rawBalance > 0n && (listed || rawBalance < 2n ** 128n);
}

/** Everything that is tied to a position by receipt tokens, over however many steps. */
function related(position: ProtocolPosition, all: readonly ProtocolPosition[]): readonly ProtocolPosition[] {
  const group = new Set([position]);
  for (let size = 0; size < group.size; ) {
    size = group.size;
    const receipts = [...group].flatMap(({ receiptTokens: replaces }) => replaces);
    for (const other of all)
      if (other.receiptTokens.some((token) => receipts.includes(token))) group.add(other);
  }
  return [...group];
}
