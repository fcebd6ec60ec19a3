// The pool finder: every factory for every token in one call, and a factory that fails costs only its own pools.
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
} from "viem";
import { describe, expect, it } from "vitest";
import { poolFinderAbi as abi, poolFinderRuntimeBytecode } from "../generated/pool-finder.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, returningCode } from "./hostile-token-code.ts";

const numbered = (number: number): Address => getAddress(pad(numberToHex(number), { size: 20 }));
/** Nothing is deployed there: a state override places the finder's code for one call. */
const FINDER = numbered(0xf17de4);
const [ECHO, NONE, TOO_LARGE, REVERTING, BOMB, ABSENT] = [1, 2, 3, 4, 5, 6].map((n) =>
  numbered(0xfac00 + n),
) as [...[Address, Address, Address, Address, Address, Address]];
// Adds up its three words: PUSH1 4 CALLDATALOAD, PUSH1 36 CALLDATALOAD, ADD, PUSH1 68 CALLDATALOAD, ADD, return the word.
const ECHO_CODE: Hex = "0x60043560243501604435015f5260205ff3";
const SELECTOR: Hex = "0x1698ee82";

const evm = await startEvm({
  [ECHO]: ECHO_CODE,
  [NONE]: returningCode(0n),
  [TOO_LARGE]: returningCode(2n ** 160n),
  [REVERTING]: HOSTILE_CODE.reverting,
  [BOMB]: HOSTILE_CODE.bomb,
});

async function find(tokens: readonly Address[], factories: readonly Address[], variant = 0n) {
  const lookups = factories.map((factory) => ({
    factory,
    selector: SELECTOR,
    quote: numbered(1_000),
    variant,
  }));
  const data = encodeFunctionData({ abi, functionName: "find", args: [tokens, lookups] });
  const call = { to: FINDER, data, gas: numberToHex(30_000_000) };
  const override = { [FINDER]: { code: poolFinderRuntimeBytecode } };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  return decodeFunctionResult({ abi, functionName: "find", data: result }).map((word) => ({
    position: Number(word >> 160n),
    pool: numberToHex(word & (2n ** 160n - 1n), { size: 20 }),
  }));
}

describe("the pool finder", () => {
  it("asks each factory for each token with the quote token and the variant", async () => {
    expect(await find([numbered(7), numbered(8)], [NONE, ECHO], 3_000n)).toEqual([
      { position: 1, pool: numbered(7 + 1_000 + 3_000).toLowerCase() },
      { position: 3, pool: numbered(8 + 1_000 + 3_000).toLowerCase() },
    ]);
  });

  it("finds nothing if a factory fails, is absent or returns no address", async () => {
    const factories = [TOO_LARGE, REVERTING, BOMB, ABSENT, ECHO];
    expect((await find([numbered(7)], factories)).map(({ position }) => position)).toEqual([4]);
  });

  it("returns an empty list without tokens or factories", async () => {
    expect([await find([], [ECHO]), await find([numbered(7)], [])]).toEqual([[], []]);
  });

  it("makes 4,000 lookups with the gas that every node gives", async () => {
    const tokens = Array.from({ length: 125 }, (_, index) => numbered(index + 1));
    const found = await find(tokens, Array<Address>(32).fill(ECHO));
    expect(found).toHaveLength(4_000);
  });
});
