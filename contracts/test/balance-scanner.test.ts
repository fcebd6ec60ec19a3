// The scanner: thousands of tokens in one call, a hostile token costs only itself, and low gas ends the scan early.

import { BLOCK_GAS_LIMIT } from "@sextant/local-chain/edr-provider";
import fc from "fast-check";
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  zeroAddress,
} from "viem";
import { describe, expect, it } from "vitest";
import { casesOf, isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { balanceScannerAbi as abi, balanceScannerRuntimeBytecode } from "../generated/balance-scanner.ts";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { startEvm } from "./evm.ts";
import { HOSTILE_CODE, paddedReturningCode, returningCode } from "./hostile-token-code.ts";

const numbered = (number: number): Address => getAddress(pad(numberToHex(number), { size: 20 }));

/** Nothing is deployed there: a state override places the scanner's code for one call. */
const SCANNER = numbered(0x5ca77e4);
const GAS_PER_TOKEN = 100_000n;

/** Every way a token can be, by name; null has no code. */
const characters = {
  empty: returningCode(0n),
  held: returningCode(7n),
  rich: returningCode(2n ** 256n - 1n),
  padded: paddedReturningCode(9n),
  ...HOSTILE_CODE,
} as const satisfies Record<string, Hex | null>;
type Character = keyof typeof characters;

const balances: Partial<Record<Character, bigint>> = {
  ...{ empty: 0n, held: 7n, rich: 2n ** 256n - 1n, padded: 9n },
};
const tokenOf = Object.fromEntries(
  Object.keys(characters).map((name, index) => [name, numbered(0xbeef00 + index)]),
) as Record<Character, Address>;

const hostile = (Object.keys(characters) as Character[]).filter((name) => balances[name] === undefined);
const manyFirst = 0x1000000;
// The scan of 5,000 takes four times as long as that of 1,000.
const manyCount = isFullDepth() ? 5_000 : 1_000;
const [heldEach, hostileEach] = [manyCount / 10, manyCount / 10 + manyCount / 50];
const many = Array.from({ length: manyCount }, (_, index): Character => {
  if (index % heldEach === heldEach - 1) return "held";
  const kind = index % hostileEach === hostileEach / 6 ? hostile[Math.floor(index / hostileEach)] : undefined;
  return kind ?? "empty";
});

const genesis: Record<Address, Hex> = {};
const place = (address: Address, name: Character) => {
  const code = characters[name];
  if (code !== null) genesis[address] = code;
};
for (const name of Object.keys(characters) as Character[]) place(tokenOf[name], name);
for (const [index, name] of many.entries()) place(numbered(manyFirst + index), name);
const evm = await startEvm(genesis);
const wallet = evm.chain.accounts.payer.address;

type Scan = { readonly gasPerToken?: bigint; readonly gas?: bigint };

async function scan(
  tokens: readonly Address[],
  { gasPerToken = GAS_PER_TOKEN, gas = BLOCK_GAS_LIMIT }: Scan = {},
) {
  const data = encodeFunctionData({ abi, functionName: "scan", args: [wallet, tokens, gasPerToken] });
  const call = { to: SCANNER, data, gas: numberToHex(gas) };
  const override = { [SCANNER]: { code: balanceScannerRuntimeBytecode } };
  const result = (await evm.chain.request("eth_call", [call, "latest", override])) as Hex;
  const [holdings, failed, next] = decodeFunctionResult({ abi, functionName: "scan", data: result });
  return { holdings, failed, next, bytes: { request: data.length / 2 - 1, response: result.length / 2 - 1 } };
}

/** The balances that a scan of the first `next` tokens must have found. */
function expected(list: readonly Character[], next: number) {
  const scanned = list
    .slice(0, next)
    .map((name, index) => ({ index: BigInt(index), balance: balances[name] }));
  return {
    holdings: scanned.filter(({ balance }) => balance !== undefined && balance > 0n),
    failed: scanned.filter(({ balance }) => balance === undefined).map(({ index }) => index),
  };
}

describe("a scan", () => {
  it("reads real tokens in order, without those not held", async () => {
    const tokens: Address[] = [];
    for (const amount of [5n, 0n, 9n]) {
      const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
      await token.send(evm.chain.accounts.owner.address, "mint", [wallet, amount]);
      tokens.push(token.address);
    }
    expect(await scan(tokens)).toMatchObject({
      holdings: [
        { index: 0n, balance: 5n },
        { index: 2n, balance: 9n },
      ],
      failed: [],
      next: 3n,
    });
    expect(await scan([])).toMatchObject({ holdings: [], failed: [], next: 0n });
  });

  it("reads a token as often as it is listed", async () => {
    expect(await scan([tokenOf.held, tokenOf.held])).toMatchObject({
      holdings: [
        { index: 0n, balance: 7n },
        { index: 1n, balance: 7n },
      ],
    });
  });

  it.each(Object.keys(characters) as Character[])(
    "loses nothing but the token itself when it is %s",
    async (name) => {
      const list = ["held", name, "rich"] as const;
      expect(await scan(list.map((one) => tokenOf[one]))).toMatchObject({ ...expected(list, 3), next: 3n });
    },
  );

  it("names an address without code as failed, also the zero address and the wallet itself", async () => {
    const tokens = [zeroAddress, wallet, numbered(0xdead)];
    expect(await scan(tokens)).toMatchObject({ holdings: [], failed: [0n, 1n, 2n], next: 3n });
  });

  it(`reads ${manyCount} tokens with 10 held and every hostile kind among them in one call`, async () => {
    expect(new Set(many)).toEqual(new Set(["empty", "held", ...hostile]));
    const found = await scan(many.map((_, index) => numbered(manyFirst + index)));
    expect(found).toMatchObject({ ...expected(many, manyCount), next: BigInt(manyCount) });
    expect(found.holdings).toHaveLength(10);
    expect(found.failed).toHaveLength(hostile.length);
    expect(found.bytes.request).toBeLessThan(34 * manyCount);
    expect(found.bytes.response).toBeLessThan(1_200);
  });
});

describe("the gas of a token", () => {
  it("caps the gas of a token: one that needs more fails, and costs no more than the cap", async () => {
    const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
    await token.send(evm.chain.accounts.owner.address, "mint", [wallet, 1n]);
    const list = [token.address, tokenOf.held];
    expect(await scan(list, { gasPerToken: 1_000n })).toMatchObject({ failed: [0n], next: 2n });
    expect(await scan(list, { gasPerToken: 10_000n })).toMatchObject({ failed: [], next: 2n });
    expect(await scan(list, { gasPerToken: 0n })).toMatchObject({ holdings: [], failed: [0n, 1n], next: 2n });
    // Twenty burners of 100,000 gas each fit into 3 million only if none can take more.
    const burners = Array.from({ length: 20 }, () => tokenOf.burner);
    const found = await scan([...burners, tokenOf.held], { gas: 3_000_000n });
    expect(found).toMatchObject({ holdings: [{ index: 20n, balance: 7n }], next: 21n });
    expect(found.failed).toHaveLength(20);
  });

  it("gives a token its gas whole or not at all, down to the last token", async () => {
    // Returns the gas it starts with, less 2 for reading it.
    const meter = numbered(0x6a5);
    await evm.chain.setCode(meter, "0x5a5f5260205ff3");
    const list = Array.from({ length: 400 }, () => meter);
    // A call may take 63/64 of the gas left: with large shares the last part is worth more than all reserves.
    const shareArb = fc.oneof(fc.bigInt(100n, 200_000n), fc.bigInt(4_000_000n, 20_000_000n));
    await fc.assert(
      fc.asyncProperty(shareArb, fc.bigInt(300_000n, 900_000n), async (gasPerToken, spare) => {
        const { holdings, failed, next } = await scan(list, { gasPerToken, gas: gasPerToken + spare });
        expect(failed).toEqual([]);
        expect(holdings).toHaveLength(Number(next));
        expect(holdings.filter(({ balance }) => balance !== gasPerToken - 2n)).toEqual([]);
      }),
      { numRuns: runsOf(60) },
    );
  });

  it("reads no token and still returns when a token's gas exceeds the gas available", async () => {
    for (const gasPerToken of [40_000_000n, 2n ** 255n, 2n ** 256n - 1n]) {
      expect(await scan([tokenOf.held], { gasPerToken })).toMatchObject({
        holdings: [],
        failed: [],
        next: 0n,
      });
    }
  });
});

describe("a scan with little gas", () => {
  const characterArb = fc.constantFrom(...(Object.keys(characters) as Character[]));

  it("ends early with a correct result for the tokens it read, and the rest can follow", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(characterArb, { minLength: 1, maxLength: 150 }),
        fc.bigInt(3_000n, 60_000n),
        fc.bigInt(300_000n, 2_000_000n),
        async (list, gasPerToken, gas) => {
          const found = new Set<number>();
          let start = 0;
          for (let rounds = 0; start < list.length && rounds <= list.length; rounds += 1) {
            const rest = list.slice(start);
            const { holdings, failed, next } = await scan(
              rest.map((name) => tokenOf[name]),
              { gasPerToken, gas },
            );
            expect({ holdings, failed }).toEqual(expected(rest, Number(next)));
            expect(next).toBeGreaterThan(0n);
            for (const { index } of holdings) found.add(start + Number(index));
            start += Number(next);
          }
          const held = list.flatMap((name, index) => ((balances[name] ?? 0n) > 0n ? [index] : []));
          expect([...found]).toEqual(held);
        },
      ),
      { numRuns: runsOf(40) },
    );
  });

  // The result's memory cost grows quadratically: without a reserve for it the scan runs out of gas at its end.
  it.each(
    casesOf<readonly ["held" | "reverting", number, bigint]>(
      ["held", 5_000, 10_000_000n],
      ["held", 20_000, 30_000_000n],
      ["reverting", 20_000, 30_000_000n],
    ),
  )(
    "reserves enough gas for its result when every token is %s (%s tokens, %s gas)",
    async (name, count, gas) => {
      const list = Array.from({ length: count }, () => name);
      const { holdings, failed, next } = await scan(
        list.map((one) => tokenOf[one]),
        { gasPerToken: 50_000n, gas },
      );
      expect(Number(next)).toBeGreaterThan(500);
      expect(Number(next)).toBeLessThan(count);
      expect({ holdings, failed }).toEqual(expected(list, Number(next)));
    },
  );
});
