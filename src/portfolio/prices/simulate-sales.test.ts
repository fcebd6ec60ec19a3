// Prices that survive a simulated sale, on a node that returns what a test says; the sales themselves run in tests/protocols.

import { saleSimulatorAbi as abi } from "@sextant/contracts/generated/sale-simulator";
import { decodeFunctionData, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { openFailingChain } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig, numberedContract } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { PinnedChain } from "../types.ts";
import type { Pool } from "./find-pools.ts";
import { readPools } from "./find-pools.ts";
import { findSellable, type SaleClaim } from "./simulate-sales.ts";
import { findPoolKind } from "./spot-pools.ts";

const { signal } = new AbortController();
const wallet = numberedContract(0xaa);
const QUOTE = { token: numberedContract(0xffff), decimals: 18 };
const Q96 = 1n << 96n;
const CONCENTRATED = findPoolKind({ kind: "uniswap-v3", factory: numberedContract(0xfac), fees: [500] });
const RESERVES = findPoolKind({ kind: "uniswap-v2", factory: numberedContract(0xfad) });

function makePool(number: number, token: Partial<Pool["token"]> = {}, kind = CONCENTRATED): Pool {
  const contract = numberedContract(number);
  return {
    address: numberedContract(number + 0x1000),
    ...{ kind, quote: QUOTE },
    token: { contract, decimals: 18, keys: [contract], isListed: false, held: 1_000n, ...token },
  };
}

/** At a price of one, of which the pool claims to pay 4,000 units. */
const claimOf = (pool: Pool): SaleClaim => ({
  pool,
  standing: { depth: 4_000n, rate: [1n, 1n], sqrtPrice: Q96 },
});

function words(...values: readonly bigint[]): Hex {
  const all = [32n, BigInt(values.length), ...values];
  return `0x${all.map((value) => numberToHex(value, { size: 32 }).slice(2)).join("")}`;
}

type Call = Parameters<PinnedChain["callAsAccount"]>[0];
type PlainResult = { readonly ok: Hex } | { readonly reverted: null } | null;

const TRUE = { ok: numberToHex(1, { size: 32 }) };

/** A node on which plain transfers succeed, unless a test says otherwise. */
function openNode(
  respond: (call: Call) => Hex | null,
  transferred: (index: number) => PlainResult = () => TRUE,
): PinnedChain & { readonly calls: Call[] } {
  const calls: Call[] = [];
  return {
    ...openFailingChain({ chain: makeChainConfig("base", 8453), calls: [] }),
    calls,
    callAsAccount: async (call) => {
      calls.push(call);
      const returnData = respond(call);
      return (
        returnData && { returnData, plainResults: call.plainCalls.map((_, index) => transferred(index)) }
      );
    },
  };
}

function salesOf({ data }: Call) {
  const { args } = decodeFunctionData({ abi, data });
  return args?.[0] as readonly { readonly token: Hex; readonly amount: bigint; readonly isQuoted: boolean }[];
}

