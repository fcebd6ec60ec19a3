// The sale simulator: hostile tokens and absent pools earn nothing, and none takes the gas or the result of another.
import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { saleSimulatorAbi as abi, saleSimulatorRuntimeBytecode } from "../generated/sale-simulator.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, numberedAddress, returningCode } from "./hostile-token-code.ts";

const WALLET = numberedAddress(0xa11ce);
const QUOTE = numberedAddress(0xbeef);
const POOL = numberedAddress(0x9001);
/** Reverts with one word, as a sale does to report its proceeds. */
const FORGING: Hex = `0x7f${"ff".repeat(32)}5f5260205ffd`;
const TOKENS = {
  ...HOSTILE_CODE,
  missing: "0x",
  forging: FORGING,
  claiming: returningCode(10n ** 30n),
} as const;
const addresses = Object.keys(TOKENS).map((_, index) => numberedAddress(0x70000 + index));

const evm = await startEvm({
  [QUOTE]: returningCode(1_000n),
  ...Object.fromEntries(Object.values(TOKENS).map((code, index) => [addresses[index] as Hex, code])),
});

async function simulate(kind: number, isQuoted: boolean, gasMax: bigint, gas = 30_000_000) {
  const sales = addresses.map((token) => ({
    ...{ token, quote: QUOTE, pool: POOL, kind, amount: 10n ** 18n, sqrtPriceLimit: 1n << 90n, isQuoted },
  }));
  const data = encodeFunctionData({ abi, functionName: "simulate", args: [sales, gasMax] });
  const override = { [WALLET]: { code: saleSimulatorRuntimeBytecode } };
  const call = { from: WALLET, to: WALLET, data, gas: numberToHex(gas) };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  return decodeFunctionResult({ abi, functionName: "simulate", data: result });
}

describe("the sale simulator", () => {
  it.each([0, 1, 2])("earns nothing from hostile tokens in a pool of kind %s", async (kind) => {
    expect(await simulate(kind, false, 1_500_000n)).toEqual(addresses.map(() => 0n));
  });

  it("earns nothing if the pool is absent and only asked", async () => {
    expect(await simulate(0, true, 1_500_000n)).toEqual(addresses.map(() => 0n));
  });

  it("returns fewer results if the gas ends, and none if it suffices for no sale", async () => {
    const some = await simulate(1, false, 4_000_000n, 12_000_000);
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(addresses.length);
    expect(await simulate(1, false, 20_000_000n, 12_000_000)).toEqual([]);
  });
});
