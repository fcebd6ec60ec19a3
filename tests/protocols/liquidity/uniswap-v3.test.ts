// Uniswap v3 on its own bytecode: every amount is what the position manager would pay in the same block.
import { keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  LIQUIDITY_NFT_MARKETS,
  type LiquidityNftMarket,
} from "../../../src/portfolio/positions/uniswap-v3/contracts.ts";
import { createUniswapV3Reader } from "../../../src/portfolio/positions/uniswap-v3/reader.ts";
import type { PositionReader, ProtocolPosition } from "../../../src/portfolio/types.ts";
import { readArtifact } from "../support/artifacts.ts";
import { amountsOf, type LiquidityStage, startLiquidityStage } from "./liquidity-stage.ts";
import { type TickRange, UniswapV3Deployment } from "./uniswap-v3-deployment.ts";

const POOL_CODE_HASH = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";
const IN_RANGE: TickRange = [-6_000, 6_000];
const BELOW: TickRange = [-12_000, -6_060];
const ABOVE: TickRange = [6_060, 12_000];
const AMOUNT = 10n ** 18n;

let stage: LiquidityStage;
beforeAll(async () => {
  stage = await startLiquidityStage();
});
afterAll(() => stage?.chain.stop());

/** A deployment of its own for each test, so that none sees the positions of another. */
let uniswap: UniswapV3Deployment;
let reader: PositionReader;
beforeEach(async () => {
  uniswap = await UniswapV3Deployment.deploy(stage);
  reader = createUniswapV3Reader(new Map([[31337, [marketOf(uniswap)]]]));
});

function marketOf({ manager, factory }: UniswapV3Deployment): LiquidityNftMarket {
  return {
    ...{ protocol: "uniswap-v3", name: "Uniswap v3", shape: "uniswap" },
    ...{ manager: manager.address, poolDeployer: factory.address, poolCodeHash: POOL_CODE_HASH },
  };
}

/** Each position's amounts, and what the manager would pay for it: both in the order of the ids. */
async function compare(ids: readonly bigint[], positions: readonly ProtocolPosition[]) {
  const shown = ids.map((id) => {
    const position = positions.find(({ name }) => name.startsWith(`Uniswap v3 #${id},`));
    const amounts = amountsOf(position);
    return [amounts[stage.token0.address] ?? 0n, amounts[stage.token1.address] ?? 0n];
  });
  const paid = [];
  for (const id of ids) paid.push(await uniswap.payout(id));
  return { shown, paid };
}

describe("Uniswap v3 on its own bytecode", () => {
  it("shows in and out of range what the manager would pay, fees of both tokens included", async () => {
    const ids = await uniswap.mint([IN_RANGE, BELOW, ABOVE, [-60, 60]], AMOUNT);
    // There and back again through the upper range: fees in both tokens, for three of the four positions.
    await uniswap.swap(2n * AMOUNT, false);
    await uniswap.swap(AMOUNT / 3n, true);
    const { positions, warnings, rounds, requests } = await stage.read(reader);
    const { shown, paid } = await compare(ids, positions);
    expect(shown).toEqual(paid);
    expect(shown.flat().filter((amount) => amount > 0n).length).toBeGreaterThanOrEqual(5);
    expect(warnings).toEqual([]);
    expect([rounds, requests]).toEqual([3, 3]);
  });

  it("shows the tokens owed by an emptied position until they are collected", async () => {
    const [owed, collected] = await uniswap.mint([IN_RANGE, IN_RANGE], AMOUNT);
    await uniswap.swap(AMOUNT / 10n, true);
    await uniswap.swap(AMOUNT / 10n, false);
    await uniswap.empty([owed as bigint], { collect: false });
    await uniswap.empty([collected as bigint], { collect: true });
    const { positions } = await stage.read(reader);
    expect(positions).toHaveLength(1);
    const { shown, paid } = await compare([owed as bigint], positions);
    expect(shown).toEqual(paid);
    expect(shown[0]?.every((amount) => amount > 0n)).toBe(true);
  });

  it("shows sixty open positions, in a number of requests that does not grow with them", async () => {
    const ranges = Array.from(
      { length: 60 },
      (_, index): TickRange => [-60 * (index + 1), 60 * (60 - index)],
    );
    const ids = await uniswap.mint(ranges, AMOUNT);
    await uniswap.swap(AMOUNT, true);
    await uniswap.swap(AMOUNT * 3n, false);
    const { positions, warnings, rounds, requests } = await stage.read(reader);
    expect(positions).toHaveLength(60);
    const { shown, paid } = await compare(ids, positions);
    expect(shown).toEqual(paid);
    expect(warnings).toEqual([]);
    expect(rounds).toBe(4);
    expect(requests).toBeLessThanOrEqual(5);
  });

  it("reads nothing but the numbers of NFTs for a wallet without any", async () => {
    const { positions, warnings, rounds, requests } = await stage.read(reader, {
      wallet: `0x${"5e".repeat(20)}`,
    });
    expect({ positions, warnings, rounds, requests }).toEqual({
      positions: [],
      warnings: [],
      rounds: 1,
      requests: 1,
    });
  });

  it("shows five open positions among a hundred younger closed ones", async () => {
    const open = await uniswap.mint(
      Array.from({ length: 5 }, () => IN_RANGE),
      AMOUNT,
    );
    const closed = await uniswap.mint(
      Array.from({ length: 100 }, () => IN_RANGE),
      AMOUNT,
    );
    await uniswap.empty(closed, { collect: true });
    const { positions, warnings } = await stage.read(reader);
    expect(positions.map(({ name }) => name)).toEqual(
      open.toReversed().map((id) => `Uniswap v3 #${id}, fee 0.3 %`),
    );
    expect(warnings).toEqual([]);
  });
});

describe("the published pools", () => {
  it.each([
    ["uniswap-v3", "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"],
    ["sushiswap-v3", "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"],
    ["pancakeswap-v3", "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"],
  ])(
    "the published pools of %s have the creation code whose hash our deployments name",
    (protocol, artifact) => {
      const markets = [...LIQUIDITY_NFT_MARKETS.values()]
        .flat()
        .filter((market) => market.protocol === protocol);
      expect(markets.length).toBeGreaterThan(0);
      const hash = keccak256(readArtifact(artifact).bytecode);
      for (const { poolCodeHash } of markets) expect(poolCodeHash).toBe(hash);
    },
  );
});
