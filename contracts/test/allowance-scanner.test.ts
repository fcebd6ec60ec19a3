// The scanner of permissions: a thousand pairs in one call, a hostile token costs only itself, low gas ends it early.
import { BLOCK_GAS_LIMIT } from "@sextant/local-chain/edr-provider";
import fc from "fast-check";
import {
  type Address,
  concatHex,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  toFunctionSelector,
} from "viem";
import { describe, expect, it } from "vitest";
import {
  allowanceScannerAbi as abi,
  allowanceScannerRuntimeBytecode,
} from "../generated/allowance-scanner.ts";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, paddedReturningCode, returningCode } from "./hostile-token-code.ts";

const numbered = (number: number): Address => getAddress(pad(numberToHex(number), { size: 20 }));

/** Nothing is deployed there: a state override places the scanner's code for one call. */
const SCANNER = numbered(0x5ca77e5);
const ALLOWANCE = toFunctionSelector("allowance(address,address)");

/** Every way a token can be, by name; null has no code. The second word is what Permit2 returns as expiry. */
const characters = {
  none: returningCode(0n),
  some: returningCode(7n),
  unlimited: returningCode(2n ** 256n - 1n),
  padded: paddedReturningCode(9n),
  ...HOSTILE_CODE,
} as const satisfies Record<string, Hex | null>;
type Character = keyof typeof characters;
const NAMES = Object.keys(characters) as Character[];
const allowances: Partial<Record<Character, bigint>> = {
  ...{ none: 0n, some: 7n, unlimited: 2n ** 256n - 1n, padded: 9n },
};
const tokenOf = Object.fromEntries(NAMES.map((name, i) => [name, numbered(0xbeef00 + i)])) as Record<
  Character,
  Address
>;
const genesis: Record<Address, Hex> = {};
for (const name of NAMES) {
  const code = characters[name];
  if (code !== null) genesis[tokenOf[name]] = code;
}
const evm = await startEvm(genesis);
const owner = evm.chain.accounts.payer.address;

type Pair = readonly [query: number, spender: number];
type Scan = {
  readonly tokens: readonly Address[];
  readonly spenders: readonly Address[];
  readonly pairs: readonly Pair[];
  readonly gasMax?: bigint;
  readonly gasPerRead?: bigint;
  readonly gas?: bigint;
};

async function scan({ tokens, spenders, pairs, gasMax = 10_000_000n, gasPerRead = 100_000n, gas }: Scan) {
  const prefix = concatHex([ALLOWANCE, pad(owner)]);
  const packed = pairs.map(([query, spender]) => numberToHex(query * 65_536 + spender, { size: 4 }));
  const queries = tokens.map((target) => ({ target, gasMax, prefix }));
  const request = { queries, spenders, pairs: concatHex(["0x", ...packed]), gasPerRead };
  const data = encodeFunctionData({ abi, functionName: "scan", args: [request] });
  const call = { to: SCANNER, data, gas: numberToHex(gas ?? BLOCK_GAS_LIMIT) };
  const override = { [SCANNER]: { code: allowanceScannerRuntimeBytecode } };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  const [findings, failed, next] = decodeFunctionResult({ abi, functionName: "scan", data: result });
  return { findings, failed, next };
}

function expected(list: readonly Character[], next: number) {
  const read = list
    .slice(0, next)
    .map((name, i) => ({ index: BigInt(i), value: allowances[name], extra: 0n }));
  return {
    findings: read.filter(({ value }) => value !== undefined && value > 0n),
    failed: read.filter(({ value }) => value === undefined).map(({ index }) => index),
  };
}

/** One pair for each, with one spender. */
const pairsOf = (list: readonly Character[]) => ({
  tokens: list.map((name) => tokenOf[name]),
  spenders: [numbered(1)],
  pairs: list.map((_, i): Pair => [i, 0]),
});

