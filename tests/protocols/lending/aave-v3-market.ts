// A market of Aave v3.0 on a local chain, from the bytecode that Aave published.
import type { Hex } from "../../../src/lib/hex.ts";
import type { AaveMarket } from "../../../src/portfolio/positions/aave-v3/markets.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract, Deployer } from "../support/deployer.ts";
import { deployFeed } from "./chainlink-feed.ts";

type Reserve = {
  readonly token: DeployedContract;
  readonly symbol: string;
  readonly decimals: number;
  /** Dollars with 8 decimals. */
  readonly price: bigint;
};
export type ListedReserve = Reserve & { readonly feed: DeployedContract };

export type AaveV3Market = {
  readonly pool: DeployedContract;
  readonly configurator: DeployedContract;
  readonly oracle: DeployedContract;
  readonly reserves: readonly ListedReserve[];
  /** The market as our data would have it, without the reserves named. */
  describe(name: string, without?: readonly DeployedContract[]): Promise<AaveMarket>;
};

const ZERO: Hex = `0x${"00".repeat(20)}`;
const RAY = 10n ** 27n;

/** `file` is below the package's contracts, without the name that is repeated. */
function artifact(folder: string, name: string, libraries: Readonly<Record<string, Hex>> = {}) {
  return readArtifact(`@aave/core-v3/artifacts/contracts/${folder}/${name}.sol/${name}.json`, libraries);
}

export async function deployAaveV3Market(
  deployer: Deployer,
  owner: Hex,
  reserves: readonly Reserve[],
): Promise<AaveV3Market> {
  const provider = await deployer.deploy(artifact("protocol/configuration", "PoolAddressesProvider"), [
    ...["A test", owner],
  ]);
  await deployer.send(provider, "setACLAdmin", [owner]);
  const acl = await deployer.deploy(artifact("protocol/configuration", "ACLManager"), [provider.address]);
  await deployer.send(provider, "setACLManager", [acl.address]);
  for (const role of ["addPoolAdmin", "addAssetListingAdmin", "addEmergencyAdmin"])
    await deployer.send(acl, role, [owner]);
  const { pool, configurator } = await deployPool(deployer, provider);
  const listed: ListedReserve[] = [];
  for (const reserve of reserves)
    listed.push({ ...reserve, feed: await deployFeed(deployer, reserve.price) });
  const oracle = await deployer.deploy(artifact("misc", "AaveOracle"), [
    provider.address,
    listed.map(({ token }) => token.address),
    listed.map(({ feed }) => feed.address),
    ...[ZERO, ZERO, 10n ** 8n],
  ]);
  await deployer.send(provider, "setPriceOracle", [oracle.address]);
  await initReserves(deployer, { provider, pool, configurator, owner }, listed);
  return {
    ...{ pool, configurator, oracle, reserves: listed },
    describe: (name, without = []) => describeMarket(deployer, { name, pool, oracle }, listed, without),
  };
}

async function deployPool(deployer: Deployer, provider: DeployedContract) {
  const logic = "protocol/libraries/logic";
  const libraries: Record<string, Hex> = {};
  const names = ["BorrowLogic", "BridgeLogic", "EModeLogic", "LiquidationLogic", "PoolLogic", "SupplyLogic"];
  for (const name of [...names, "ConfiguratorLogic", "FlashLoanLogic"])
    libraries[name] = (await deployer.deploy(artifact(logic, name, libraries))).address;
  const poolCode = artifact("protocol/pool", "Pool", libraries);
  const poolImplementation = await deployer.deploy(poolCode, [provider.address]);
  await deployer.send(provider, "setPoolImpl", [poolImplementation.address]);
  const configuratorCode = artifact("protocol/pool", "PoolConfigurator", libraries);
  const configuratorImplementation = await deployer.deploy(configuratorCode);
  await deployer.send(provider, "setPoolConfiguratorImpl", [configuratorImplementation.address]);
  const proxies = {
    pool: await deployer.call<Hex>(provider, "getPool"),
    configurator: await deployer.call<Hex>(provider, "getPoolConfigurator"),
  };
  return {
    pool: { address: proxies.pool.toLowerCase() as Hex, abi: poolCode.abi },
    configurator: { address: proxies.configurator.toLowerCase() as Hex, abi: configuratorCode.abi },
  };
}

type Core = {
  readonly provider: DeployedContract;
  readonly pool: DeployedContract;
  readonly configurator: DeployedContract;
  readonly owner: Hex;
};

async function initReserves(
  deployer: Deployer,
  { provider, pool, configurator, owner }: Core,
  reserves: readonly Reserve[],
): Promise<void> {
  const tokens = "protocol/tokenization";
  const [aToken, stable, variable] = [
    await deployer.deploy(artifact(tokens, "AToken"), [pool.address]),
    await deployer.deploy(artifact(tokens, "StableDebtToken"), [pool.address]),
    await deployer.deploy(artifact(tokens, "VariableDebtToken"), [pool.address]),
  ];
  const rates = await deployer.deploy(artifact("protocol/pool", "DefaultReserveInterestRateStrategy"), [
    ...[provider.address, (8n * RAY) / 10n, 0n, (4n * RAY) / 100n, (60n * RAY) / 100n],
    ...[(2n * RAY) / 100n, (60n * RAY) / 100n, (2n * RAY) / 100n, (8n * RAY) / 100n, (2n * RAY) / 10n],
  ]);
  const inputs = reserves.map(({ token, symbol, decimals }) => ({
    aTokenImpl: aToken.address,
    stableDebtTokenImpl: stable.address,
    variableDebtTokenImpl: variable.address,
    underlyingAssetDecimals: decimals,
    interestRateStrategyAddress: rates.address,
    underlyingAsset: token.address,
    ...{ treasury: owner, incentivesController: ZERO, params: "0x" },
    ...{ aTokenName: `Aave ${symbol}`, aTokenSymbol: `a${symbol}` },
    ...{ variableDebtTokenName: `Debt ${symbol}`, variableDebtTokenSymbol: `d${symbol}` },
    ...{ stableDebtTokenName: `Stable ${symbol}`, stableDebtTokenSymbol: `s${symbol}` },
  }));
  await deployer.send(configurator, "initReserves", [inputs]);
  for (const { token } of reserves) {
    await deployer.send(configurator, "configureReserveAsCollateral", [
      ...[token.address, 8_000n, 8_500n, 10_500n],
    ]);
    await deployer.send(configurator, "setReserveBorrowing", [token.address, true]);
  }
}

type ReserveData = { readonly aTokenAddress: Hex; readonly variableDebtTokenAddress: Hex };

async function describeMarket(
  deployer: Deployer,
  { name, pool, oracle }: { name: string; pool: DeployedContract; oracle: DeployedContract },
  listed: readonly Reserve[],
  without: readonly DeployedContract[],
): Promise<AaveMarket> {
  const known = listed.filter(({ token }) => !without.includes(token));
  const reserves = await Promise.all(
    known.map(async ({ token }) => {
      const data = await deployer.call<ReserveData>(pool, "getReserveData", [token.address]);
      return {
        underlying: token.address,
        aToken: data.aTokenAddress.toLowerCase() as Hex,
        debtToken: data.variableDebtTokenAddress.toLowerCase() as Hex,
      };
    }),
  );
  return { name, pool: pool.address, oracle: oracle.address, reserves };
}
