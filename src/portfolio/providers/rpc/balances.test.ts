// Scan calls: encoded as viem encodes them, and a long list split into concurrent calls.
import { balanceScannerAbi as abi } from "@sextant/contracts/generated/balance-scanner";
import fc from "fast-check";
import { decodeFunctionData, encodeFunctionData, encodeFunctionResult, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { localChainConfig } from "../../../../tests/support/portfolio/portfolio-stage.ts";
import type { PinnedChain } from "../../types.ts";
import { readTokenBalances } from "./provider.ts";

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toAddress);
const signal = new AbortController().signal;

function toAddress(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** A chain with state overrides whose scans return no balance. */
function openScanChain(onScan: (data: Hex) => Promise<void> | void): PinnedChain {
  const fail = () => Promise.reject(new Error("a scan reads nothing else"));
  return {
    chain: localChainConfig([]),
    block: { number: 1, hash: "0x01", timestamp: 1 },
    read: fail,
    nativeBalance: fail,
    code: fail,
    storage: fail,
    baseFee: fail,
    transfers: fail,
    logs: fail,
    timestamps: fail,
    senders: fail,
    callAsAccount: fail,
    async callWithOverride({ data }) {
      await onScan(data);
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
  it("encodes a scan as viem does, for any wallet, tokens and gas", async () => {
    const tokens = fc.uniqueArray(address, { minLength: 1, maxLength: 40 });
    const gas = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    await fc.assert(
      fc.asyncProperty(address, tokens, gas, async (wallet, listed, gasPerToken) => {
        const sent: Hex[] = [];
        await readTokenBalances(
          openScanChain((data) => void sent.push(data)),
          { wallet, tokens: listed, gasPerToken },
          signal,
        );
        const args = [wallet, listed, BigInt(gasPerToken)] as const;
        expect(sent).toEqual([encodeFunctionData({ abi, functionName: "scan", args })]);
      }),
    );
  });

  it.each([
    [2_500, 1],
    [2_501, 2],
    [5_000, 2],
    [7_501, 4],
  ])("scans %i tokens in %i concurrent calls", async (count, calls) => {
    const tokens = Array.from({ length: count }, (_, i) =>
      toAddress(Buffer.from(String(i).padStart(20, "0"))),
    );
    const sent: Hex[] = [];
    let respondToAll: () => void = () => undefined;
    const allSent = new Promise<void>((resolve) => {
      respondToAll = resolve;
    });
    const chain = openScanChain((data) => {
      if (sent.push(data) === calls) respondToAll();
      return allSent;
    });
    const found = await readTokenBalances(
      chain,
      { wallet: toAddress(Buffer.alloc(20)), tokens, gasPerToken: 1 },
      signal,
    );
    expect(found).toEqual({ held: new Map(), failed: [] });
    expect(sent.flatMap(listIn)).toEqual(tokens);
  });
});
