// The gauge scanner: both kinds of gauges, gauges that are neither, parts of a long list, and low gas.
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  toFunctionSelector,
} from "viem";
import { describe, expect, it } from "vitest";
import { gaugeScannerAbi as abi, gaugeScannerRuntimeBytecode } from "../generated/gauge-scanner.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, returningCode } from "./hostile-token-code.ts";

const numbered = (number: number): Address => getAddress(pad(numberToHex(number), { size: 20 }));
/** Nothing is deployed there: a state override places the scanner's code for one call. */
const SCANNER = numbered(0x5ca77e5);
const WALLET = numbered(0x3a11e7);
const [VOTER, LONG_VOTER, NO_VOTER] = [1, 2, 3].map((n) => numbered(0x707e00 + n)) as [
  ...[Address, Address, Address],
];
const FIRST_POOL = 0x1000000;
const GAUGE_OFFSET = 0x2000000;
const LONG_FIRST_POOL = 0x5000000;
const LONG_LENGTH = 1_600;
const GAS = 30_000_000n;

const selectorOf = (signature: string) => toFunctionSelector(signature).slice(2);
const RETURN_WORD = "5f5260205ff3";

/** Returns a number for one function and reverts for all others. */
function respondingTo(signature: string, value: bigint): Hex {
  const body = `5b7f${numberToHex(value, { size: 32 }).slice(2)}${RETURN_WORD}`;
  return `0x5f3560e01c63${selectorOf(signature)}14601157${"5f5ffd"}${body}`;
}

/** Pools by number and gauges by pool, each with the storage read that the real voters make for it. */
function voterCode(length: number, firstPool: number): Hex {
  const word = (value: number) => numberToHex(value, { size: 4 }).slice(2);
  // The argument, plus what is stored under it, plus a constant.
  const shifted = (by: number) => `5b600435805401${`63${word(by)}`}01${RETURN_WORD}`;
  const bodies = [`5b63${word(length)}${RETURN_WORD}`, shifted(firstPool), shifted(GAUGE_OFFSET)];
  const functions = ["length()", "pools(uint256)", "gauges(address)"];
  const dispatchBytes = 5 + functions.length * 10 + 3;
  let offset = dispatchBytes;
  const dispatch = functions.map((name, index) => {
    const jump = `8063${selectorOf(`function ${name}`)}1460${offset.toString(16).padStart(2, "0")}57`;
    offset += (bodies[index] ?? "").length / 2;
    return jump;
  });
  return `0x5f3560e01c${dispatch.join("")}5f5ffd${bodies.join("")}`;
}

const NFT_COUNT = "function stakedLength(address)";
/** The gauges of the short list, in its order; null has no code. */
const gauges: readonly (Hex | null)[] = [
  respondingTo("function balanceOf(address)", 0n),
  respondingTo("function balanceOf(address)", 5n),
  respondingTo(NFT_COUNT, 0n),
  respondingTo(NFT_COUNT, 2n),
  HOSTILE_CODE.reverting,
  HOSTILE_CODE.bomb,
  HOSTILE_CODE.short,
  HOSTILE_CODE.loop,
  null,
  returningCode(2n ** 256n - 1n),
];
const genesis: Record<Address, Hex> = {
  [VOTER]: voterCode(gauges.length, FIRST_POOL),
  [LONG_VOTER]: voterCode(LONG_LENGTH, LONG_FIRST_POOL),
};
for (const [index, code] of gauges.entries())
  if (code !== null) genesis[numbered(FIRST_POOL + GAUGE_OFFSET + index)] = code;
// Each an account of its own, of the kind that costs the scan more; the last one has something.
for (let index = 0; index < LONG_LENGTH; index += 1)
  genesis[numbered(LONG_FIRST_POOL + GAUGE_OFFSET + index)] = respondingTo(
    NFT_COUNT,
    index === LONG_LENGTH - 1 ? 1n : 0n,
  );
const evm = await startEvm(genesis);

async function scan(
  voter: Address,
  { from = 0n, count = 1_500n, gas = GAS }: { from?: bigint; count?: bigint; gas?: bigint } = {},
) {
  const data = encodeFunctionData({ abi, functionName: "scan", args: [voter, WALLET, from, count] });
  const call = { to: SCANNER, data, gas: numberToHex(gas) };
  const override = { [SCANNER]: { code: gaugeScannerRuntimeBytecode } };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  const [stakes, next, length] = decodeFunctionResult({ abi, functionName: "scan", data: result });
  return { stakes, next, length };
}

const stakeAt = (index: number, holdsNfts: boolean) => ({
  pool: numbered(FIRST_POOL + index),
  gauge: numbered(FIRST_POOL + GAUGE_OFFSET + index),
  holdsNfts,
});

describe("the gauge scanner", () => {
  it("finds tokens and NFTs, and nothing in gauges that are neither", async () => {
    expect(await scan(VOTER)).toEqual({
      stakes: [stakeAt(1, false), stakeAt(3, true), stakeAt(9, false)],
      next: 10n,
      length: 10n,
    });
  });

  it("asks a part of the list", async () => {
    const part = await scan(VOTER, { from: 2n, count: 3n });
    expect(part).toEqual({ stakes: [stakeAt(3, true)], next: 5n, length: 10n });
    expect(await scan(VOTER, { from: 10n })).toEqual({ stakes: [], next: 10n, length: 10n });
    expect(await scan(VOTER, { from: 2n ** 255n })).toEqual({ stakes: [], next: 10n, length: 10n });
    expect(await scan(VOTER, { count: 0n })).toEqual({ stakes: [], next: 0n, length: 10n });
  });

  it("asks 1,500 gauges with two thirds of the gas that every node gives", async () => {
    const part = await scan(LONG_VOTER, { gas: (GAS * 2n) / 3n });
    expect(part).toEqual({ stakes: [], next: 1_500n, length: BigInt(LONG_LENGTH) });
    const rest = await scan(LONG_VOTER, { from: part.next });
    expect([rest.stakes.length, rest.next]).toEqual([1, BigInt(LONG_LENGTH)]);
  });

  it("stops when the gas ends and says where", async () => {
    const { next } = await scan(LONG_VOTER, { gas: 5_000_000n });
    expect(next).toBeGreaterThan(100n);
    expect(next).toBeLessThan(1_500n);
    expect((await scan(VOTER, { gas: 500_000n })).next).toBe(0n);
  });

  it("reverts if there is no voter", async () => {
    await expect(scan(NO_VOTER)).rejects.toThrow();
  });
});
