// Pairs of paid responses: equal but for what is named, and different for all else.
import { expect, it } from "vitest";
import { withoutImprovements } from "../../scripts/compare-responses/named-improvements.ts";

const VAULTS =
  "Only a token list vouches for these vaults on Base: they count, and not as stablecoins: 0x01.";
const SINCE = "Base: recent activity is found by token transfers since block 0";
const before = {
  summary: { totalValueUsd: "3", stablecoinValueUsd: "2", warnings: [`${SINCE} (about 7 minutes).`] },
  tokens: [{ contract: "0x02", name: "Its own name" }],
  positions: [{ contract: "0x01", valueUsd: "1" }],
};
const now = {
  summary: {
    totalValueUsd: "3",
    stablecoinValueUsd: "1",
    unlistedValueUsd: "0",
    warnings: [`${SINCE}.`, VAULTS],
  },
  tokens: [{ contract: "0x02", name: "Its name on the list" }],
  positions: [{ contract: "0x01", valueUsd: "1", selfReported: true }],
};
const isEqual = (one: unknown, other: unknown) => {
  const [left, right] = withoutImprovements(one, other);
  return JSON.stringify(left) === JSON.stringify(right);
};

it("leaves out what is named, and nothing else", () => {
  expect(isEqual(before, now)).toBe(true);
  const withSummary = (changed: object) => ({ ...now, summary: { ...now.summary, ...changed } });
  expect(isEqual(before, withSummary({ totalValueUsd: "3.1" }))).toBe(false);
  expect(isEqual(before, withSummary({ warnings: [`${SINCE}.`, VAULTS, "Another one."] }))).toBe(false);
  expect(isEqual(before, withSummary({ name: "ens.eth" }))).toBe(false);
});

it("compares what stablecoins are worth if every position is vouched for", () => {
  const positions = [{ contract: "0x01", valueUsd: "1", selfReported: false }];
  expect(isEqual(before, { ...now, positions })).toBe(false);
});

it("compares what is at risk, whatever list of spenders and tokens a version has", () => {
  const exposure = (version: string, count: number, valueAtRiskUsd: string) => ({
    summary: {
      valueAtRiskUsd,
      spenderListVersion: version,
      warnings: [
        `Base: ${count} listed tokens returned no balance and are left out: 0x01, 0x02 and ${count - 2} more.`,
        `Base: permissions are those of every known spender of list ${version} for held tokens.`,
      ],
    },
  });
  const later = exposure("7 (2026-11-18)", 12, "1");
  expect(isEqual(exposure("3 (2026-11-16)", 10, "1"), later)).toBe(true);
  expect(isEqual(exposure("3 (2026-11-16)", 10, "2"), later)).toBe(false);
});
