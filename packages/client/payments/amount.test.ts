// Amounts are exact: decimal text and smallest units are the same number.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUnits, toUnits } from "./amount.ts";
import { createGuard } from "./guard.ts";

const UINT256_MAX = 2n ** 256n - 1n;

describe("an amount", () => {
  it("reads an amount back as it was written", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, UINT256_MAX), fc.integer({ min: 18, max: 30 }), (units, decimals) => {
        expect(toUnits(formatUnits(units, decimals), decimals, "total")).toBe(units);
        expect(toUnits(units, decimals, "total")).toBe(units);
      }),
    );
  });

  it.each(["", "-1", "1.", ".5", "01", "1e3", "0x1", "1,5", "0.0000001", " 1", "NaN"])(
    "rejects %j as an amount",
    (text) => {
      expect(() => toUnits(text, 6, "guard.perDay")).toThrow("guard.perDay must be");
    },
  );

  it("checks amounts and the token when the client is created", () => {
    expect(() => createGuard({ perDay: "0.0000001" }, ["https://a.example"])).toThrow("guard.perDay");
    expect(() => createGuard({ total: -1n }, ["https://a.example"])).toThrow("guard.total");
    expect(() => createGuard({ network: "eip155:1" }, ["https://a.example"])).toThrow("guard.asset");
    expect(createGuard({}, ["https://a.example"]).limits).toEqual({
      perPayment: 50_000n,
      perHour: 1_000_000n,
      perDay: 5_000_000n,
      total: 50_000_000n,
    });
  });

  it.each([
    ["windowSecondsMax", Number.NaN],
    ["windowSecondsMax", 0],
    ["windowSecondsMax", "300"],
    ["decimals", 6.5],
    ["decimals", -1],
    ["network", "8453"],
    ["asset", "USDC"],
    ["payees", "0xd8da6bf26964af9d7eed9e03e53415d37aa96045"],
    ["payees", ["0x1234"]],
    ["origin", "portfolio.example"],
    ["node", "base"],
  ])("rejects a guard with %s %j, which would switch a rule off", (name, value) => {
    const create = () => createGuard({ [name]: value }, ["https://a.example"]);
    expect(create).toThrow(expect.objectContaining({ name: "SextantError", code: "NOT_CONFIGURED" }));
    expect(create).toThrow(`guard.${name}`);
  });
});