describe("a simulated sale", () => {
  it("needs half of what an honest pool pays, and is made by the wallet for all that it has", async () => {
    const claims = [1, 2, 3].map((number) => claimOf(makePool(number)));
    const at = openNode(() => words(399n, 400n, 1_000n));
    const { sellable, untried } = await findSellable(at, { claims, wallet }, signal);
    expect(sellable).toEqual([
      { claim: claims[1], paid: 400n },
      { claim: claims[2], paid: 1_000n },
    ]);
    expect(untried).toEqual([]);
    expect(at.calls.map(({ account }) => account)).toEqual([wallet]);
    expect(salesOf(at.calls[0] as Call)).toMatchObject([
      { amount: 1_000n, isQuoted: false },
      { amount: 1_000n, isQuoted: false },
      { amount: 1_000n, isQuoted: false },
    ]);
  });

  it("counts only if the wallet, as it is, could transfer the token to the pool", async () => {
    const claims = Array.from({ length: 6 }, (_, index) => claimOf(makePool(index + 1)));
    const outcomes: readonly PlainResult[] = [
      ...[TRUE, { ok: "0x" } as const, { reverted: null }],
      ...[{ ok: numberToHex(0, { size: 32 }) }, { ok: numberToHex(2, { size: 32 }) }, null],
    ];
    const at = openNode(
      () => words(...claims.map(() => 1_000n)),
      (index) => outcomes[index] ?? null,
    );
    const { sellable, untried } = await findSellable(at, { claims, wallet }, signal);
    expect(sellable.map(({ claim }) => claim)).toEqual(claims.slice(0, 2));
    expect(untried).toEqual(claims.slice(5));
    expect(at.calls).toHaveLength(1);
    const abi = parseAbi(["function transfer(address,uint256)"]);
    expect(at.calls[0]?.plainCalls).toEqual(
      claims.map(({ pool }) => ({
        to: pool.token.contract,
        data: encodeFunctionData({ abi, args: [pool.address, 1_000n] }),
        gasMax: 1_500_000,
      })),
    );
  });

  it("is only asked for of listed tokens, up to what the pool claims, and not of reserves", async () => {
    const listed = claimOf(makePool(1, { isListed: true, held: 1_000_000n }));
    const inReserves = claimOf(makePool(2, { isListed: true }, RESERVES));
    const at = openNode(() => words(999n));
    const { sellable } = await findSellable(at, { claims: [listed, inReserves], wallet }, signal);
    expect(salesOf(at.calls[0] as Call)).toMatchObject([{ amount: 4_000n, isQuoted: true }]);
    expect(at.calls[0]?.plainCalls).toEqual([]);
    expect(sellable).toEqual([{ claim: inReserves, paid: null }]);
  });

  it("continues after a call that runs out of gas", async () => {
    const claims = [1, 2, 3].map((number) => claimOf(makePool(number)));
    const at = openNode((call) =>
      words(
        ...salesOf(call)
          .slice(0, 2)
          .map(() => 500n),
      ),
    );
    const { sellable } = await findSellable(at, { claims, wallet }, signal);
    expect(sellable).toEqual(claims.map((claim) => ({ claim, paid: 500n })));
    expect(at.calls.map((call) => [salesOf(call).length, call.plainCalls.length])).toEqual([
      [3, 3],
      [1, 0],
    ]);
  });

  it.each([
    ["the node places no code", null],
    ["the node returns something else", "0x1234"],
  ] as const)("keeps listed prices and no others if %s", async (_name, result) => {
    const [listed, unlisted] = [claimOf(makePool(1, { isListed: true })), claimOf(makePool(2))];
    const claims = [listed, unlisted];
    const { sellable, untried } = await findSellable(
      openNode(() => result),
      { claims, wallet },
      signal,
    );
    expect({ sellable, untried }).toEqual({
      sellable: [{ claim: listed, paid: null }],
      untried: [unlisted],
    });
  });

  it("costs no request without a claim to try", async () => {
    const at = openNode(() => null);
    const claims = [claimOf(makePool(1, { isListed: true }, RESERVES))];
    const { sellable } = await findSellable(at, { claims, wallet }, signal);
    expect(sellable).toEqual(claims.map((claim) => ({ claim, paid: null })));
    expect(at.calls).toEqual([]);
  });
});

describe("a pool of concentrated liquidity", () => {
  const COINS_NOW = 100n * 10n ** 18n;
  const COINS_THEN = 12n * 10n ** 16n;
  const plain = (...values: readonly bigint[]): Hex =>
    `0x${values.map((value) => numberToHex(value, { size: 32 }).slice(2)).join("")}`;
  const liquidity = 10n ** 24n;
  const state = (coins: bigint) => [plain(Q96, 0n, 0n, 0n, 0n, 0n, 1n), plain(liquidity), plain(coins)];
  /** Liquidity of which `observe` says that it stood. */
  const memory = plain(64n, 160n, 2n, 0n, 0n, 2n, 0n, (1_800n << 128n) / liquidity);

  /** A node without Multicall3, which has the state of half an hour ago or not. */
  function openChain(hasEarlier: boolean): PinnedChain {
    const responses = [...state(COINS_NOW), memory];
    const at = openFailingChain({ chain: makeChainConfig("base", 8453), calls: [] });
    const respond = (results: readonly Hex[], count: number) =>
      count === 1 ? [null] : results.slice(0, count);
    return {
      ...at,
      read: async (calls) => respond(responses, calls.length),
      readEarlier: async (_seconds, calls) => (hasEarlier ? respond(state(COINS_THEN), calls.length) : null),
    };
  }

  it("counts with the coins of half an hour ago, however much liquidity it remembers", async () => {
    const [reading] = await readPools(openChain(true), [makePool(1)], signal);
    expect(reading?.standing?.depth).toBe(COINS_THEN);
  });

  it("is unknown without the state of that time, unless the token is listed", async () => {
    const [unlisted] = await readPools(openChain(false), [makePool(1)], signal);
    expect(unlisted?.standing).toBeUndefined();
    const [listed] = await readPools(openChain(false), [makePool(1, { isListed: true })], signal);
    expect(listed?.standing?.depth).toBe(COINS_NOW);
  });
});
