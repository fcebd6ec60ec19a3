// Aave v3 by its own bytecode: supplies, debts, new reserves and a second market, compared with the pool's own account.
import { beforeAll, describe, expect, it } from "vitest";
import { parseDecimal } from "../../../src/lib/decimal.ts";
import { createAaveV3Reader } from "../../../src/portfolio/positions/aave-v3/reader.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { expectLiquidationPoint, readAccountData } from "./aave-liquidation-point.ts";
import { type AaveV3Market, deployAaveV3Market, type ListedReserve } from "./aave-v3-market.ts";
import { formatUsd, type LendingStage, startLendingStage } from "./lending-stage.ts";

const CHAIN_ID = 31337;
const VARIABLE = 2n;
const DOLLAR = 10n ** 8n;

let stage: LendingStage;
let weth: DeployedContract;
let usdc: DeployedContract;
let dai: DeployedContract;
let fund: DeployedContract;
let main: AaveV3Market;
let second: AaveV3Market;
/** Knows neither DAI in the main market nor anything of the second one but its pool and oracle. */
let reader: PositionReader;

/** The wallet's account in a pool: collateral and debt in dollars with 8 decimals. */
async function accountOf({ pool }: AaveV3Market): Promise<{ collateral: bigint; debt: bigint }> {
  const [collateral = 0n, debt = 0n] = await stage.deployer.call<bigint[]>(pool, "getUserAccountData", [
    stage.wallet,
  ]);
  return { collateral, debt };
}

/** In units of 8 decimals; each of our values is rounded to six. */
function usdUnits(text: string | null): bigint {
  const { units, scale } = parseDecimal(text ?? "NaN", "value");
  return units * 10n ** BigInt(8 - scale);
}

async function lend(market: AaveV3Market, token: DeployedContract, amount: bigint): Promise<void> {
  await stage.fund(token, market.pool.address, amount, "lender");
  await stage.deployer.send(market.pool, "supply", [token.address, amount, stage.lender, 0]);
}

async function supply(market: AaveV3Market, token: DeployedContract, amount: bigint): Promise<void> {
  await stage.fund(token, market.pool.address, amount);
  const args = [token.address, amount, stage.wallet, 0];
  await stage.deployer.send(market.pool, "supply", args, { key: stage.walletKey });
}

async function borrow(market: AaveV3Market, token: DeployedContract, amount: bigint): Promise<void> {
  const args = [token.address, amount, VARIABLE, 0, stage.wallet];
  await stage.deployer.send(market.pool, "borrow", args, { key: stage.walletKey });
}

beforeAll(async () => {
  stage = await startLendingStage();
  const { deployer, lender } = stage;
  [weth, usdc, dai, fund] = [
    await stage.deployToken("WETH", 18),
    await stage.deployToken("USDC", 6),
    await stage.deployToken("DAI", 18),
    await stage.deployToken("FUND", 6),
  ];
  main = await deployAaveV3Market(deployer, lender, [
    { token: weth, symbol: "WETH", decimals: 18, price: 3_123_45678901n },
    { token: usdc, symbol: "USDC", decimals: 6, price: 99_990000n },
    { token: dai, symbol: "DAI", decimals: 18, price: 1_00010000n },
  ]);
  second = await deployAaveV3Market(deployer, lender, [
    { token: fund, symbol: "FUND", decimals: 6, price: DOLLAR },
    { token: usdc, symbol: "USDC", decimals: 6, price: 99_990000n },
  ]);
  await lend(main, usdc, 1_000_000_000000n);
  await lend(main, dai, 1_000_000n * 10n ** 18n);
  await lend(second, usdc, 1_000_000_000000n);
  await supply(main, weth, 50n * 10n ** 18n);
  await borrow(main, usdc, 12_345_678901n);
  await borrow(main, dai, 7_000_130000000000000000n);
  await supply(second, fund, 1_000_000_000000n);
  await borrow(second, usdc, 700_000_000000n);
  await stage.increaseTime(30n * 86_400n);
  for (const { feed, price } of [...main.reserves, ...second.reserves])
    await deployer.send(feed, "set", [price, 0n]);
  reader = createAaveV3Reader(
    new Map([[CHAIN_ID, [await main.describe("Main", [dai]), await second.describe("Second")]]]),
  );
}, 240_000);

