// Aave's stakes and wrapped deposits: the Safety Module, Umbrella and static tokens, on Aave's own contracts.
import type { Hex } from "viem";
import { createAaveStakingReader } from "../../../src/portfolio/positions/aave-staking/reader.ts";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { type AaveV3Market, deployAaveV3Market } from "../lending/aave-v3-market.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const UNIT = 10n ** 18n;
const USDC = 10n ** 6n;
const RAY = 10n ** 27n;
const DAY = 86_400n;

/** Stands for controllers of rewards, which hear of every transfer; and for a view that Aave's npm package lacks. */
const STAND_IN_SOURCE = `pragma solidity ^0.8.20;
contract Rewards {
  function getRewardsByAsset(address) external pure returns (address[] memory) {}
  fallback() external {}
}
contract PoolViews {
  mapping(address => address) public getReserveAToken;
  function set(address asset, address aToken) external { getReserveAToken[asset] = aToken; }
}`;

async function deployStandIn(
  { deployer }: Recorder,
  name: "Rewards" | "PoolViews",
): Promise<DeployedContract> {
  const contracts = await compileSources({ "stand-in.sol": STAND_IN_SOURCE });
  return deployer.deploy(contracts[name] as Artifact);
}

async function deploySafetyModule(recorder: Recorder, aave: DeployedContract): Promise<DeployedContract> {
  const { deployer, chain, deployProxied } = recorder;
  const owner = chain.accounts.owner.address;
  const constructorArgs = [aave.address, aave.address, 2n * DAY, owner, owner, 3_650n * DAY];
  const stake = await deployProxied("StakedAaveV3", constructorArgs);
  await deployer.send(stake, "initialize", [owner, owner, owner, 3_000n, 20n * DAY]);
  return stake;
}

async function deployUmbrella(
  recorder: Recorder,
  asset: DeployedContract,
  name: string,
): Promise<DeployedContract> {
  const { deployer, chain, deployProxied } = recorder;
  const rewards = await deployStandIn(recorder, "Rewards");
  const stake = await deployProxied("UmbrellaStakeToken", [rewards.address]);
  const owner = chain.accounts.owner.address;
  await deployer.send(stake, "initialize", [asset.address, name, name, owner, 20n * DAY, 2n * DAY]);
  return stake;
}

type Stata = {
  readonly factory: DeployedContract;
  readonly token: DeployedContract;
  readonly market: AaveV3Market;
};

/** With a market in which the owner has collateral to borrow USDC, so that deposits earn. */
async function deployStata(recorder: Recorder, usdc: DeployedContract): Promise<Stata> {
  const { deployer, chain, artifact, deployToken } = recorder;
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const weth = await deployToken("WETH", 18);
  const market = await deployAaveV3Market(deployer, owner, [
    { token: usdc, symbol: "USDC", decimals: 6, price: 10n ** 8n },
    { token: weth, symbol: "WETH", decimals: 18, price: 3_000n * 10n ** 8n },
  ]);
  const rewards = await deployStandIn(recorder, "Rewards");
  const implementation = await deploy(artifact("StataTokenV2"), [market.pool.address, rewards.address]);
  const views = await deployStandIn(recorder, "PoolViews");
  const { aTokenAddress } = await call<{ aTokenAddress: Hex }>(market.pool, "getReserveData", [usdc.address]);
  await send(views, "set", [usdc.address, aTokenAddress]);
  const proxies = await deploy(artifact("TransparentProxyFactory"));
  const factory = await deploy(artifact("StataTokenFactory"), [
    ...[views.address, owner, proxies.address, implementation.address],
  ]);
  await send(factory, "createStataTokens", [[usdc.address]]);
  const address = (await call<Hex>(factory, "getStataToken", [usdc.address])).toLowerCase() as Hex;
  await send(weth, "mint", [owner, 100n * UNIT]);
  await send(weth, "approve", [market.pool.address, 100n * UNIT]);
  await send(market.pool, "supply", [weth.address, 100n * UNIT, owner, 0]);
  return { factory, market, token: { address, abi: implementation.abi } };
}

type Stakes = Readonly<
  Record<"aave" | "gho" | "usdc" | "safetyModule" | "overToken" | "overVault", DeployedContract>
> & { readonly stata: Stata };

/** The wallet stakes all its AAVE, GHO and USDC, the last by way of the static token. */
async function stakeAll(recorder: Recorder): Promise<Stakes> {
  const { deployer, chain, wallet, asWallet, deployToken, holdingOf } = recorder;
  const { send } = deployer;
  const [aave, gho, usdc] = [
    ...[await deployToken("AAVE", 18), await deployToken("GHO", 18), await deployToken("USDC", 6)],
  ] as const;
  const safetyModule = await deploySafetyModule(recorder, aave);
  const stata = await deployStata(recorder, usdc);
  const overToken = await deployUmbrella(recorder, gho, "stkGHO.v1");
  const overVault = await deployUmbrella(recorder, stata.token, "stkwaUSDC.v1");
  const approve = (asset: DeployedContract, { address }: DeployedContract, amount: bigint) =>
    send(asset, "approve", [address, amount], asWallet);
  const deposit = async (vault: DeployedContract, asset: DeployedContract, amount: bigint) => {
    await approve(asset, vault, amount);
    await send(vault, "deposit", [amount, wallet], asWallet);
  };
  await send(aave, "mint", [wallet, 10n * UNIT]);
  await approve(aave, safetyModule, 10n * UNIT);
  await send(safetyModule, "stake", [wallet, 10n * UNIT], asWallet);
  await send(gho, "mint", [wallet, 2_000n * UNIT]);
  await deposit(overToken, gho, 2_000n * UNIT);
  await send(usdc, "mint", [wallet, 3_000n * USDC]);
  await deposit(stata.token, usdc, 3_000n * USDC);
  await send(stata.market.pool, "borrow", [usdc.address, 1_500n * USDC, 2n, 0, chain.accounts.owner.address]);
  await deposit(overVault, stata.token, (await holdingOf(stata.token)).rawBalance);
  await chain.increaseTime(100n * DAY);
  await chain.mine();
  return { aave, gho, usdc, safetyModule, stata, overToken, overVault };
}

