// Token lists: rows of other chains are skipped, and one invalid row rejects the list.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { isPseudoNative, mergeTokenLists, parseTokenList } from "./token-list.ts";

const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const usdc = USDC.toLowerCase() as Hex;
const row = (changes: object = {}) => ({
  chainId: 1,
  address: USDC,
  symbol: "USDC",
  name: "USD Coin",
  decimals: 6,
  logoURI: "https://example.org/usdc.png",
  ...changes,
});
const parse = (...tokens: unknown[]) => parseTokenList({ tokens }, "mine.json", new Set([1, 137]));

describe("a list", () => {
  it("maps tokens by chain and lower-case address", () => {
    const other = row({ chainId: 137, decimals: 0, logoURI: undefined });
    const found = parse(row(), other);
    const expected = { contract: usdc, symbol: "USDC", name: "USD Coin" };
    expect([...found.keys()]).toEqual([1, 137]);
    expect([...(found.get(1) ?? [])]).toEqual([[usdc, { ...expected, decimals: 6, logo: row().logoURI }]]);
    expect([...(found.get(137) ?? [])]).toEqual([[usdc, { ...expected, decimals: 0, logo: null }]]);
  });

  it("ignores rows of other chains, even invalid ones", () => {
    expect(parse({ chainId: 101, address: "So11111111111111111111111111111111111111112" })).toEqual(
      new Map(),
    );
  });

  it("uses the first row of a repeated token, and rejects contradicting decimals", () => {
    const again = row({ address: usdc, name: "Another name" });
    expect(parse(row(), again).get(1)?.get(usdc)?.name).toBe("USD Coin");
    expect(() => parse(row(), row({ decimals: 18 }))).toThrow(/mine\.json.+token 2 appears twice/);
  });

  it("ignores rows for the native coin", () => {
    const native = [
      [1, `0x${"0".repeat(40)}`],
      [1, `0x${"E".repeat(40)}`],
      [137, "0x0000000000000000000000000000000000001010"],
    ].map(([chainId, address]) => row({ chainId, address }));
    expect(parse(...native)).toEqual(new Map());
    expect(isPseudoNative(10, "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000")).toBe(true);
    // On another chain it is an ordinary address.
    expect(isPseudoNative(1, "0x0000000000000000000000000000000000001010")).toBe(false);
  });

  it("sanitizes texts and drops logos that are not links", () => {
    const odd = parse(row({ symbol: "US\u202eDC", name: " USD \n Coin ", logoURI: "javascript:alert(1)" }));
    expect(odd.get(1)?.get(usdc)).toMatchObject({ symbol: "USDC", name: "USD Coin", logo: null });
    for (const logoURI of [
      "data:image/png;base64,AA",
      'https://a/"><script>',
      7,
      `https://a/${"b".repeat(3_000)}`,
    ]) {
      expect(parse(row({ logoURI })).get(1)?.get(usdc)?.logo).toBeNull();
    }
    expect(
      parse(row({ logoURI: "ipfs://Qm" }))
        .get(1)
        ?.get(usdc)?.logo,
    ).toBe("ipfs://Qm");
  });

  it.each([
    ["a number", 7],
    ["null", null],
    ["a list", []],
    ["no chainId", row({ chainId: "1" })],
    ["a short address", row({ address: "0x12" })],
    ["an address with invalid digits", row({ address: `0x${"g".repeat(40)}` })],
    ["no decimals", row({ decimals: undefined })],
    ["decimals as text", row({ decimals: "6" })],
    ["decimals of 256", row({ decimals: 256 })],
    ["negative decimals", row({ decimals: -1 })],
    ["half decimals", row({ decimals: 1.5 })],
    ["a symbol that is not text", row({ symbol: 5 })],
    ["an overlong name", row({ name: "a".repeat(257) })],
  ])("rejects %s and names the row", (_, bad) => {
    expect(() => parse(row({ chainId: 137 }), bad)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(/mine\.json.+token 2/),
      }),
    );
  });

  it("rejects a list that is invalid or too long", () => {
    for (const list of [null, [], "tokens", {}, { tokens: {} }]) {
      expect(() => parseTokenList(list, "mine.json", new Set([1]))).toThrow(/mine\.json.+"tokens"/);
    }
    expect(() => parse(...Array.from({ length: 50_001 }, () => null))).toThrow(/more than 50000/);
  });

  it("parses or rejects any content with a Fault", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ tokens: fc.array(fc.jsonValue()) })), (list) => {
        try {
          parseTokenList(list, "mine.json", new Set([1]));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
    );
  });
});

describe("several lists", () => {
  it("merges lists, and the first list with a token describes it", () => {
    const other = `0x${"12".repeat(20)}` as const;
    const lists = [parse(row({ name: "First" })), parse(row({ name: "Second" }), row({ address: other }))];
    const merged = mergeTokenLists(lists, 1);
    expect([...merged.keys()]).toEqual([usdc, other]);
    expect(merged.get(usdc)?.name).toBe("First");
    expect(mergeTokenLists(lists, 10).size).toBe(0);
  });

  it("rejects lists that are longer than can be scanned", () => {
    const long = Array.from({ length: 20_001 }, (_, i) =>
      row({ address: `0x${(i + 1).toString(16).padStart(40, "0")}` }),
    );
    expect(() => mergeTokenLists([parse(...long)], 1)).toThrow(/20001 tokens on chain 1/);
  });
});