describe("Aave v3", () => {
  it("values positions as the pools do, in two markets and with an unlisted reserve", async () => {
    const { summary, positions } = await stage.snapshot(reader);
    const accounts = [await accountOf(main), await accountOf(second)];
    const net = accounts.reduce((sum, { collateral, debt }) => sum + collateral - debt, 0n);
    const difference = usdUnits(summary.totalValueUsd) - net;
    expect(difference >= -500n && difference <= 500n, `${formatUsd(net)} ${summary.totalValueUsd}`).toBe(
      true,
    );
    expect(positions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      ...["borrowed Main: DAI", "borrowed Main: USDC", "borrowed Second: USDC"],
      ...["supplied Main: WETH", "supplied Second: FUND"],
    ]);
    expect(positions.find(({ name }) => name === "Second: FUND")?.assets[0]).toMatchObject({
      ...{ priceUsd: "1", priceSource: "aave-v3", priceContract: second.reserves[0]?.feed.address },
    });
    expect(summary.warnings).toHaveLength(1);
  });

  it("returns the balances of the tokens themselves, interest included", async () => {
    const { positions } = await stage.snapshot(reader);
    for (const { contract, assets } of positions) {
      const token = { address: contract as `0x${string}`, abi: weth.abi };
      const balance = await stage.deployer.call<bigint>(token, "balanceOf", [stage.wallet]);
      expect(assets[0]?.rawBalance).toBe(balance.toString());
    }
    const debt = positions.find(({ name }) => name === "Main: USDC");
    expect(BigInt(debt?.assets[0]?.rawBalance ?? 0)).toBeGreaterThan(12_345_678901n);
  });

  it("does not change when a reserve is frozen or paused", async () => {
    const before = await stage.snapshot(reader);
    await stage.deployer.send(main.configurator, "setReserveFreeze", [weth.address, true]);
    await stage.deployer.send(main.configurator, "setReservePause", [usdc.address, true]);
    const after = await stage.snapshot(reader);
    await stage.deployer.send(main.configurator, "setReserveFreeze", [weth.address, false]);
    await stage.deployer.send(main.configurator, "setReservePause", [usdc.address, false]);
    expect(after.positions.map(({ name, kind }) => [name, kind])).toEqual(
      before.positions.map(({ name, kind }) => [name, kind]),
    );
    expect(usdUnits(after.summary.totalValueUsd) / DOLLAR).toBe(
      usdUnits(before.summary.totalValueUsd) / DOLLAR,
    );
  });

  it("shows no total, and no negative one, while a collateral's feed is dead", async () => {
    const { feed, price } = second.reserves[0] as ListedReserve;
    await stage.deployer.send(feed, "set", [price, 8n * 86_400n]);
    const stale = await stage.snapshot(reader);
    await stage.deployer.send(feed, "set", [0n, 0n]);
    const dead = await stage.snapshot(reader);
    await stage.deployer.send(feed, "set", [price, 0n]);
    for (const { summary } of [stale, dead]) {
      expect(summary.totalValueUsd).toBeNull();
      expect(summary.warnings.join()).toContain(
        "The total value on Local chain is unknown: the wallet owes in aave-v3",
      );
    }
    expect((await stage.snapshot(reader)).summary.totalValueUsd).not.toBeNull();
  });

  it("shows the health of the pool's own account, and the distance to liquidation", async () => {
    const { health } = await stage.snapshot(reader);
    expect(health.map(({ protocol, name, contract }) => [protocol, name, contract])).toEqual([
      ["aave-v3", "Main", main.pool.address],
      ["aave-v3", "Second", second.pool.address],
    ]);
    for (const [index, market] of [main, second].entries()) {
      const own = await readAccountData(stage, market);
      expect(health[index]).toMatchObject({
        healthFactor: formatUsd(own.factor, 18),
        liquidationThreshold: formatUsd(own.threshold, 4),
        liquidatable: false,
      });
      const { collateralUsd = null, debtUsd = null } = health[index] ?? {};
      expect(usdUnits(collateralUsd) - own.collateral).toBeLessThanOrEqual(50n);
      expect(usdUnits(debtUsd) - own.debt).toBeLessThanOrEqual(50n);
    }
  });

  it("shows the distance just beyond which the pool liquidates", async () => {
    await expectLiquidationPoint(stage, reader, main, weth);
  });

  it("shows the thresholds of the e-mode, by which the pool liquidates", async () => {
    const { deployer, walletKey } = stage;
    const before = (await stage.snapshot(reader)).health[1];
    const category = [1n, 9_300n, 9_500n, 10_100n, `0x${"00".repeat(20)}`, "Dollars"];
    await deployer.send(second.configurator, "setEModeCategory", category);
    for (const { address } of [fund, usdc]) {
      await deployer.send(second.configurator, "setAssetEModeCategory", [address, 1n]);
    }
    expect((await stage.snapshot(reader)).health[1]).toMatchObject({ liquidationThreshold: "0.85" });
    await deployer.send(second.pool, "setUserEMode", [1n], { key: walletKey });
    const { factor, threshold } = await readAccountData(stage, second);
    const within = (await stage.snapshot(reader)).health[1];
    expect(threshold).toBe(9_500n);
    expect(within).toMatchObject({ liquidationThreshold: "0.95", healthFactor: formatUsd(factor, 18) });
    expect(Number(within?.distanceToLiquidation)).toBeGreaterThan(Number(before?.distanceToLiquidation));
    await expectLiquidationPoint(stage, reader, second, fund);
  });
});