describe("a scan of permissions", () => {
  it("reads real allowances, of the right owner and spender, without those that are zero", async () => {
    const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
    const spenders = [numbered(11), numbered(12), numbered(13)];
    await token.send(owner, "approve", [numbered(11), 5n]);
    await token.send(owner, "approve", [numbered(12), 6n]);
    await token.send(owner, "approve", [numbered(12), 0n]);
    await token.send(owner, "approve", [numbered(13), 2n ** 256n - 1n]);
    const pairs: Pair[] = [
      [0, 2],
      [0, 1],
      [0, 0],
    ];
    expect(await scan({ tokens: [token.address], spenders, pairs })).toEqual({
      findings: [
        { index: 0n, value: 2n ** 256n - 1n, extra: 0n },
        { index: 2n, value: 5n, extra: 0n },
      ],
      failed: [],
      next: 3n,
    });
    expect(await scan({ tokens: [], spenders: [], pairs: [] })).toEqual({
      findings: [],
      failed: [],
      next: 0n,
    });
  });

  it.each(NAMES)("loses nothing but the token itself when it is %s", async (name) => {
    const list = ["some", name, "unlimited"] as const;
    expect(await scan(pairsOf(list))).toEqual({ ...expected(list, 3), next: 3n });
  });

  it("reads a thousand pairs of a real token in one call", async () => {
    const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
    await token.send(owner, "approve", [numbered(999), 5n]);
    const spenders = Array.from({ length: 1_000 }, (_, i) => numbered(i));
    const pairs = spenders.map((_, i): Pair => [0, i]);
    expect(await scan({ tokens: [token.address], spenders, pairs })).toEqual({
      findings: [{ index: 999n, value: 5n, extra: 0n }],
      failed: [],
      next: 1_000n,
    });
  });

  it("gives a query no more than its gas, and begins again with the next", async () => {
    const tokens = [tokenOf.burner, tokenOf.some];
    const spenders = [numbered(1)];
    const burns = Array.from({ length: 50 }, (): Pair => [0, 0]);
    const found = await scan({
      ...{ tokens, spenders, pairs: [...burns, [1, 0]], gasMax: 250_000n },
      // Fifty burners of 100,000 gas each do not fit; three do.
      gas: 1_500_000n,
    });
    expect(found).toMatchObject({ findings: [{ index: 50n, value: 7n, extra: 0n }], next: 51n });
    expect(found.failed).toHaveLength(50);
  });

  it("ends early with a correct result for the pairs it read, and the rest can follow", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 150 }),
        fc.bigInt(3_000n, 60_000n),
        fc.bigInt(500_000n, 2_000_000n),
        async (list, gasPerRead, gas) => {
          let start = 0;
          for (let rounds = 0; start < list.length && rounds <= list.length; rounds += 1) {
            const rest = list.slice(start);
            const { next, ...found } = await scan({ ...pairsOf(rest), gasPerRead, gas });
            expect(found).toEqual(expected(rest, Number(next)));
            expect(next).toBeGreaterThan(0n);
            start += Number(next);
          }
          expect(start).toBe(list.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each(["some", "reverting"] as const)("keeps enough gas for its result when all are %s", async (name) => {
    const list = Array.from({ length: 5_000 }, () => name);
    const pairs = list.map((): Pair => [0, 0]);
    const { next, ...found } = await scan({
      ...{ ...pairsOf([name]), pairs, gasPerRead: 50_000n, gasMax: 2n ** 255n },
      gas: 10_000_000n,
    });
    expect(Number(next)).toBeGreaterThan(500);
    expect(Number(next)).toBeLessThan(5_000);
    expect(found).toEqual(expected(list, Number(next)));
  });

  it("reads nothing and still returns when a read may have more gas than there is", async () => {
    for (const gasPerRead of [40_000_000n, 2n ** 255n, 2n ** 256n - 1n]) {
      expect(await scan({ ...pairsOf(["some"]), gasPerRead })).toEqual({
        findings: [],
        failed: [],
        next: 0n,
      });
    }
  });
});
