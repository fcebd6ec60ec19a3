// Moonwell on its own contracts, with price feeds of ours.
import { createMoonwellReader } from "../../../src/portfolio/positions/compound-v2/reader.ts";
import { deployFeed } from "../lending/chainlink-feed.ts";
import type { Recorder } from "../support/recorder.ts";
import { recordAccount } from "./compound-v2-account.ts";

const UNIT = 10n ** 18n;

export async function recordMoonwell(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, artifact } = recorder;
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const implementation = await deploy(artifact("Comptroller"));
  const unitroller = await deploy(artifact("Unitroller"));
  await send(unitroller, "_setPendingImplementation", [implementation.address]);
  await send(implementation, "_become", [unitroller.address]);
  const comptroller = { address: unitroller.address, abi: implementation.abi };
  const oracle = await deploy(artifact("ChainlinkOracle"), ["no native market"]);
  await send(comptroller, "_setPriceOracle", [oracle.address]);
  await send(comptroller, "_setCloseFactor", [UNIT / 2n]);
  const rates = await deploy(artifact("JumpRateModel"), [UNIT / 50n, UNIT / 5n, UNIT, (8n * UNIT) / 10n]);
  const delegate = await deploy(artifact("MErc20Delegate"));
  await recordAccount(
    recorder,
    {
      ...{ title: "Moonwell", comptroller, oracle, createReader: createMoonwellReader },
      async list({ token, symbol, decimals, price }) {
        const feed = await deployFeed(deployer, price);
        await send(oracle, "setFeed", [symbol, feed.address]);
        const market = await deploy(artifact("MErc20Delegator"), [
          ...[token.address, comptroller.address, rates.address, 2n * 10n ** BigInt(decimals + 8)],
          ...[`Moonwell ${symbol}`, `m${symbol}`, 8, owner, delegate.address, "0x"],
        ]);
        await send(comptroller, "_supportMarket", [market.address]);
        await send(comptroller, "_setCollateralFactor", [market.address, (7n * UNIT) / 10n]);
        return market;
      },
      async pause(markets) {
        for (const { address } of markets) {
          await send(comptroller, "_setMintPaused", [address, true]);
          await send(comptroller, "_setBorrowPaused", [address, true]);
          await send(comptroller, "_setCollateralFactor", [address, 0n]);
        }
      },
    },
    file,
  );
}
