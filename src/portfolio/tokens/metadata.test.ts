// Token metadata on a real chain, and everything a contract may return instead.

import { lyingDecimalsTokenRuntimeBytecode } from "@sextant/contracts/generated/lying-decimals-token";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { HOSTILE_CODE, numberedAddress, returningCode } from "@sextant/contracts/test/hostile-token-code";
import fc from "fast-check";
import {
  encodeAbiParameters,
  encodeDeployData,
  getContractAddress,
  type Hex,
  numberToHex,
  stringToHex,
} from "viem";
import { describe, expect, it } from "vitest";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import type { Holding } from "../types.ts";
import { decodeTokenDecimals, decodeTokenText } from "./erc20.ts";
import { describeHoldings, readTokenMetadata } from "./metadata.ts";

const LIAR = numberedAddress(0x1a);
/** Returns one word for every call: "MKR" as bytes32, which is not a valid number of decimals. */
const OLD = numberedAddress(0x2b);
/** Returns 100 kB of zeros for every call. */
const BOMB_CODE: Hex = "0x620186a05ff3";
/** Returns 33 bytes, which are neither a number nor a text. */
const LONG_CODE: Hex = "0x60215ff3";
const { loop, silent, short } = HOSTILE_CODE;
const hostile = [loop, silent, short, LONG_CODE, BOMB_CODE, null].map((code, i) => ({
  code,
  address: numberedAddress(0xbad00 + i),
}));
const genesis: Record<Hex, Hex> = {
  [LIAR]: lyingDecimalsTokenRuntimeBytecode,
  [OLD]: returningCode(BigInt(stringToHex("MKR", { size: 32 }))),
};
for (const { code, address } of hostile) if (code !== null) genesis[address] = code;
const stage = await startPortfolioStage(genesis);
const { signal } = new AbortController();
const word = (value: bigint) => numberToHex(value, { size: 32 });

async function deployToken(name: string, symbol: string, decimals: number): Promise<Hex> {
  const { address } = stage.chain.accounts.owner;
  const nonce = BigInt((await stage.chain.request("eth_getTransactionCount", [address, "latest"])) as Hex);
  const data = encodeDeployData({
    abi: plainTokenAbi,
    bytecode: plainTokenBytecode,
    args: [name, symbol, decimals],
  });
  await stage.chain.request("eth_sendTransaction", [{ from: address, data, gas: numberToHex(3_000_000) }]);
  return getContractAddress({ from: address, nonce }).toLowerCase() as Hex;
}

function holding(contract: Hex | null): Holding {
  return { contract, symbol: null, name: null, decimals: null, logo: null, rawBalance: 1n };
}

const node = await stage.node();
async function describeAll(contracts: readonly (Hex | null)[], listed: readonly Hex[] = []) {
  const at = await stage.port(node, listed).pin(signal);
  return readTokenMetadata(at, contracts.map(holding), signal);
}

