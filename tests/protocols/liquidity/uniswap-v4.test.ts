// Uniswap v4 on its own bytecode: every amount is what burning the NFT pays, and NFTs are found however logs are limited.
import { type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../../src/lib/fault.ts";
import { createUniswapV4Reader } from "../../../src/portfolio/positions/uniswap-v4/reader.ts";
import type { PinnedChain, PositionReader, ProtocolPosition } from "../../../src/portfolio/types.ts";
import { makeChainData, makePrices, makeSnapshot } from "../../support/portfolio/portfolio-parts.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import { amountsOf, type LiquidityStage, signal, startLiquidityStage } from "./liquidity-stage.ts";
import { type PoolKey, UniswapV4Deployment } from "./uniswap-v4-deployment.ts";

const LIQUIDITY = 10n ** 18n;

// The first allows everything: it returns the selector it was called with. The second rejects every call.
const HOOK_SOURCES = `pragma solidity ^0.8.0;
contract Hook {
  fallback() external { assembly { mstore(0, shl(224, shr(224, calldataload(0)))) return(0, 32) } }
}
contract Trap { fallback() external { revert(); } }`;
/** The bits of an address that a pool calls before liquidity is removed, and before a swap. */
const WITHDRAWAL_HOOK: Hex = `0x${"c0".repeat(18)}0200`;
const SWAP_HOOK: Hex = `0x${"c0".repeat(18)}0080`;

const NO_PRICE = { priceUsd: null, valueUsd: null, priceSource: null };

let stage: LiquidityStage;
beforeAll(async () => {
  stage = await startLiquidityStage();
});
afterAll(() => stage?.chain.stop());

let uniswap: UniswapV4Deployment;
let reader: PositionReader;
let pool: PoolKey;
beforeEach(async () => {
  uniswap = await UniswapV4Deployment.deploy(stage);
  reader = createUniswapV4Reader(new Map([[31337, [uniswap.market]]]));
  pool = await uniswap.createPool(stage.token0.address, stage.token1.address);
});

const idsOf = (positions: readonly ProtocolPosition[]) =>
  positions.map(({ name }) => BigInt(/#(\d+)/.exec(name)?.[1] ?? -1));

/** A node that searches at most so many blocks at once. */
const limitLogs =
  (blocksMax: number) =>
  (at: PinnedChain): PinnedChain["transfers"] =>
  (filter, abort) =>
    filter.toBlock - filter.fromBlock < blocksMax
      ? at.transfers(filter, abort)
      : Promise.reject(new Fault("LOGS_TOO_LARGE", "The range is too large."));
const failLogs = () => () => Promise.reject(new Fault("NODE_UNAVAILABLE", "The node went away."));

describe("Uniswap v4 on its own bytecode", () => {
  it("shows in and out of range, with fees of both currencies and the native coin, what a burn pays", async () => {
    const native = await uniswap.createPool(zeroAddress, stage.token1.address);
    const nfts: (readonly [PoolKey, bigint])[] = [];
    for (const key of [pool, native]) {
      for (const range of [
        [-6_000, 6_000],
        [-12_000, -6_000],
        [6_000, 12_000],
        [-60, 60],
      ] as const) {
        nfts.push([key, await uniswap.mint(key, range, LIQUIDITY)]);
      }
      // Up beyond the narrow ranges and some of the way back: fees in both currencies.
      await uniswap.swap(key, LIQUIDITY / 2n, false);
      await uniswap.swap(key, LIQUIDITY / 10n, true);
    }
    const { positions, warnings, rounds } = await stage.read(reader);
    const shown = nfts.map(([key, id]) => {
      const position = positions.find(({ name }) => name === `Uniswap v4 #${id}, fee 0.3 %`);
      const amounts = amountsOf(position);
      const key0 = key.currency0 === zeroAddress ? "native" : key.currency0;
      return [amounts[key0] ?? 0n, amounts[key.currency1] ?? 0n];
    });
    const paid = [];
    for (const [key, id] of nfts) paid.push(await uniswap.burn(key, id));
    expect(shown).toEqual(paid);
    expect(shown.flat().filter((amount) => amount > 0n).length).toBeGreaterThanOrEqual(10);
    expect(warnings).toEqual([]);
    expect(positions.flatMap(({ assets }) => assets).find(({ contract }) => contract === null)).toMatchObject(
      {
        symbol: "ETH",
        decimals: 18,
      },
    );
    // The number of NFTs, their owners, their ranges, their state.
    expect(rounds).toBe(4);
  });

  it("shows neither an emptied NFT nor one that was given away, and says nothing of them", async () => {
    const kept = await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    const emptied = await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    const given = await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    await uniswap.empty(pool, emptied, LIQUIDITY);
    await stage.deployer.send(uniswap.manager, "transferFrom", [stage.wallet, `0x${"22".repeat(20)}`, given]);
    const { positions, warnings } = await stage.read(reader);
    expect([idsOf(positions), warnings]).toEqual([[kept], []]);
  });

  it("finds all NFTs if the node searches few blocks at once", async () => {
    const first = await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    await stage.chain.mine(40);
    const second = await uniswap.mint(pool, [-120, 120], LIQUIDITY);
    const { positions, warnings } = await stage.read(reader, { searchLogs: limitLogs(10) });
    expect([idsOf(positions), warnings]).toEqual([[second, first], []]);
  });

  it("says how far it searched when it does not find all", async () => {
    await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    await stage.chain.mine(200);
    const found = await uniswap.mint(pool, [-120, 120], LIQUIDITY);
    const { positions, warnings } = await stage.read(reader, { searchLogs: limitLogs(2) });
    expect(idsOf(positions)).toEqual([found]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^1 of 2 Uniswap v4 positions on .* were not found and are missing: .* searched since block \d+\.$/,
    );
  });

  it("needs no search when the known transfers show all NFTs, and warns when it cannot search", async () => {
    const id = await uniswap.mint(pool, [-60, 60], LIQUIDITY);
    const at = await stage.pin();
    const filter = { wallet: stage.wallet, side: "to", fromBlock: 0, toBlock: at.block.number } as const;
    const transfers = await at.transfers(filter, signal);
    const known = await stage.read(reader, { transfers, searchLogs: failLogs });
    expect([idsOf(known.positions), known.warnings]).toEqual([[id], []]);
    const unknown = await stage.read(reader, { searchLogs: failLogs });
    expect(unknown.positions).toEqual([]);
    expect(unknown.warnings[0]).toMatch(/^1 of 1 Uniswap v4 positions .* transfers could not be read\.$/);
  });

  it("gives a position no value that its pool's hook may keep, and one whose hook cannot its full value", async () => {
    const hooks = await compileSources({ "hook.sol": HOOK_SOURCES });
    const place = async (address: Hex, name: "Hook" | "Trap") => {
      const deployed = await stage.deployer.deploy(hooks[name] as Artifact);
      const code = (await stage.chain.request("eth_getCode", [deployed.address, "latest"])) as Hex;
      await stage.chain.setCode(address, code);
      return uniswap.createPool(stage.token0.address, stage.token1.address, address);
    };
    const trap = await place(WITHDRAWAL_HOOK, "Trap");
    const trapped = await uniswap.mint(trap, [60, 120], LIQUIDITY);
    const free = await uniswap.mint(await place(SWAP_HOOK, "Hook"), [60, 120], LIQUIDITY);
    const { positions, warnings } = await stage.read(reader);
    expect(positions.map(({ name }) => name)).toEqual([
      `Uniswap v4 #${free}, fee 0.3 %, hook ${SWAP_HOOK}`,
      `Uniswap v4 #${trapped}, fee 0.3 %, hook ${WITHDRAWAL_HOOK}`,
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /hook that may reject a withdrawal or keep a part of it: 1\. They have no value\.$/,
      ),
    ]);
    await expect(uniswap.burn(trap, trapped)).rejects.toThrow();
    // Both hold token0 only, and as much of it.
    const { address } = stage.token0;
    const prices = makePrices({ [address]: "1" });
    const chain = { ...(await stage.pin()).chain, stablecoins: new Set([address]) };
    const valued = makeSnapshot(makeChainData(chain, { positions, prices }));
    const [own, kept] = valued.positions;
    const value = own?.valueUsd ?? "";
    expect(Number(value)).toBeGreaterThan(0);
    expect(own?.assets).toMatchObject([{ contract: address, valueUsd: value }]);
    expect(kept).toMatchObject({ valueUsd: null, assets: [{ ...own?.assets[0], ...NO_PRICE }] });
    expect(valued.summary).toMatchObject({ totalValueUsd: value, stablecoinValueUsd: value });
  });

  it("reads nothing but the number of NFTs for a wallet without any", async () => {
    const options = { wallet: `0x${"5e".repeat(20)}`, searchLogs: failLogs } as const;
    const { positions, warnings, rounds, requests } = await stage.read(reader, options);
    expect({ positions, warnings, rounds, requests }).toEqual({
      ...{ positions: [], warnings: [], rounds: 1, requests: 1 },
    });
  });
});
