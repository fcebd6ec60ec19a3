// Yearn v3: a tokenized strategy that its registry endorses, with fees, profit, loss and shutdown, on Yearn's own contracts.
//
// Vaults of several strategies are written in Vyper, which is not compiled here; they are not run.
import type { Hex } from "viem";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const USDC = 10n ** 6n;
const DAY = 86_400n;

/** Stands for the factory of vaults, which names the version and the protocol's share of fees. */
const FACTORY_SOURCE = `pragma solidity ^0.8.20;
contract Factory {
  string public apiVersion;
  address private immutable recipient = msg.sender;
  function setVersion(string calldata version) external { apiVersion = version; }
  function protocol_fee_config() external view returns (uint16, address) { return (1_000, recipient); }
}`;

type Yearn = {
  readonly strategy: DeployedContract;
  readonly source: DeployedContract;
  readonly registry: DeployedContract;
};

async function deployYearn({ deployer, chain, artifact }: Recorder, usdc: DeployedContract): Promise<Yearn> {
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const { Factory } = await compileSources({ "factory.sol": FACTORY_SOURCE });
  const factory = await deploy(Factory as Artifact);
  const implementation = await deploy(artifact("TokenizedStrategy"), [factory.address]);
  await send(factory, "setVersion", [await call(implementation, "apiVersion")]);
  // Strategies delegate to one address, at which Yearn deploys on every chain.
  const source = await deploy(artifact("MockYieldSource"), [usdc.address]);
  const code = (await chain.request("eth_getCode", [implementation.address, "latest"])) as Hex;
  await chain.setCode("0x2e234DAe75C793f67A35089C9d99245E1C58470b", code);
  const strategy = await deploy(artifact("MockStrategy"), [usdc.address, source.address]);
  const releases = await deploy(artifact("ReleaseRegistry"), [owner]);
  await send(releases, "newRelease", [factory.address, implementation.address]);
  const registry = await deploy(artifact("Registry"), [owner, "Test", releases.address]);
  return {
    ...{ source, registry },
    strategy: { address: strategy.address, abi: [...implementation.abi, ...strategy.abi] },
  };
}

export async function recordYearn(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, deployToken, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const usdc = await deployToken("USDC", 6);
  const { strategy, source, registry } = await deployYearn(recorder, usdc);
  const proofs = [{ kind: "yearnRegistry" as const, registry: registry.address }];
  const readers = [createErc4626Reader(new Map([[chain.chainId, { proofs, vaults: new Set<Hex>() }]]))];
  const recordMoment = async (name: string) => {
    const holding = await holdingOf(strategy);
    const isHeld = holding.rawBalance > 0n;
    const redeem = () => call(strategy, "redeem", [holding.rawBalance, wallet, wallet], { from: wallet });
    await record(name, {
      ...{ readers, listed: [await holdingOf(usdc)], holdings: isHeld ? [holding] : [] },
      views: { redeemed: isHeld ? await redeem() : 0n },
    });
  };

  await send(usdc, "mint", [wallet, 5_000n * USDC]);
  await send(usdc, "approve", [strategy.address, 5_000n * USDC], asWallet);
  await send(strategy, "deposit", [5_000n * USDC, wallet], asWallet);
  await recordMoment("not endorsed");
  await send(registry, "setEndorser", [chain.accounts.owner.address, true]);
  await send(registry, "endorseSingleStrategyVault", [strategy.address]);
  await recordMoment("endorsed");

  await send(usdc, "mint", [source.address, 600n * USDC]);
  await recordMoment("donated");
  await send(strategy, "report");
  await chain.increaseTime(5n * DAY);
  await chain.mine();
  await recordMoment("half of the profit unlocked");
  await chain.increaseTime(6n * DAY);
  await chain.mine();
  await recordMoment("all of the profit unlocked");
  await send(source, "simulateLoss", [900n * USDC]);
  await send(strategy, "report");
  await recordMoment("after a loss");
  await send(strategy, "shutdownStrategy");
  await recordMoment("shut down");
  await send(strategy, "redeem", [(await holdingOf(strategy)).rawBalance, wallet, wallet], asWallet);
  await recordMoment("emptied");
  recorder.write(file, { proofs, usdc: usdc.address, strategy: strategy.address });
}
