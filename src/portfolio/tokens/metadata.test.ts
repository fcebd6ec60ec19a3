// Names and decimals of tokens on a real chain, and everything a contract may answer instead of them.

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
import { decodeTokenDecimals, decodeTokenText, readTokenMetadata } from "./metadata.ts";

const LIAR = numberedAddress(0x1a);
/** Answers everything with one word: "MKR" as bytes32, which is no number of decimals. */
const OLD = numberedAddress(0x2b);
/** 100 kB of zeros, whatever is asked. */
const BOMB_CODE: Hex = "0x620186a05ff3";
const { loop, silent, short, long } = HOSTILE_CODE;
const hostile = [loop, silent, short, long, BOMB_CODE, null].map((code, i) => ({
  code,
  address: numberedAddress(0xbad00 + i),
}));
const genesis: Record<Hex, Hex> = {
  [LIAR]: lyingDecimalsTokenRuntimeBytecode,
  [OLD]: returningCode(BigInt(stringToHex("MKR", { size: 32 }))),
};
for (const { code, address } of hostile) if (code !== null) genesis[address] = code;
const stage = await startPortfolioStage(genesis);
const signal = AbortSignal.timeout(300_000);

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
  it("is what the contract says, before what a list says; 0 decimals are real", async () => {
    const [six, none] = [await deployToken("Plain Six", "SIX", 6), await deployToken("Whole", "WHL", 0)];
    const { holdings, warnings } = await describeAll([null, six, none], [six]);
    expect(warnings).toEqual([]);
    expect(holdings).toEqual([
      holding(null),
      { ...holding(six), symbol: "SIX", name: "Plain Six", decimals: 6 },
      { ...holding(none), symbol: "WHL", name: "Whole", decimals: 0 },
    ]);
  });

  it("is the list's where the contract says nothing usable, and unknown without a list", async () => {
    const { holdings } = await describeAll([LIAR, OLD], [LIAR]);
    expect(holdings).toMatchObject([
      // It answers 274, which cut to a byte would be an innocent 18.
      { contract: LIAR, symbol: "LIAR", name: "Lying Decimals", decimals: 18 },
      { contract: OLD, symbol: "MKR", name: "MKR", decimals: null },
    ]);
    expect((await describeAll([LIAR])).holdings).toMatchObject([{ decimals: null }]);
  });

  it("of hostile contracts costs only themselves, in one request for all", async () => {
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

  it("loses what can not be shown from names on chain", async () => {
    const token = await deployToken("Free\u202e \u0000Money\n\tnow\u200b", "\u2066USDC\u2069", 6);
    expect((await describeAll([token])).holdings).toMatchObject([{ name: "Free Money now", symbol: "USDC" }]);
  });

  it("is that of the lists, with a warning, when the node does not answer", async () => {
    const deaf = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_call") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(deaf, [OLD]).pin(signal);
    const { holdings, warnings } = await readTokenMetadata(at, [holding(OLD)], signal);
    expect(holdings).toMatchObject([{ symbol: "T0", name: "Token 0", decimals: 18 }]);
    expect(warnings).toHaveLength(1);
    const reason = new Error("nobody waits");
    await expect(readTokenMetadata(at, [holding(OLD)], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe("an answer", () => {
  const abiString = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);

  it("is decimals only as one word that fits a byte", () => {
    expect(decodeTokenDecimals(numberToHex(0, { size: 32 }))).toBe(0);
    expect(decodeTokenDecimals(numberToHex(255, { size: 32 }))).toBe(255);
    for (const answer of [
      numberToHex(256, { size: 32 }),
      numberToHex(18, { size: 31 }),
      "0x",
      null,
    ] as const) {
      expect(decodeTokenDecimals(answer)).toBeNull();
    }
    expect(decodeTokenDecimals(`0x${"f".repeat(64)}`)).toBeNull();
  });

  it("is a text as a string or as bytes32, cut when long and refused when absurd", () => {
    expect(decodeTokenText(abiString("Dai Stablecoin"), 80)).toBe("Dai Stablecoin");
    expect(decodeTokenText(stringToHex("Maker", { size: 32 }), 80)).toBe("Maker");
    expect(decodeTokenText(abiString("é€𝔸".repeat(20)), 4)).toBe("é€𝔸é");
    expect(decodeTokenText(abiString("a".repeat(1_024)), 32)).toBe("a".repeat(32));
    expect(decodeTokenText(abiString("a".repeat(1_025)), 32)).toBeNull();
    expect(decodeTokenText(`0x${"61".repeat(1_000_000)}`, 32)).toBeNull();
    for (const nothing of [
      abiString(""),
      abiString(" \u200b "),
      numberToHex(0, { size: 32 }),
      "0x",
      null,
    ] as const) {
      expect(decodeTokenText(nothing, 32)).toBeNull();
    }
    // Bytes that are no text, a length beyond the answer, and an offset beyond everything.
    expect(decodeTokenText(`0x${"ff".repeat(32)}`, 32)).toBeNull();
    expect(
      decodeTokenText(`${numberToHex(32, { size: 32 })}${numberToHex(64, { size: 32 }).slice(2)}`, 32),
    ).toBeNull();
    expect(decodeTokenText(`0x${"f".repeat(64)}${"0".repeat(64)}`, 32)).toBeNull();
  });

  it("of any bytes is a short clean text or nothing", () => {
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

  it("is read back whole when it is an ordinary name", () => {
    const ordinary = fc.string({ unit: fc.constantFrom(..."abcXYZ019.-éß"), minLength: 1, maxLength: 80 });
    fc.assert(fc.property(ordinary, (text) => decodeTokenText(abiString(text), 80) === text));
  });
});
