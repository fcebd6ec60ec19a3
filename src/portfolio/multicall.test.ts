// Multicall reads: the same results as single calls, even when the multicall fails.
import { multicall3Abi, multicall3RuntimeBytecode } from "@sextant/contracts/generated/multicall3";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { startEvm } from "@sextant/contracts/test/evm";
import { encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import { openRecordedChain } from "../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig } from "../../tests/support/portfolio/portfolio-parts.ts";
import { MULTICALL3 } from "../chain/aggregate3.ts";
import type { Hex } from "../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "./multicall.ts";
import type { ContractRead } from "./types.ts";

const signal = new AbortController().signal;
const chain = makeChainConfig("ethereum", 1);
const A: Hex = "0x00000000000000000000000000000000000000aa";
const B: Hex = "0x00000000000000000000000000000000000000bb";
const one = { to: A, function: "one() view returns (uint256)", args: [], result: 1n };
const two = { to: B, function: "two() view returns (uint256)", args: [], result: 2n };
const oneCall = createCallEncoder("function one() view returns (uint256)");
const twoCall = createCallEncoder("function two() view returns (uint256)");
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;

describe("readByMulticall", () => {
  const calls = [oneCall(A), twoCall(B, [], 50_000), twoCall(A), twoCall(B)];
  const results = [word(1), word(2), null, word(2)];

  it("sends trusted calls as one multicall and calls with a gas limit alone, with results in order", async () => {
    const at = openRecordedChain({ chain, calls: [one, two] });
    expect(await readByMulticall(at, calls, signal)).toEqual(results);
    expect(at.requests.map((sent) => sent.map(({ to }) => to))).toEqual([[MULTICALL3, B]]);
    expect(at.requests.flat().every(({ gasMax }) => gasMax !== undefined)).toBe(true);
  });

  const short = encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: [{ success: true, returnData: word(9) }],
  });

  it.each([null, "0x", "0x1234", word(32), `0x${"ff".repeat(320)}`, short] as const)(
    "sends single calls when Multicall3 returns %s",
    async (insteadOfMulticall) => {
      const at = openRecordedChain({ chain, calls: [one, two], insteadOfMulticall });
      expect(await readByMulticall(at, calls, signal)).toEqual(results);
      expect(at.requests.map(({ length }) => length)).toEqual([2, 3]);
    },
  );

  it("limits the calls of a multicall", async () => {
    const at = openRecordedChain({ chain, calls: [one] });
    const many = Array.from({ length: 401 }, () => oneCall(A));
    expect(await readByMulticall(at, many, signal)).toEqual(many.map(() => word(1)));
    expect(at.requests.map(({ length }) => length)).toEqual([3]);
  });

  it("sends no request without calls", async () => {
    const at = openRecordedChain({ chain, calls: [] });
    expect(await readByMulticall(at, [], signal)).toEqual([]);
    expect(at.requests).toEqual([]);
  });
});

describe("readByMulticall on a real EVM", async () => {
  const evm = await startEvm({ [MULTICALL3]: multicall3RuntimeBytecode });

  it("returns what each contract returns to a single call", async () => {
    const { address } = evm.chain.accounts.owner;
    const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Coin", "COIN", 6]);
    await token.send(address, "mint", [address, 123_456n]);
    const to = token.address.toLowerCase() as Hex;
    const calls = [
      createCallEncoder("function balanceOf(address) view returns (uint256)")(to, [address]),
      createCallEncoder("function nothingOfTheKind() view returns (uint256)")(to),
      createCallEncoder("function balanceOf(address) view returns (uint256)")(A, [address]),
      createCallEncoder("function symbol() view returns (string)")(to),
    ];
    const callAlone = async ({ to, data }: ContractRead): Promise<Hex | null> =>
      evm.chain
        .request("eth_call", [{ to, data }, "latest"])
        .then((result) => result as Hex)
        .catch(() => null);
    const at = {
      ...openRecordedChain({ chain, calls: [] }),
      read: (reads: readonly ContractRead[]) => Promise.all(reads.map(callAlone)),
    };
    const together = await readByMulticall(at, calls, signal);
    expect(together).toEqual(await Promise.all(calls.map(callAlone)));
    expect(together.slice(0, 3)).toEqual([word(123_456), null, "0x"]);
  });
});
