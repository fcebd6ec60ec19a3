// Compound v3: a loan with interest against a collateral, and managers of the account, on Comet's own contracts.
import { type Hex, pad, stringToHex } from "viem";
import { createCompoundV3Reader } from "../../../src/portfolio/positions/compound-v3/reader.ts";
import { RECORDED_SPENDER, RECORDED_THIEF } from "../../support/portfolio/recorded-exposure.ts";
import { deployFeed } from "../lending/chainlink-feed.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const UNIT = 10n ** 18n;
const MONTH = 30n * 86_400n;
const PRICES = { usdc: 99_990000n, weth: 3_123_45678901n, col: 2_000_00000000n };

type Part = { readonly token: DeployedContract; readonly feed: DeployedContract };
type Parts = Readonly<Record<keyof typeof PRICES, Part>>;

async function deployParts({ deployer, deployToken }: Recorder): Promise<Parts> {
  const part = async (symbol: string, decimals: number, price: bigint): Promise<Part> => ({
    token: await deployToken(symbol, decimals),
    feed: await deployFeed(deployer, price),
  });
  return {
    usdc: await part("USDC", 6, PRICES.usdc),
    weth: await part("WETH", 18, PRICES.weth),
    col: await part("COL", 18, PRICES.col),
  };
}

async function deployComet({ deployer, chain, artifact }: Recorder, { usdc, weth, col }: Parts) {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const factory = await deploy(artifact("AssetListFactory"));
  const names = {
    name32: pad(stringToHex("Test"), { dir: "right" }),
    symbol32: pad(stringToHex("T"), { dir: "right" }),
  };
  const extension = await deploy(artifact("CometExtAssetList"), [names, factory.address]);
  const collateral = ({ token, feed }: Part) => ({
    ...{ asset: token.address, priceFeed: feed.address, decimals: 18, supplyCap: 1_000_000n * UNIT },
    ...{ borrowCollateralFactor: (8n * UNIT) / 10n, liquidateCollateralFactor: (85n * UNIT) / 100n },
    liquidationFactor: (93n * UNIT) / 100n,
  });
  const comet = await deploy(artifact("CometWithExtendedAssetList"), [
    {
      ...{ governor: owner, pauseGuardian: owner, extensionDelegate: extension.address },
      ...{ baseToken: usdc.token.address, baseTokenPriceFeed: usdc.feed.address },
      ...{ supplyKink: (8n * UNIT) / 10n, supplyPerYearInterestRateBase: 0n },
      ...{ supplyPerYearInterestRateSlopeLow: UNIT / 30n, supplyPerYearInterestRateSlopeHigh: UNIT / 2n },
      ...{ borrowKink: (8n * UNIT) / 10n, borrowPerYearInterestRateBase: UNIT / 100n },
      ...{ borrowPerYearInterestRateSlopeLow: UNIT / 20n, borrowPerYearInterestRateSlopeHigh: UNIT },
      ...{ storeFrontPriceFactor: UNIT / 2n, trackingIndexScale: 10n ** 15n, baseTrackingSupplySpeed: 0n },
      ...{ baseTrackingBorrowSpeed: 0n, baseMinForRewards: 1_000_000n, baseBorrowMin: 1_000_000n },
      ...{ targetReserves: 10n ** 12n, assetConfigs: [collateral(weth), collateral(col)] },
    },
  ]);
  // The market hands what it does not know to its extension.
  const market: DeployedContract = { address: comet.address, abi: [...comet.abi, ...extension.abi] };
  await send(market, "initializeStorage");
  return market;
}

export async function recordCompoundV3(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet } = recorder;
  const { send, call } = deployer;
  const parts = await deployParts(recorder);
  const market = await deployComet(recorder, parts);
  const { usdc, col } = parts;
  const supply = async ({ token }: Part, amount: bigint, options: { readonly key?: Hex } = {}) => {
    await send(token, "mint", [options.key ? wallet : chain.accounts.owner.address, amount]);
    await send(token, "approve", [market.address, amount], options);
    await send(market, "supply", [token.address, amount], options);
  };
  await supply(usdc, 5_000_000_000000n);
  await supply(col, 500n * UNIT, asWallet);
  await send(market, "withdraw", [usdc.token.address, 700_000_000000n], asWallet);
  await chain.increaseTime(MONTH);
  await send(usdc.feed, "set", [PRICES.usdc, 0n]);
  await send(col.feed, "set", [PRICES.col, 0n]);
  const markets = [{ name: "Test", comet: market.address, isInDollars: true }];
  const readers = [createCompoundV3Reader(new Map([[chain.chainId, markets]]))];
  const readViews = async () => ({
    borrowed: await call(market, "borrowBalanceOf", [wallet]),
    collateral: await call(market, "collateralBalanceOf", [wallet, col.token.address]),
    collateralPrice: await call(market, "getPrice", [col.feed.address]),
    basePrice: await call(market, "getPrice", [usdc.feed.address]),
  });
  await recorder.record("borrowed", { readers, views: await readViews() });
  for (const manager of [RECORDED_SPENDER, RECORDED_THIEF])
    await send(market, "allow", [manager, true], asWallet);
  await recorder.recordExposed("with managers", { readers, views: await readViews() });
  recorder.write(file, {
    ...{ comet: market.address, base: usdc.token.address, collateral: col.token.address },
  });
}
