// The capped caller: many untrusted contracts in one call, a hostile one costs only itself, and low gas ends it early.
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
import { cappedCallerAbi as abi, cappedCallerRuntimeBytecode } from "../generated/capped-caller.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, HOSTILE_TOKENS, returningCode } from "./hostile-token-code.ts";

const numbered = (number: number): Address => getAddress(pad(numberToHex(number), { size: 20 }));
/** Nothing is deployed there: a state override places the caller's code for one call. */
const CALLER = numbered(0xca11e4);
const [SEVEN, ECHO, FULL, TOO_LONG, BIG_REVERT] = [1, 2, 3, 4, 5].map((n) => numbered(0xca000 + n)) as [
  ...[Address, Address, Address, Address, Address],
];
const hostile = HOSTILE_TOKENS.map((kind, index) => ({ kind, address: numbered(0xbad00 + index) }));
const BALANCE_OF: Hex = `0x70a08231${"00".repeat(32)}`;
const BYTES_MAX = 2_048;
const GAS_MAX = 150_000n;

/** Returns as many bytes: PUSH2 size, PUSH0, RETURN. */
const returningBytes = (size: number): Hex => `0x61${numberToHex(size, { size: 2 }).slice(2)}5ff3`;

const evm = await startEvm({
  [SEVEN]: returningCode(7n),
  // CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY, CALLDATASIZE PUSH0 RETURN.
  [ECHO]: "0x365f5f37365ff3",
  [FULL]: returningBytes(BYTES_MAX),
  [TOO_LONG]: returningBytes(BYTES_MAX + 1),
  // 64 KiB of revert data.
  [BIG_REVERT]: "0x620100005ffd",
  ...Object.fromEntries(
    hostile.flatMap(({ kind, address }) =>
      HOSTILE_CODE[kind] === null ? [] : [[address, HOSTILE_CODE[kind]]],
    ),
  ),
});

type Options = { readonly gas?: bigint; readonly gasMax?: bigint; readonly data?: Hex };

async function callAll(targets: readonly Address[], options: Options = {}) {
  const { gas = 30_000_000n, gasMax = GAS_MAX, data = BALANCE_OF } = options;
  const calls = targets.map((target) => ({ target, gasMax, data }));
  const encoded = encodeFunctionData({ abi, functionName: "callAll", args: [calls, BigInt(BYTES_MAX)] });
  const call = { to: CALLER, data: encoded, gas: numberToHex(gas) };
  const override = { [CALLER]: { code: cappedCallerRuntimeBytecode } };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  const results = decodeFunctionResult({ abi, functionName: "callAll", data: result });
  return results.map(({ success, returnData }) => (success ? returnData : null));
}

const seven = numberToHex(7, { size: 32 });
const failure = hostile.map(({ kind }): Hex | null =>
  kind === "silent" || kind === "missing" ? "0x" : kind === "short" ? `0x${"00".repeat(31)}` : null,
);

describe("the capped caller", () => {
  it("returns what each contract returns, in order", async () => {
    const data: Hex = `0x${"a1b2c3".repeat(30)}`;
    expect(await callAll([ECHO, SEVEN, ECHO], { data })).toEqual([data, seven, data]);
    expect(await callAll([])).toEqual([]);
  });

  it("loses only the hostile ones, wherever they stand", async () => {
    const targets = [...hostile.map(({ address }) => address), SEVEN, BIG_REVERT, SEVEN];
    expect(await callAll(targets)).toEqual([...failure, seven, null, seven]);
  });

  it("drops a result that is longer than allowed, by one byte already", async () => {
    const [full, tooLong] = await callAll([FULL, TOO_LONG]);
    expect([full?.length, tooLong]).toEqual([2 + 2 * BYTES_MAX, null]);
  });

  it.each([
    ["return as much as they may", FULL],
    ["burn all gas", hostile.find(({ kind }) => kind === "burner")?.address ?? SEVEN],
  ])("ends early instead of failing when 1,000 contracts %s", async (_, target) => {
    let left = 1_000;
    for (let rounds = 0; left > 0; rounds += 1) {
      const results = await callAll(Array<Address>(left).fill(target));
      expect(results.length).toBeGreaterThan(0);
      expect(rounds).toBeLessThan(10);
      left -= results.length;
    }
  });

  it("never gives a contract less gas than its share", async () => {
    // Returns the gas it gets: GAS PUSH0 MSTORE, PUSH1 32 PUSH0 RETURN.
    const meter = numbered(0x6a5);
    await evm.chain.request("hardhat_setCode", [meter, "0x5a5f5260205ff3"]);
    for (const gas of [200_000n, 250_000n, 300_000n, 400_000n, 800_000n]) {
      const results = await callAll(Array<Address>(5).fill(meter), { gas });
      for (const got of results) expect(BigInt(got ?? 0)).toBeGreaterThan(GAS_MAX - 100n);
      if (gas === 800_000n) expect(results).toHaveLength(5);
    }
    expect(await callAll([meter], { gas: 150_000n })).toEqual([]);
  });
});
