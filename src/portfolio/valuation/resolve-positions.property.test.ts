// Any wallet: each position is shown either as itself or as its receipt tokens.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary as wallet } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { getAssetKey, type Holding, type PositionAsset, type ProtocolPosition } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";

describe("any wallet", () => {
  it("shows each position as itself, or as its receipt tokens if only those have a value", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions } = makeSnapshot(...chains);
        for (const data of chains) {
          const { slug } = data.chain;
          const shownAs = ({ name }: ProtocolPosition) =>
            positions.find((shown) => shown.chain === slug && shown.name === name);
          const tokenOf = (receipt: string) =>
            tokens.find(({ chain, contract }) => chain === slug && contract === receipt);
          for (const position of data.positions.filter(holdsSomething)) {
            const group = related(position, data.positions.filter(holdsSomething));
            const receipts = group.flatMap(({ receiptTokens }) => receiptTokens);
            const replaced =
              receipts.length > 0 &&
              group.every(({ kind }) => kind !== "borrowed") &&
              group.some(({ assets }) =>
                assets.some((asset) => asset.rawBalance > 0n && !priced(asset, data)),
              ) &&
              receipts.every((receipt) =>
                data.holdings.some((held) => held.contract === receipt && isCountable(held, data)),
              );
            expect(shownAs(position) === undefined).toBe(replaced);
            for (const receipt of position.receiptTokens) {
              expect(tokenOf(receipt) !== undefined).toBe(replaced);
              if (replaced)
                expect(tokenOf(receipt)).toMatchObject({ spam: false, valueUsd: expect.any(String) });
            }
          }
        }
      }),
      { numRuns: runsOf(500, { min: 100 }) },
    );
  });
});

const holdsSomething = ({ assets }: ProtocolPosition) => assets.some((asset) => asset.rawBalance > 0n);

function priced(asset: PositionAsset, { prices }: ChainData): boolean {
  return asset.decimals !== null && (prices.has(getAssetKey(asset)) || Boolean(asset.marketPrice));
}

/** Held, with a value, and not spam by an absurd amount of an unlisted token. */
function isCountable(holding: Holding, data: ChainData): boolean {
  const { contract, rawBalance } = holding;
  const listed = contract !== null && data.chain.tokens.has(contract);
  return priced(holding, data) && rawBalance > 0n && (listed || rawBalance < 2n ** 128n);
}

/** All positions connected to one by receipt tokens, transitively. */
function related(position: ProtocolPosition, all: readonly ProtocolPosition[]): readonly ProtocolPosition[] {
  const group = new Set([position]);
  for (let size = 0; size < group.size; ) {
    size = group.size;
    const receipts = [...group].flatMap(({ receiptTokens }) => receiptTokens);
    for (const other of all)
      if (other.receiptTokens.some((token) => receipts.includes(token))) group.add(other);
  }
  return [...group];
}
