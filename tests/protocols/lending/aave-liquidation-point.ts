// Moves the price of a collateral in a market of Aave v3 just before and just beyond the distance that the service computed.
import { expect } from "vitest";
import { parseDecimal } from "../../../src/lib/decimal.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { AaveV3Market } from "./aave-v3-market.ts";
import { formatUsd, type LendingStage } from "./lending-stage.ts";

const WAD = 10n ** 18n;

type AccountData = { readonly collateral: bigint; readonly debt: bigint; readonly threshold: bigint };

/** The wallet's account by the pool: dollars with 8 decimals, the factor with 18. */
export async function readAccountData(
  { deployer, wallet }: LendingStage,
  { pool }: AaveV3Market,
): Promise<AccountData & { readonly factor: bigint }> {
  const data = await deployer.call<bigint[]>(pool, "getUserAccountData", [wallet]);
  const [collateral = 0n, debt = 0n, , threshold = 0n, , factor = 0n] = data;
  return { collateral, debt, threshold, factor };
}

/** `collateral` is the only one of the wallet in this market. */
export async function expectLiquidationPoint(
  stage: LendingStage,
  reader: PositionReader,
  market: AaveV3Market,
  collateral: DeployedContract,
): Promise<void> {
  const healthNow = async () => {
    const { health } = await stage.snapshot(reader);
    return health.find(({ contract }) => contract === market.pool.address);
  };
  const distance = parseDecimal((await healthNow())?.distanceToLiquidation ?? "NaN", "distance");
  const reserve = market.reserves.find(({ token }) => token.address === collateral.address);
  if (!reserve) throw new Error("no reserve of the collateral");
  const { feed, price } = reserve;
  for (const [millionths, isSafe] of [
    [-50n, true],
    [50n, false],
  ] as const) {
    const lost = distance.units * 10n ** BigInt(18 - distance.scale) + millionths * 10n ** 12n;
    await stage.deployer.send(feed, "set", [(price * (WAD - lost)) / WAD, 0n]);
    const { factor } = await readAccountData(stage, market);
    expect(factor >= WAD).toBe(isSafe);
    expect(await healthNow()).toMatchObject({ liquidatable: !isSafe, healthFactor: formatUsd(factor, 18) });
  }
  await stage.deployer.send(feed, "set", [price, 0n]);
}
