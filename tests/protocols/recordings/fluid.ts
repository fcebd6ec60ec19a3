// Fluid: fTokens over its liquidity layer, in use in part, paused and emptied, on Fluid's own contracts.
import { type Hex, toFunctionSelector } from "viem";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const USDC = 10n ** 6n;
const DAY = 86_400n;
const TYPE = "fToken";
const INTEREST_MODE = 1;

/** Fluid lends to contracts only. */
const BORROWER_SOURCE = `pragma solidity ^0.8.20;
interface Liquidity { function operate(address, int256, int256, address, address, bytes calldata) external; }
contract Debtor {
  function borrow(Liquidity liquidity, address token, int256 amount) external {
    liquidity.operate(token, 0, amount, address(0), msg.sender, "");
  }
}`;

type Fluid = {
  readonly liquidity: DeployedContract;
  readonly factory: DeployedContract;
  readonly fToken: DeployedContract;
  readonly debtor: DeployedContract;
};

async function deployFluid({ deployer, chain, artifact }: Recorder, usdc: DeployedContract): Promise<Fluid> {
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const dummy = await deploy(artifact("FluidLiquidityDummyImpl"));
  const proxy = await deploy(artifact("FluidLiquidityProxy"), [owner, dummy.address]);
  const admin = await deploy(artifact("FluidLiquidityAdminModuleOthers"), [10n ** 24n]);
  const user = await deploy(artifact("FluidLiquidityUserModuleOthers"));
  for (const { address, abi } of [admin, user]) {
    const selectors = abi.flatMap((item) => (item.type === "function" ? [toFunctionSelector(item)] : []));
    await send(proxy, "addImplementation", [address, selectors]);
  }
  const liquidity = { address: proxy.address, abi: [...proxy.abi, ...admin.abi, ...user.abi] };
  await send(liquidity, "updateAuths", [[{ addr: owner, value: true }]]);
  await send(liquidity, "updateGuardians", [[{ addr: owner, value: true }]]);
  const token = usdc.address;
  await send(liquidity, "updateRateDataV1s", [
    [
      {
        token,
        kink: 8_000n,
        rateAtUtilizationZero: 200n,
        rateAtUtilizationKink: 800n,
        rateAtUtilizationMax: 5_000n,
      },
    ],
  ]);
  await send(liquidity, "updateTokenConfigs", [
    [{ token, fee: 1_000n, threshold: 30n, maxUtilization: 10_000n }],
  ]);

  const factory = await deploy(artifact("FluidLendingFactory"), [liquidity.address, owner]);
  const { abi, bytecode } = artifact("fToken");
  await send(factory, "setFTokenCreationCode", [TYPE, bytecode]);
  await send(factory, "createToken", [token, TYPE, false]);
  const address = (await call<Hex>(factory, "computeToken", [token, TYPE])).toLowerCase() as Hex;
  const { Debtor } = await compileSources({ "debtor.sol": BORROWER_SOURCE });
  const debtor = await deploy(Debtor as Artifact);
  const limits = { token, mode: INTEREST_MODE, expandPercent: 2_500n, expandDuration: DAY };
  await send(liquidity, "updateUserSupplyConfigs", [
    [{ ...limits, user: address, baseWithdrawalLimit: 10_000n * USDC }],
  ]);
  const ceilings = { baseDebtCeiling: 10_000n * USDC, maxDebtCeiling: 20_000n * USDC };
  await send(liquidity, "updateUserBorrowConfigs", [[{ ...limits, user: debtor.address, ...ceilings }]]);
  return { liquidity, factory, debtor, fToken: { address, abi } };
}

export async function recordFluid(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, deployToken, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const usdc = await deployToken("USDC", 6);
  // A vault that owes more than the supply of its asset is not believed.
  await send(usdc, "mint", [chain.accounts.owner.address, 1_000_000n * USDC]);
  await send(usdc, "mint", [wallet, 5_000n * USDC]);
  const { liquidity, factory, fToken, debtor } = await deployFluid(recorder, usdc);
  const proofs = [
    { kind: "fluidLending" as const, registry: factory.address },
    { kind: "fluidLendingNative" as const, registry: factory.address },
  ];
  const readers = [createErc4626Reader(new Map([[chain.chainId, { proofs, vaults: new Set<Hex>() }]]))];
  const recordMoment = async (name: string) => {
    const holding = await holdingOf(fToken);
    await record(name, {
      ...{ readers, listed: [await holdingOf(usdc)] },
      holdings: holding.rawBalance === 0n ? [] : [holding],
      views: {
        assets: await call(fToken, "previewRedeem", [holding.rawBalance]),
        payable: await call(fToken, "maxWithdraw", [wallet]),
      },
    });
  };

  await send(usdc, "approve", [fToken.address, 5_000n * USDC], asWallet);
  await send(fToken, "deposit", [5_000n * USDC, wallet], asWallet);
  await recordMoment("idle");
  await send(debtor, "borrow", [liquidity.address, usdc.address, 3_900n * USDC]);
  await chain.increaseTime(300n * DAY);
  await chain.mine();
  await recordMoment("in use");
  await send(usdc, "mint", [liquidity.address, 2_000n * USDC]);
  await recordMoment("donated");
  await send(liquidity, "pauseUser", [fToken.address, [usdc.address], []]);
  await recordMoment("paused");
  await send(liquidity, "unpauseUser", [fToken.address, [usdc.address], []]);
  const shares = (await holdingOf(fToken)).rawBalance;
  await send(fToken, "transfer", [chain.accounts.owner.address, shares], asWallet);
  await recordMoment("emptied");
  recorder.write(file, { proofs, usdc: usdc.address, fToken: fToken.address });
}
