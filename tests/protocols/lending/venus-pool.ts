// An isolated pool of Venus on a local chain, from the bytecode that Venus published.
import { encodeFunctionData } from "viem";
import type { Hex } from "../../../src/lib/hex.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract, Deployer } from "../support/deployer.ts";

type Listing = {
  readonly token: DeployedContract;
  readonly symbol: string;
  readonly decimals: number;
  /** Dollars with 18 decimals, of one whole token. */
  readonly price: bigint;
  /** Parts of the value, with 18 decimals: up to which the wallet may borrow, and from which it is liquidated. */
  readonly collateralFactor: bigint;
  readonly liquidationThreshold: bigint;
};

export type VenusPool = {
  readonly comptroller: DeployedContract;
  /** In the order of the listings. */
  readonly markets: readonly DeployedContract[];
  setPrice(market: DeployedContract, price: bigint): Promise<void>;
};

const PACKAGE = "@venusprotocol/isolated-pools/artifacts";
const OPEN_ZEPPELIN = `${PACKAGE}/@openzeppelin/contracts/proxy/beacon`;
const ACCESS = `${PACKAGE}/@venusprotocol/governance-contracts/contracts/Governance/AccessControlManager.sol`;
const WAD = 10n ** 18n;
const UNLIMITED = 2n ** 256n - 1n;
const LOOPS_MAX = 100n;

const SETTINGS = [
  "setCloseFactor(uint256)",
  "setCollateralFactor(address,uint256,uint256)",
  "setLiquidationIncentive(uint256)",
  "setMarketBorrowCaps(address[],uint256[])",
  "setMarketSupplyCaps(address[],uint256[])",
];

const artifact = (name: string, folder = "") =>
  readArtifact(`${PACKAGE}/contracts/${folder}${name}.sol/${name}.json`);

/** The owner takes the place of the pool registry, which only lists markets. */
export async function deployVenusPool(
  deployer: Deployer,
  owner: Hex,
  listings: readonly Listing[],
): Promise<VenusPool> {
  const access = await deployer.deploy(readArtifact(`${ACCESS}/AccessControlManager.json`));
  const implementation = await deployer.deploy(artifact("Comptroller"), [owner]);
  const comptroller = await deployProxy(deployer, implementation, [LOOPS_MAX, access.address]);
  for (const signature of SETTINGS) {
    await deployer.send(access, "giveCallPermission", [comptroller.address, signature, owner]);
  }
  const oracle = await deployer.deploy(artifact("MockPriceOracle", "test/Mocks/"));
  await deployer.send(comptroller, "setPriceOracle", [oracle.address]);
  await deployer.send(comptroller, "setCloseFactor", [WAD / 2n]);
  await deployer.send(comptroller, "setLiquidationIncentive", [(11n * WAD) / 10n]);
  const rates = await deployer.deploy(artifact("WhitePaperInterestRateModel"), [WAD / 50n, WAD / 5n]);
  const code = await deployer.deploy(artifact("VToken"));
  const markets: DeployedContract[] = [];
  // The oracle counts the smallest units of all tokens in dollars with 36 decimals.
  const scaled = ({ decimals }: Listing, price: bigint) => price * 10n ** BigInt(18 - decimals);
  for (const listing of listings) {
    const { token, symbol, price, collateralFactor, liquidationThreshold } = listing;
    await deployer.send(oracle, "setPrice", [token.address, scaled(listing, price)]);
    const market = await deployProxy(deployer, code, [
      ...[token.address, comptroller.address, rates.address, WAD, `Venus ${symbol}`, `v${symbol}`, 8],
      ...[owner, access.address, { shortfall: owner, protocolShareReserve: owner }, WAD / 10n],
    ]);
    await deployer.send(comptroller, "supportMarket", [market.address]);
    for (const caps of ["setMarketSupplyCaps", "setMarketBorrowCaps"]) {
      await deployer.send(comptroller, caps, [[market.address], [UNLIMITED]]);
    }
    const factors = [market.address, collateralFactor, liquidationThreshold];
    await deployer.send(comptroller, "setCollateralFactor", factors);
    markets.push(market);
  }
  return {
    comptroller,
    markets,
    async setPrice(market, price) {
      const listing = listings[markets.indexOf(market)];
      if (!listing) throw new Error("no market of this pool");
      await deployer.send(oracle, "setPrice", [listing.token.address, scaled(listing, price)]);
    },
  };
}

/** As Venus deploys them: behind a beacon, and initialized at once. */
async function deployProxy(
  deployer: Deployer,
  { address, abi }: DeployedContract,
  args: readonly unknown[],
): Promise<DeployedContract> {
  const beacon = await deployer.deploy(
    readArtifact(`${OPEN_ZEPPELIN}/UpgradeableBeacon.sol/UpgradeableBeacon.json`),
    [address],
  );
  const data = encodeFunctionData({ abi, functionName: "initialize", args });
  const proxy = await deployer.deploy(readArtifact(`${OPEN_ZEPPELIN}/BeaconProxy.sol/BeaconProxy.json`), [
    ...[beacon.address, data],
  ]);
  return { address: proxy.address, abi };
}
