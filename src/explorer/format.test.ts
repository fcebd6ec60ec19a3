// Numbers, amounts and times: exact digits, whatever a contract takes.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatCompact,
  formatDistance,
  formatDistanceFromBlock,
  formatExchangeRate,
  formatNumber,
  formatPercent,
  formatSeconds,
  formatTick,
  formatUnits,
  shareOf,
  shorten,
  splitWords,
} from "./format.ts";

describe("a number", () => {
  it.each([
    ["0", "0", null],
    ["1234", "1,234", null],
    ["-1234567.5", "-1,234,567.5", null],
    ["9007199254740993", "9,007,199,254,740,993", null],
    ["1.1234567", "1.123456…", "1.1234567"],
    [(2n ** 256n - 1n).toString(), "115,792,089…129,639,935", (2n ** 256n - 1n).toString()],
    ["1e5", "1e5", null],
  ])("formats the number %s as %s", (value, text, exact) => {
    expect(formatNumber(value)).toEqual({ text, exact });
  });

  it("a price has six digits, in both directions, whatever the decimals of its tokens", () => {
    const usdc = (units: bigint) => ({ units, decimals: 6 });
    const weth = (units: bigint) => ({ units, decimals: 18 });
    expect(formatExchangeRate(usdc(2_500_000_000n), weth(10n ** 18n))).toBe("2,500");
    expect(formatExchangeRate(weth(10n ** 18n), usdc(2_500_000_000n))).toBe("0.0004");
    expect(formatExchangeRate(usdc(1n), weth(3n * 10n ** 18n))).toBe("0.000000333333");
    expect(formatExchangeRate(usdc(20_000_001n), { units: 3n, decimals: 0 })).toBe("6.66666");
    expect(formatExchangeRate(usdc(1n), weth(0n))).toBeNull();
  });

  it("a percentage may exceed a hundred, and is null if the whole is zero", () => {
    expect(formatPercent(1_023n, 1_000n)).toBe("102.3 %");
    expect(formatPercent(1n, 3n)).toBe("33.3 %");
    expect(formatPercent(1n, 0n)).toBeNull();
  });

  it("the distance of a time from now has one unit, whose number is at least two", () => {
    const seconds = (value: number) => formatDistance(value * 1_000);
    expect([0, -1, -119, -120, -7_199].map(seconds)).toEqual([
      "0 s ago",
      "1 s ago",
      "119 s ago",
      "2 min ago",
      "119 min ago",
    ]);
    expect([7_200, 172_800, 5_184_000, 63_072_000].map(seconds)).toEqual([
      "in 2 h",
      "in 2 days",
      "in 2 months",
      "in 2 years",
    ]);
    expect(seconds(8_640_000_000_000)).toBe("in 273,972 years");
  });

  it("the distance of a time from a block is not in the words of one from now", () => {
    const seconds = (value: number) => formatDistanceFromBlock(value * 1_000);
    expect([0, -1, -7_200, 120].map(seconds)).toEqual([
      "at this block",
      "1 s earlier",
      "2 h earlier",
      "2 min later",
    ]);
  });

  it("keeps every digit, in the text or in its title", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }), (value) => {
        const { text, exact } = formatNumber(value.toString());
        expect(exact ?? text.replaceAll(",", "")).toBe(value.toString());
      }),
    );
  });
});

describe("an amount", () => {
  it("formats an amount by its token's decimals if they are known", () => {
    expect(formatUnits("1500000", 6).text).toBe("1.5");
    expect(formatUnits("-1", 18)).toEqual({ text: "-0.000000…", exact: "-0.000000000000000001" });
    expect(formatUnits("1500000", null).text).toBe("1,500,000");
    expect(formatUnits("12", 0).text).toBe("12");
  });
});

describe("a value of an axis", () => {
  it.each([
    ["0", "0"],
    ["0.05", "0.05"],
    ["7.5", "7.5"],
    ["999", "999"],
    ["1000", "1k"],
    ["1250", "1.25k"],
    ["60000", "60k"],
    ["250000", "250k"],
    ["4000000.5", "4M"],
    [`2${"0".repeat(15)}`, "2e15"],
    [`6${"0".repeat(16)}`, "60e15"],
    ["x", "x"],
  ])("formats %s on an axis as %s", (value, text) => {
    expect(formatCompact(value)).toBe(text);
  });

  it("formats a tick as a day or an hour in UTC", () => {
    expect(formatTick(1_767_225_600, "day")).toBe("1 Jan");
    expect(formatTick(1_767_225_600 + 3 * 3_600, "hour")).toBe("1 Jan 03:00");
  });
});

describe("a time", () => {
  it("formats a time in UTC, and none beyond the calendar", () => {
    expect(formatSeconds("1767225600")).toEqual({
      iso: "2026-01-01T00:00:00.000Z",
      text: "2026-01-01 00:00:00 UTC",
    });
    expect(formatSeconds("8640000000000")?.iso).toMatch(/^\+275760-09-13/);
    for (const beyond of ["8640000000001", (2n ** 256n - 1n).toString(), "-1", "x", ""]) {
      expect(formatSeconds(beyond)).toBeNull();
    }
  });
});

it("a share is within its bounds, whatever the parts are", () => {
  expect([shareOf(1n, 3n), shareOf(5n, 3n), shareOf(-1n, 3n), shareOf(1n, 0n)]).toEqual([
    3_333, 10_000, 0, 0,
  ]);
});

it("identifiers are shortened, names become words", () => {
  expect(shorten(`0x${"ab".repeat(20)}`)).toBe("0xababab…ababab");
  expect(shorten("0x1234")).toBe("0x1234");
  expect(splitWords("IntentFilled")).toBe("Intent filled");
  expect(splitWords("SWAP_EXACT_IN")).toBe("Swap exact in");
  expect(splitWords("EIP712DomainChanged")).toBe("EIP712 domain changed");
});
