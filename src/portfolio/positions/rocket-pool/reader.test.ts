// rETH on what Rocket Pool's own contracts returned: it keeps its own price, with the protocol's rate behind it.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/rocket-pool.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createRateReader, type RatedToken, ROCKET_POOL_TOKENS } from "../rate-reader.ts";

const wallet = recording.wallet as Hex;
const token = recording.token as Hex;
const [shipped] = ROCKET_POOL_TOKENS.get(1) as readonly [RatedToken];
const rated = { ...shipped, token, rate: { ...shipped.rate, contract: token } };
const reader = createRateReader("rocket-pool", new Map([[31337, [rated]]]));
const signal = new AbortController().signal;
const { cases } = recording;
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };

type Moment = Parameters<typeof openRecordedMoment>[0];
const read = async (moment: Moment) => {
  const { holdings, ...record } = openRecordedMoment(moment);
  return reader.read({ at: openRecordedChain(record), wallet, holdings }, signal);
};

describe("Rocket Pool", () => {
  const moment = openRecordedMoment(cases.rewarded);
  const [held] = moment.holdings;
  if (!held) throw new Error("the recording has no rETH");
  describePositionReader({
    ...{ reader, wallet, ...moment },
    expected: [
      {
        ...{ protocol: "rocket-pool", kind: "staked", name: "Rocket Pool rETH", contract: token },
        assets: [
          {
            ...held,
            marketRate: {
              ...{ per: ether, source: "rocket-pool", contract: token, timestamp: null },
              rate: { units: 1_148765432109876543n, scale: 18 },
            },
          },
        ],
        receiptTokens: [token],
      },
    ],
    roundsMax: 1,
    requestsMax: 1,
  });

  it.each(["before the first report", "rewarded", "slashed"] as const)(
    "values rETH at the ether that Rocket Pool says: %s",
    async (name) => {
      const { positions, warnings } = await read(cases[name]);
      expect(warnings).toEqual([]);
      const asset = positions[0]?.assets[0];
      const rate = asset?.marketRate?.rate;
      const ethers = ((asset?.rawBalance ?? 0n) * (rate?.units ?? 0n)) / 10n ** BigInt(rate?.scale ?? 0);
      // The rate is rounded for one whole token, the view for the whole balance.
      const difference = BigInt(cases[name].views.ether) - ethers;
      expect(difference).toBeGreaterThanOrEqual(0n);
      expect(difference).toBeLessThanOrEqual((asset?.rawBalance ?? 0n) / 10n ** 18n + 1n);
    },
  );

  it("shows rETH as a token, with a warning, when the rate cannot be read", async () => {
    const { positions, warnings } = await read(cases.worthless);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([`The rate of ${token} on Local could not be read; it is shown as a token.`]);
  });

  it("sends no request when the wallet has none", async () => {
    const at = openRecordedChain({ chain: moment.chain, calls: [] });
    expect(await reader.read({ at, wallet, holdings: [] }, signal)).toEqual({ positions: [], warnings: [] });
    expect(at.rounds).toEqual([]);
  });
});