describe("metadata", () => {
  it("reads decimals from the contract, and names of a listed token from the list; 0 decimals are valid", async () => {
    const [six, none] = [await deployToken("Plain Six", "SIX", 6), await deployToken("Whole", "WHL", 0)];
    const { holdings, warnings } = await describeAll([null, six, none], [six]);
    expect(warnings).toEqual([]);
    expect(holdings).toEqual([
      holding(null),
      // The owner of the contract may rename it, and it would never be spam.
      { ...holding(six), symbol: "T0", name: "Token 0", decimals: 6 },
      { ...holding(none), symbol: "WHL", name: "Whole", decimals: 0 },
    ]);
  });

  it("metadata falls back to the list, and is unknown without one", async () => {
    const { holdings } = await describeAll([LIAR, OLD], [LIAR]);
    expect(holdings).toMatchObject([
      // It returns 274, which truncated to a byte would be a plausible 18.
      { contract: LIAR, symbol: "T0", name: "Token 0", decimals: 18 },
      { contract: OLD, symbol: "MKR", name: "MKR", decimals: null },
    ]);
    expect((await describeAll([LIAR])).holdings).toMatchObject([{ decimals: null }]);
  });

  it("metadata is missing only for hostile contracts, with one request for all", async () => {
    const token = await deployToken("Plain", "PLN", 6);
    const contracts = [...hostile.map(({ address }) => address), token];
    const before = node.requests.length;
    const { holdings, warnings } = await describeAll(contracts);
    // The first pins the block.
    expect(node.requests).toHaveLength(before + 2);
    expect(warnings).toEqual([]);
    expect(holdings.map(({ contract }) => contract)).toEqual(contracts);
    expect(holdings.at(-1)).toMatchObject({ symbol: "PLN", decimals: 6 });
    for (const { symbol, name, decimals } of holdings.slice(0, -1)) {
      expect([symbol, name, decimals]).toEqual([null, null, null]);
    }
  });

  it("removes unprintable characters from metadata", async () => {
    const blank = await deployToken("\u2800\u3164", "U\u2800SDC", 6);
    expect((await describeAll([blank])).holdings).toMatchObject([{ name: null, symbol: "USDC" }]);
    const token = await deployToken("Free\u202e \u0000Money\n\tnow\u200b", "\u2066USDC\u2069", 6);
    expect((await describeAll([token])).holdings).toMatchObject([{ name: "Free Money now", symbol: "USDC" }]);
  });

  it("reads metadata from the lists, with a warning, when the node fails", async () => {
    const failing = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_call") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(failing, [OLD]).pin(signal);
    const { holdings, warnings } = await readTokenMetadata(at, [holding(OLD)], signal);
    expect(holdings).toMatchObject([{ symbol: "T0", name: "Token 0", decimals: 18 }]);
    expect(warnings).toHaveLength(1);
    const hanging = { ...at, read: () => new Promise<never>(() => {}) };
    expect(await readTokenMetadata(hanging, [holding(OLD)], signal, 10)).toEqual({ holdings, warnings });
    const slowUnlisted = {
      ...at,
      read: (...args: Parameters<typeof at.read>) =>
        args[0][0]?.to === OLD ? Promise.resolve([word(7n), null, null]) : hanging.read(),
    };
    expect(await readTokenMetadata(slowUnlisted, [holding(OLD), holding(LIAR)], signal, 50)).toMatchObject({
      holdings: [
        { contract: OLD, decimals: 7 },
        { contract: LIAR, decimals: null },
      ],
      warnings: ["Local chain: names and decimals of unlisted tokens could not be read."],
    });
    const reason = new Error("aborted");
    await expect(readTokenMetadata(at, [holding(OLD)], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

it("warns of unlisted tokens only if the wallet has any", async () => {
  const { chain } = await stage.port(node, [OLD]).pin(signal);
  const warningsFor = (contracts: readonly Hex[]) =>
    describeHoldings(chain, contracts.map(holding), { listed: new Map(), unlisted: null }).warnings;
  expect(warningsFor([OLD])).toEqual([]);
  expect(warningsFor([OLD, LIAR])).toHaveLength(1);
});

it("reads metadata of a thousand unlisted tokens, and warns when a vendor found more", async () => {
  const at = await stage.port(node, [OLD]).pin(signal);
  const asked = new Set<Hex>();
  const counting: typeof at.read = async (calls) => {
    for (const { to } of calls) asked.add(to);
    return calls.map(() => null);
  };
  const many = Array.from({ length: 1_500 }, (_, index) => holding(numberedAddress(0xd000 + index)));
  const described = await readTokenMetadata({ ...at, read: counting }, [...many, holding(OLD)], signal);
  expect(described.holdings).toHaveLength(1_501);
  expect(asked.size).toBe(1_001);
  expect(asked.has(OLD)).toBe(true);
  expect(described.warnings).toEqual([
    "Local chain: names and decimals of only 1000 of 1500 unlisted tokens were read from the chain.",
  ]);
});

describe("return data", () => {
  const abiString = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);

  it("decodes to decimals only if it is one word that fits a byte", () => {
    expect(decodeTokenDecimals(numberToHex(0, { size: 32 }))).toBe(0);
    expect(decodeTokenDecimals(numberToHex(255, { size: 32 }))).toBe(255);
    for (const invalid of [
      numberToHex(256, { size: 32 }),
      numberToHex(18, { size: 31 }),
      "0x",
      null,
    ] as const) {
      expect(decodeTokenDecimals(invalid)).toBeNull();
    }
    expect(decodeTokenDecimals(`0x${"f".repeat(64)}`)).toBeNull();
  });

  it("decodes to text from a string or bytes32, truncated when long and rejected when absurd", () => {
    expect(decodeTokenText(abiString("Dai Stablecoin"), 80)).toBe("Dai Stablecoin");
    expect(decodeTokenText(stringToHex("Maker", { size: 32 }), 80)).toBe("Maker");
    expect(decodeTokenText(abiString("é€𝔸".repeat(20)), 4)).toBe("é€𝔸é");
    expect(decodeTokenText(abiString("a".repeat(1_024)), 32)).toBe("a".repeat(32));
    expect(decodeTokenText(abiString("a".repeat(1_025)), 32)).toBeNull();
    expect(decodeTokenText(`0x${"61".repeat(1_000_000)}`, 32)).toBeNull();
    for (const empty of [
      abiString(""),
      abiString(" \u200b "),
      numberToHex(0, { size: 32 }),
      "0x",
      null,
    ] as const) {
      expect(decodeTokenText(empty, 32)).toBeNull();
    }
    // Invalid UTF-8, a length beyond the data, and an offset beyond the data.
    expect(decodeTokenText(`0x${"ff".repeat(32)}`, 32)).toBeNull();
    expect(
      decodeTokenText(`${numberToHex(32, { size: 32 })}${numberToHex(64, { size: 32 }).slice(2)}`, 32),
    ).toBeNull();
    expect(decodeTokenText(`0x${"f".repeat(64)}${"0".repeat(64)}`, 32)).toBeNull();
  });

  it("decodes any bytes to a short printable text or null", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = decodeTokenText(`0x${Buffer.from(bytes).toString("hex")}`, 16);
        if (text === null) return;
        expect(Array.from(text).length).toBeLessThanOrEqual(16);
        expect(text).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}]+$/u);
        expect(text).toBe(text.trim());
      }),
    );
  });

  it("decodes an ordinary name unchanged", () => {
    const ordinary = fc.string({ unit: fc.constantFrom(..."abcXYZ019.-éß"), minLength: 1, maxLength: 80 });
    fc.assert(fc.property(ordinary, (text) => decodeTokenText(abiString(text), 80) === text));
  });
});
