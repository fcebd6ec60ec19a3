// Venus by its own bytecode, the comptroller that Compound v2 and its forks share: a loan with interest, and its health.
import { beforeAll, describe, expect, it } from "vitest";
import { parseDecimal } from "../../../src/lib/decimal.ts";
import { createVenusReader } from "../../../src/portfolio/positions/compound-v2/reader.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { formatUsd, type LendingStage, startLendingStage } from "./lending-stage.ts";
import { deployVenusPool, type VenusPool } from "./venus-pool.ts";

const CHAIN_ID = 31337;
const WAD = 10n ** 18n;
const ETHER_PRICE = 3_123_456_789_012_345_678_900n;

let stage: LendingStage;
let weth: DeployedContract;
let usdc: DeployedContract;
let dai: DeployedContract;
let pool: VenusPool;
let vWeth: DeployedContract;
let vUsdc: DeployedContract;
let vDai: DeployedContract;
let reader: PositionReader;

async function mint(
  token: DeployedContract,
  market: DeployedContract,
  amount: bigint,
  by: "wallet" | "lender",
) {
  await stage.fund(token, market.address, amount, by);
  await stage.deployer.send(market, "mint", [amount], by === "wallet" ? { key: stage.walletKey } : {});
}

beforeAll(async () => {
  stage = await startLendingStage();
  const { deployer, lender, walletKey } = stage;
  weth = await stage.deployToken("WETH", 18);
  usdc = await stage.deployToken("USDC", 6);
  dai = await stage.deployToken("DAI", 18);
  const stable = { collateralFactor: (80n * WAD) / 100n, liquidationThreshold: (85n * WAD) / 100n };
  pool = await deployVenusPool(deployer, lender, [
    {
      ...{ token: weth, symbol: "WETH", decimals: 18, price: ETHER_PRICE },
      ...{ collateralFactor: (70n * WAD) / 100n, liquidationThreshold: (77n * WAD) / 100n },
    },
    { ...{ token: usdc, symbol: "USDC", decimals: 6, price: 999_900_000_000_000_000n }, ...stable },
    { ...{ token: dai, symbol: "DAI", decimals: 18, price: 1_000_100_000_000_000_000n }, ...stable },
  ]);
  [vWeth, vUsdc, vDai] = pool.markets as [DeployedContract, DeployedContract, DeployedContract];
  await mint(usdc, vUsdc, 1_000_000_000000n, "lender");
  await mint(weth, vWeth, 10n * WAD, "wallet");
  // Supplied, but in a market that the wallet does not enter: it secures nothing.
  await mint(dai, vDai, 5_000n * WAD, "wallet");
  const key = { key: walletKey };
  await deployer.send(pool.comptroller, "enterMarkets", [[vWeth.address]], key);
  await deployer.send(vUsdc, "borrow", [15_000_000000n], key);
  await stage.increaseTime(30n * 86_400n);
  await deployer.send(vUsdc, "accrueInterest");
  const comptroller = pool.comptroller.address;
  const markets = pool.markets.map(({ address }) => address);
  reader = createVenusReader(
    new Map([[CHAIN_ID, [{ name: "Venus", comptroller, nativeMarket: null, markets }]]]),
  );
}, 240_000);

/** The comptroller's figures for the wallet, in dollars with 18 decimals. */
async function liquidityOf(): Promise<{ readonly liquidity: bigint; readonly shortfall: bigint }> {
  const [, liquidity = 0n, shortfall = 0n] = await stage.deployer.call<bigint[]>(
    pool.comptroller,
    "getAccountLiquidity",
    [stage.wallet],
  );
  return { liquidity, shortfall };
}

/** Whether a liquidator gets through, by the market's own function. */
async function canLiquidate(): Promise<boolean> {
  await stage.fund(usdc, vUsdc.address, 1_000000n, "lender");
  return stage.deployer
    .call(vUsdc, "liquidateBorrow", [stage.wallet, 1_000000n, vWeth.address], { from: stage.lender })
    .then(
      () => true,
      () => false,
    );
}

/** With 18 decimals. */
function wad(text: string | null | undefined): bigint {
  const { units, scale } = parseDecimal(text ?? "NaN", "a ratio");
  return units * 10n ** BigInt(18 - scale);
}

describe("Venus", () => {
  it("shows the comptroller's health, without a market that was not entered", async () => {
    const { health, positions } = await stage.snapshot(reader);
    expect(positions.map(({ kind, name }) => `${kind} ${name}`).sort()).toHaveLength(3);
    const debt = await stage.deployer.call<bigint>(vUsdc, "borrowBalanceStored", [stage.wallet]);
    expect(debt).toBeGreaterThan(15_000_000000n);
    const debtUsd = debt * 999_900n;
    const collateralUsd = 10n * ETHER_PRICE;
    expect(health).toMatchObject([
      {
        ...{ protocol: "venus", contract: pool.comptroller.address, liquidatable: false },
        ...{ liquidationThreshold: "0.77", debtUsd: formatUsd((debtUsd + 500_000n) / 1_000_000n, 6) },
      },
    ]);
    const { liquidity, shortfall } = await liquidityOf();
    expect(shortfall).toBe(0n);
    const limitUsd = (collateralUsd * 77n) / 100n;
    // The comptroller cuts after each multiplication.
    const rest = limitUsd - debtUsd * 10n ** 6n - liquidity;
    expect(rest < 0n ? -rest : rest).toBeLessThan(10n ** 12n);
    const factor = (limitUsd * WAD) / (debtUsd * 10n ** 6n);
    const difference = wad(health[0]?.healthFactor) - factor;
    expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(1n);
  });

  it("shows the distance just beyond which the market liquidates", async () => {
    const { health } = await stage.snapshot(reader);
    const distance = wad(health[0]?.distanceToLiquidation);
    for (const [millionths, isSafe] of [
      [-2n, true],
      [2n, false],
    ] as const) {
      const lost = distance + millionths * 10n ** 12n;
      await pool.setPrice(vWeth, (ETHER_PRICE * (WAD - lost)) / WAD);
      expect((await liquidityOf()).shortfall === 0n).toBe(isSafe);
      expect(await canLiquidate()).toBe(!isSafe);
      expect((await stage.snapshot(reader)).health[0]).toMatchObject({ liquidatable: !isSafe });
    }
    await pool.setPrice(vWeth, ETHER_PRICE);
  });
});
