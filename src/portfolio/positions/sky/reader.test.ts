// sUSDS on chains without its vault, on what the oracle's own contract returned: the shared suite, and the rate's growth.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/sky.json" with { type: "json" };
import { openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createRateReader, type RatedToken, SKY_TOKENS } from "../rate-reader.ts";

const wallet = recording.wallet as Hex;
const [token, usds, oracle] = [recording.token as Hex, recording.usds as Hex, recording.oracle as Hex];
const [shipped] = SKY_TOKENS.get(8453) as readonly [RatedToken];
const rated = { ...shipped, token, asset: usds, rate: { ...shipped.rate, contract: oracle } };
const late = recording.cases["half a year after the last message"];
const rate = BigInt(late.views.rate);

describe("Sky savings", () => {
  const moment = openRecordedMoment(late);
  const [held] = moment.holdings;
  if (!held) throw new Error("the recording has no sUSDS");
  describePositionReader({
    ...{ reader: createRateReader("sky", new Map([[31337, [rated]]])), wallet, ...moment },
    expected: [
      {
        ...{ protocol: "sky", kind: "vault", name: "Sky sUSDS", contract: token, receiptTokens: [token] },
        assets: [
          {
            ...held,
            marketRate: {
              per: { contract: usds, symbol: "USDS", name: "USDS Stablecoin", decimals: 18, logo: null },
              rate: { units: rate, scale: 27 },
              ...{ source: "sky", contract: oracle, timestamp: null },
            },
          },
        ],
      },
    ],
    roundsMax: 1,
    requestsMax: 4,
  });

  it("the recorded sUSDS rate grew since the last message from Ethereum", () => {
    // Eight percent a year for half a year, and the oracle's approximation of it.
    expect(rate).toBeGreaterThan((BigInt(late.views.stored) * 1_039n) / 1_000n);
    expect(rate).toBeLessThan((BigInt(late.views.stored) * 1_040n) / 1_000n);
    expect(rate - BigInt(late.views.approximate)).toBeLessThan(rate / 1_000_000n);
  });
});
