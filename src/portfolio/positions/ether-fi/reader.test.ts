// ether.fi on what its own contracts returned: eETH counts as the weETH that wrapping gives, weETH keeps its own price.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/ether-fi.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { PositionAsset } from "../../types.ts";
import { createRateReader, ETHER_FI_TOKENS, type RatedToken } from "../rate-reader.ts";

const wallet = recording.wallet as Hex;
const [eEth, weEth] = [recording.eEth as Hex, recording.weEth as Hex];
const [shippedWeEth, shippedEEth] = ETHER_FI_TOKENS.get(1) as readonly [RatedToken, RatedToken];
const tokens = [
  { ...shippedWeEth, token: weEth, rate: { ...shippedWeEth.rate, contract: weEth } },
  { ...shippedEEth, token: eEth, asset: weEth, rate: { ...shippedEEth.rate, contract: weEth } },
];
const reader = createRateReader("ether-fi", new Map([[31337, tokens]]));
const { rewarded, slashed } = recording.cases;
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };
const wrapped = { contract: weEth, symbol: "weETH", name: "Wrapped eETH", decimals: 18, logo: null };

/** The value of an asset by its rate, and how much the rounding of that rate can take. */
function convert({ rawBalance, marketRate }: PositionAsset): { amount: bigint; rounding: bigint } {
  const { units, scale } = marketRate?.rate ?? { units: 0n, scale: 0 };
  const one = 10n ** BigInt(scale);
  return { amount: (rawBalance * units) / one, rounding: rawBalance / one + 1n };
}

describe("ether.fi", () => {
  const moment = openRecordedMoment(rewarded);
  const [heldEEth, heldWeEth] = moment.holdings;
  if (!heldEEth || !heldWeEth) throw new Error("the recording has no eETH or weETH");
  const rateOf = (per: object, units: string) => ({
    marketRate: {
      ...{ per, source: "ether-fi", contract: weEth, timestamp: null },
      rate: { units: BigInt(units), scale: 18 },
    },
  });
  const common = { protocol: "ether-fi", kind: "staked" } as const;
  describePositionReader({
    ...{ reader, wallet, ...moment },
    expected: [
      {
        ...{ ...common, name: "ether.fi weETH", contract: weEth, receiptTokens: [weEth] },
        assets: [{ ...heldWeEth, ...rateOf(ether, rewarded.views.unwrappedOne) } as PositionAsset],
      },
      {
        ...{ ...common, name: "ether.fi eETH", contract: eEth, receiptTokens: [eEth] },
        assets: [{ ...heldEEth, ...rateOf(wrapped, rewarded.views.wrappedOne) } as PositionAsset],
      },
    ],
    roundsMax: 1,
    requestsMax: 1,
  });

  it.each([
    ["after rewards", rewarded],
    ["after a slashing", slashed],
  ] as const)("values weETH and eETH at what wrapping and unwrapping give %s", async (_name, each) => {
    const { holdings, ...record } = openRecordedMoment(each);
    const query = { at: openRecordedChain(record), wallet, holdings };
    const { positions } = await reader.read(query, new AbortController().signal);
    const [weEthAsset, eEthAsset] = positions.flatMap(({ assets }) => assets) as [
      PositionAsset,
      PositionAsset,
    ];
    for (const [asset, given] of [
      [weEthAsset, each.views.unwrapped],
      [eEthAsset, each.views.wrapped],
    ] as const) {
      const { amount, rounding } = convert(asset);
      const difference = BigInt(given) - amount;
      expect(difference).toBeGreaterThanOrEqual(0n);
      expect(difference).toBeLessThanOrEqual(rounding);
    }
  });

  it("the recorded weETH is worth less after a slashing than after rewards", () => {
    expect(BigInt(slashed.views.unwrapped)).toBeLessThan(BigInt(rewarded.views.unwrapped));
    expect(BigInt(slashed.views.claim)).toBeLessThan(BigInt(rewarded.views.claim));
  });
});