/** After the cooldown. */
async function redeemAll({ deployer, chain, wallet, asWallet }: Recorder, stakes: Stakes): Promise<void> {
  const { send, call } = deployer;
  const { safetyModule, overToken, overVault } = stakes;
  const balance = (token: DeployedContract) => call<bigint>(token, "balanceOf", [wallet]);
  await chain.increaseTime(20n * DAY + 60n);
  await send(safetyModule, "redeem", [wallet, await balance(safetyModule)], asWallet);
  for (const token of [overToken, overVault])
    await send(token, "redeem", [await balance(token), wallet, wallet], asWallet);
}

async function setPaused({ deployer }: Recorder, stakes: Stakes, paused: boolean): Promise<void> {
  const { overToken, overVault, stata } = stakes;
  for (const token of [overToken, overVault]) await deployer.send(token, paused ? "pause" : "unpause");
  await deployer.send(stata.token, "setPaused", [paused]);
}

export async function recordAaveStaking(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const stakes = await stakeAll(recorder);
  const { aave, gho, usdc, safetyModule, overToken, overVault, stata } = stakes;
  const tokens = [
    { name: "stkAAVE", token: safetyModule.address, kind: "safety-module" as const },
    { name: "Umbrella GHO", token: overToken.address, kind: "vault" as const },
    { name: "Umbrella USDC", token: overVault.address, kind: "vault-of-vault" as const },
  ];
  const readers = [createAaveStakingReader(new Map([[chain.chainId, tokens]]))];
  const beginCooldown = async () => {
    for (const token of [safetyModule, overToken, overVault]) await send(token, "cooldown", [], asWallet);
  };
  /** Expects what the wallet is paid in the end, found by waiting for it. */
  const recordMoment = async (name: string, prepare = async () => {}) => {
    const listed = await Promise.all([aave, gho, usdc].map(holdingOf));
    const balance = (token: DeployedContract) => call<bigint>(token, "balanceOf", [wallet]);
    const snapshot = await chain.request("evm_snapshot");
    await prepare();
    await redeemAll(recorder, stakes);
    const paid = { aave: await balance(aave), gho: await balance(gho) };
    const shares = await balance(stata.token);
    await chain.request("evm_revert", [snapshot]);
    // Shares of the static token grow while one waits, so they count at today's income.
    const income = await call<bigint>(stata.market.pool, "getReserveNormalizedIncome", [usdc.address]);
    await record(name, { readers, listed, views: { ...paid, usdc: (shares * income) / RAY } });
  };

  await recordMoment("staked", beginCooldown);
  await beginCooldown();
  await recordMoment("in cooldown");
  const owner = chain.accounts.owner.address;
  await send(safetyModule, "slash", [owner, (29n * UNIT) / 10n]);
  await send(overToken, "slash", [owner, 333n * UNIT]);
  await send(overVault, "slash", [owner, 444n * USDC]);
  await recordMoment("slashed");
  await setPaused(recorder, stakes, true);
  await recordMoment("paused", () => setPaused(recorder, stakes, false));
  await setPaused(recorder, stakes, false);
  await send(safetyModule, "settleSlashing");
  await redeemAll(recorder, stakes);
  await record("emptied", { readers, views: {} });
  recorder.write(file, { tokens, aave: aave.address, gho: gho.address, usdc: usdc.address });
}

export async function recordStata(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, deployToken, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const usdc = await deployToken("USDC", 6);
  const { factory, token, market } = await deployStata(recorder, usdc);
  const proofs = [{ kind: "aaveStataFactory" as const, registry: factory.address }];
  const readers = [createErc4626Reader(new Map([[chain.chainId, { proofs, vaults: new Set<Hex>() }]]))];
  // The market's own figures about a deposit.
  const income = () => call<bigint>(market.pool, "getReserveNormalizedIncome", [usdc.address]);
  const recordMoment = async (name: string) => {
    const holding = await holdingOf(token);
    await record(name, {
      ...{ readers, listed: [await holdingOf(usdc)] },
      holdings: holding.rawBalance === 0n ? [] : [holding],
      views: { assets: (holding.rawBalance * (await income())) / RAY },
    });
  };

  await send(usdc, "mint", [wallet, 9_000n * USDC]);
  await send(usdc, "approve", [token.address, 3_000n * USDC], asWallet);
  await send(token, "deposit", [3_000n * USDC, wallet], asWallet);
  await send(market.pool, "borrow", [usdc.address, 2_000n * USDC, 2n, 0, chain.accounts.owner.address]);
  await chain.increaseTime(200n * DAY);
  await chain.mine();
  await recordMoment("in use");
  const { aTokenAddress } = await call<{ aTokenAddress: Hex }>(market.pool, "getReserveData", [usdc.address]);
  await send(usdc, "mint", [aTokenAddress, 5_000n * USDC]);
  await recordMoment("donated");
  await send(token, "setPaused", [true]);
  await recordMoment("paused");
  await send(token, "setPaused", [false]);
  const shares = (await holdingOf(token)).rawBalance;
  await send(token, "transfer", [chain.accounts.owner.address, shares], asWallet);
  await recordMoment("emptied");
  recorder.write(file, { proofs, usdc: usdc.address, stata: token.address });
}
