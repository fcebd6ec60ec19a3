// Venus on its own contracts, with an oracle and an access control of ours.
import { createVenusReader } from "../../../src/portfolio/positions/compound-v2/reader.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { Recorder } from "../support/recorder.ts";
import { recordAccount } from "./compound-v2-account.ts";

/** Every account may do everything, prices are what the owner says, and the reserve takes what it gets. */
const PARTS_SOURCE = `pragma solidity ^0.8.20;
contract AccessControl {
  function isAllowedToCall(address, string calldata) external pure returns (bool) { return true; }
}
contract Reserve {
  function updateAssetsState(address, address, uint8) external {}
}
contract Oracle {
  mapping(address => uint256) public getUnderlyingPrice;
  function set(address market, uint256 price) external { getUnderlyingPrice[market] = price; }
  function updatePrice(address) external {}
}`;
const UNIT = 10n ** 18n;
const BLOCKS_PER_YEAR = 2_628_000n;
const LOOP_MAX = 100n;
const CAP = 10n ** 40n;
/** The numbers of MINT, BORROW and ENTER_MARKET. */
const PAUSED_ACTIONS = [0, 2, 7];

export async function recordVenus(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, artifact, deployProxied } = recorder;
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const parts = await compileSources({ "venus-parts.sol": PARTS_SOURCE });
  const access = await deploy(parts.AccessControl as Artifact);
  const oracle = await deploy(parts.Oracle as Artifact);
  const reserve = await deploy(parts.Reserve as Artifact);
  // The owner stands for the registry of pools, which alone may add markets.
  const comptroller = await deployProxied("Comptroller", [owner]);
  await send(comptroller, "initialize", [LOOP_MAX, access.address]);
  await send(comptroller, "setPriceOracle", [oracle.address]);
  const rates = await deploy(artifact("JumpRateModelV2"), [
    ...[UNIT / 50n, UNIT / 5n, UNIT, (8n * UNIT) / 10n, access.address, false, BLOCKS_PER_YEAR],
  ]);
  await recordAccount(
    recorder,
    {
      ...{ title: "Venus", comptroller, oracle, createReader: createVenusReader },
      async list({ token, symbol, decimals, price }) {
        const market = await deployProxied("VToken", [false, BLOCKS_PER_YEAR, 5n * 10n ** 12n]);
        await send(market, "initialize", [
          ...[token.address, comptroller.address, rates.address, 10n ** BigInt(decimals + 10)],
          ...[`Venus ${symbol}`, `v${symbol}`, 8, owner, access.address],
          ...[{ shortfall: owner, protocolShareReserve: reserve.address }, UNIT / 10n],
        ]);
        await send(oracle, "set", [market.address, price * 10n ** BigInt(28 - decimals)]);
        await send(comptroller, "supportMarket", [market.address]);
        const factors = [(7n * UNIT) / 10n, (8n * UNIT) / 10n];
        await send(comptroller, "setCollateralFactor", [market.address, ...factors]);
        await send(comptroller, "setMarketSupplyCaps", [[market.address], [CAP]]);
        await send(comptroller, "setMarketBorrowCaps", [[market.address], [CAP]]);
        return market;
      },
      async approveDelegate(delegate) {
        await send(comptroller, "updateDelegate", [delegate, true], recorder.asWallet);
      },
      async pause(markets) {
        const addresses = markets.map(({ address }) => address);
        await send(comptroller, "setActionsPaused", [addresses, PAUSED_ACTIONS, true]);
        for (const address of addresses)
          await send(comptroller, "setCollateralFactor", [address, 0n, (8n * UNIT) / 10n]);
      },
    },
    file,
  );
}
