// SparkLend by the bytecode of Aave v3.0, which it forks: a debt with interest, frozen, paused and new reserves.
//
// Spark's own contracts are in no package.
import { beforeAll, describe, expect, it } from "vitest";
import { createSparkReader } from "../../../src/portfolio/positions/aave-v3/reader.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { expectLiquidationPoint, readAccountData } from "./aave-liquidation-point.ts";
import { type AaveV3Market, deployAaveV3Market } from "./aave-v3-market.ts";
import { formatUsd, type LendingStage, startLendingStage } from "./lending-stage.ts";

const CHAIN_ID = 31337;
const VARIABLE = 2n;
const UNIT = 10n ** 18n;

let stage: LendingStage;
let weth: DeployedContract;
let usds: DeployedContract;
let gno: DeployedContract;
let market: AaveV3Market;
let reader: PositionReader;

async function supply(token: DeployedContract, amount: bigint, by: "wallet" | "lender"): Promise<void> {
  await stage.fund(token, market.pool.address, amount, by);
  const account = by === "wallet" ? stage.wallet : stage.lender;
  const options = by === "wallet" ? { key: stage.walletKey } : {};
  await stage.deployer.send(market.pool, "supply", [token.address, amount, account, 0], options);
}

beforeAll(async () => {
  stage = await startLendingStage();
  const { deployer, lender, wallet, walletKey } = stage;
  weth = await stage.deployToken("WETH", 18);
  usds = await stage.deployToken("USDS", 18);
  gno = await stage.deployToken("GNO", 18);
  market = await deployAaveV3Market(deployer, lender, [
    { token: weth, symbol: "WETH", decimals: 18, price: 3_123_45678901n },
    { token: usds, symbol: "USDS", decimals: 18, price: 99_990000n },
    { token: gno, symbol: "GNO", decimals: 18, price: 250_00000000n },
  ]);
  await supply(usds, 1_000_000n * UNIT, "lender");
  await supply(weth, 50n * UNIT, "wallet");
  await supply(gno, 7n * UNIT, "wallet");
  const key = { key: walletKey };
  // Supplied, but not as collateral.
  await deployer.send(market.pool, "setUserUseReserveAsCollateral", [gno.address, false], key);
  await deployer.send(market.pool, "borrow", [usds.address, 40_000n * UNIT, VARIABLE, 0, wallet], key);
  await stage.increaseTime(30n * 86_400n);
  for (const { feed, price } of market.reserves) await deployer.send(feed, "set", [price, 0n]);
  reader = createSparkReader(new Map([[CHAIN_ID, [await market.describe("SparkLend", [gno])]]]));
}, 240_000);

/** The wallet's positions, and the balances of the tokens that stand for them. */
async function compare() {
  const { positions, summary } = await stage.snapshot(reader);
  const shown = positions.map(({ name, kind, contract, assets }) => ({
    ...{ position: `${kind} ${name}`, token: contract, amount: assets[0]?.rawBalance },
  }));
  const balances = [];
  for (const each of shown) {
    const token = { address: each.token as `0x${string}`, abi: weth.abi };
    balances.push({ ...each, amount: String(await stage.deployer.call(token, "balanceOf", [stage.wallet])) });
  }
  return { shown, balances, summary };
}

describe("SparkLend", () => {
  it("shows the balances of its tokens, interest and a reserve that our data lacks included", async () => {
    const { shown, balances, summary } = await compare();
    expect(shown).toEqual(balances);
    expect(shown.map(({ position }) => position).sort()).toEqual([
      ...["borrowed SparkLend: USDS", "supplied SparkLend: GNO", "supplied SparkLend: WETH"],
    ]);
    const debt = shown.find(({ position }) => position.startsWith("borrowed"));
    expect(BigInt(debt?.amount ?? 0)).toBeGreaterThan(40_000n * UNIT);
    expect(summary.totalValueUsd).not.toBeNull();
    expect(summary.warnings).toHaveLength(1);
  });

  it("shows the pool's health and the distance just beyond which it liquidates", async () => {
    const { factor, threshold } = await readAccountData(stage, market);
    const { health } = await stage.snapshot(reader);
    expect(health).toMatchObject([
      {
        ...{ protocol: "spark", name: "SparkLend", contract: market.pool.address, liquidatable: false },
        ...{ healthFactor: formatUsd(factor, 18), liquidationThreshold: formatUsd(threshold, 4) },
      },
    ]);
    await expectLiquidationPoint(stage, reader, market, weth);
  });

  it("shows the same of frozen and paused reserves", async () => {
    const before = await compare();
    await stage.deployer.send(market.configurator, "setReserveFreeze", [weth.address, true]);
    await stage.deployer.send(market.configurator, "setReservePause", [usds.address, true]);
    const after = await compare();
    expect(after.shown).toEqual(after.balances);
    expect(after.shown.map(({ position }) => position)).toEqual(before.shown.map(({ position }) => position));
    expect(after.summary.totalValueUsd).not.toBeNull();
  });
});
