// The question to the scanner: as any ABI encoder would write it, and a long list in parts that are under way at once.
import { balanceScannerAbi as abi } from "@sextant/contracts/generated/balance-scanner";
import fc from "fast-check";
import { decodeFunctionData, encodeFunctionData, encodeFunctionResult, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { localChainConfig } from "../../../../tests/support/portfolio/portfolio-stage.ts";
import type { PinnedChain } from "../../types.ts";
import { readBalancesByScan } from "./scan-balances.ts";

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toAddress);
const signal = new AbortController().signal;

function toAddress(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** A chain that lends, and answers a scan with nothing held. */
function lendingChain(lend: (data: Hex) => Promise<void> | void): PinnedChain {
  const refuse = () => Promise.reject(new Error("a scan asks for nothing else"));
  return {
    chain: localChainConfig([]),
    block: { number: 1, hash: "0x01", timestamp: 1 },
    read: refuse,
    nativeBalance: refuse,
    transfers: refuse,
    timestamps: refuse,
    async callWithOverride({ data }) {
      await lend(data);
      const next = BigInt(listIn(data).length);
      return encodeFunctionResult({ abi, functionName: "scan", result: [[], [], next] });
    },
  };
}

function listIn(data: Hex): readonly Hex[] {
  const [, tokens] = decodeFunctionData({ abi, data }).args;
  return tokens.map((token) => token.toLowerCase() as Hex);
}

describe("a scan", () => {
  it("asks in the words of the ABI, whatever the wallet, the tokens and the gas", async () => {
    const tokens = fc.uniqueArray(address, { minLength: 1, maxLength: 40 });
    const gas = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    await fc.assert(
      fc.asyncProperty(address, tokens, gas, async (wallet, listed, gasPerToken) => {
        const asked: Hex[] = [];
        await readBalancesByScan(
          lendingChain((data) => void asked.push(data)),
          { wallet, tokens: listed, gasPerToken },
          signal,
        );
        const args = [wallet, listed, BigInt(gasPerToken)] as const;
        expect(asked).toEqual([encodeFunctionData({ abi, functionName: "scan", args })]);
      }),
    );
  });

  it.each([
    [2_500, 1],
    [2_501, 2],
    [5_000, 2],
    [7_501, 4],
  ])("of %i tokens is %i calls, all begun before the first is answered", async (count, calls) => {
    const tokens = Array.from({ length: count }, (_, i) =>
      toAddress(Buffer.from(String(i).padStart(20, "0"))),
    );
    const asked: Hex[] = [];
    let answerAll: () => void = () => undefined;
    const allBegun = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    const chain = lendingChain((data) => {
      if (asked.push(data) === calls) answerAll();
      return allBegun;
    });
    const found = await readBalancesByScan(
      chain,
      { wallet: toAddress(Buffer.alloc(20)), tokens, gasPerToken: 1 },
      signal,
    );
    expect(found).toEqual({ held: new Map(), failed: [] });
    expect(asked.flatMap(listIn)).toEqual(tokens);
  });
});
