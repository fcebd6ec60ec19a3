// Euler: vaults that lend, with and without a governor that Euler vouches for, on Euler's own contracts.
import { concat, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { RECORDED_SPENDER, RECORDED_THIEF } from "../../support/portfolio/recorded-exposure.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const USDC = 10n ** 6n;
const UNIT = 10n ** 18n;
const YEAR = 365n * 86_400n;
const MODULES = [
  ...["initialize", "token", "vault", "borrowing", "liquidation", "riskManager", "balanceForwarder"],
  "governance",
] as const;
/** Bits of the operations that a vault can disable. */
const WITHDRAW_AND_REDEEM = 4 + 8;

type Euler = {
  readonly connector: DeployedContract;
  readonly factory: DeployedContract;
  readonly governed: DeployedContract;
  readonly escrow: DeployedContract;
  /** An open vault of the asset; every operation is allowed. */
  createVault(asset: DeployedContract, oracle?: Hex, unit?: Hex): Promise<DeployedContract>;
};

async function deployEuler({ deployer, chain, artifact }: Recorder): Promise<Euler> {
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const connector = await deploy(artifact("EthereumVaultConnector"));
  const integrations = {
    evc: connector.address,
    protocolConfig: (await deploy(artifact("ProtocolConfig"), [owner, owner])).address,
    sequenceRegistry: (await deploy(artifact("SequenceRegistry"))).address,
    ...{ balanceTracker: zeroAddress, permit2: zeroAddress },
  };
  const modules: Record<string, Hex> = {};
  for (const name of MODULES) {
    const contract = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    modules[name] = (await deploy(artifact(contract), [integrations])).address;
  }
  const implementation = await deploy(artifact("EVault"), [integrations, modules]);
  const factory = await deploy(artifact("GenericFactory"), [owner]);
  await send(factory, "setImplementation", [implementation.address]);
  return {
    ...{ connector, factory },
    governed: await deploy(artifact("GovernedPerspective"), [connector.address, owner]),
    escrow: await deploy(artifact("EscrowedCollateralPerspective"), [factory.address]),
    async createVault(asset, oracle = zeroAddress, unit = zeroAddress) {
      const args = [zeroAddress, true, concat([asset.address, oracle, unit])];
      const address = (await call<Hex>(factory, "createProxy", args, { from: owner })).toLowerCase() as Hex;
      await send(factory, "createProxy", args);
      const vault = { address, abi: implementation.abi };
      await send(vault, "setHookConfig", [zeroAddress, 0]);
      return vault;
    },
  };
}

type Vaults = Readonly<Record<"lending" | "escrowed" | "nested" | "usdc" | "weth", DeployedContract>>;

/** One vault that lends USDC against the shares of one with WETH, and one of the shares of the first. */
async function createVaults(recorder: Recorder, { createVault }: Euler): Promise<Vaults> {
  const { deployer, chain, wallet, artifact, deployToken } = recorder;
  const { deploy, send } = deployer;
  const usdc = await deployToken("USDC", 6);
  const weth = await deployToken("WETH", 18);
  const oracle = await deploy(artifact("MockPriceOracle"));
  await send(oracle, "setPrice", [usdc.address, weth.address, UNIT]);
  await send(oracle, "setPrice", [weth.address, weth.address, 3_000n * USDC]);
  await send(usdc, "mint", [wallet, 5_000n * USDC]);
  for (const account of [wallet, chain.accounts.owner.address])
    await send(weth, "mint", [account, 20n * UNIT]);
  const lending = await createVault(usdc, oracle.address, weth.address);
  return { usdc, weth, lending, escrowed: await createVault(weth), nested: await createVault(lending) };
}

export async function recordEuler(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, holdingOf } = recorder;
  const { send, call } = deployer;
  const euler = await deployEuler(recorder);
  const vaults = await createVaults(recorder, euler);
  const { lending, escrowed, nested, usdc, weth } = vaults;
  const proofs = [
    { kind: "eulerFactory" as const, registry: euler.factory.address },
    { kind: "eulerGoverned" as const, registry: euler.governed.address },
    { kind: "eulerEscrow" as const, registry: euler.escrow.address },
  ];
  const eulerConnector = euler.connector.address;
  const registry = { eulerConnector, proofs, vaults: new Set<Hex>() };
  const readers = [createErc4626Reader(new Map([[chain.chainId, registry]]))];
  const recordMoment = async (
    name: string,
    vault: DeployedContract,
    views: object = {},
    method: RecordMethod = "record",
  ) => {
    const holding = await holdingOf(vault);
    const assets = await call<bigint>(vault, "convertToAssets", [holding.rawBalance]);
    await recorder[method](name, {
      ...{ readers, listed: [await holdingOf(usdc), await holdingOf(weth)] },
      holdings: holding.rawBalance === 0n ? [] : [holding],
      views: {
        ...{ assets, redeemable: await call(vault, "previewRedeem", [holding.rawBalance]) },
        payable: await call(vault, "maxWithdraw", [wallet]),
        inner: vault === nested ? await call(lending, "convertToAssets", [assets]) : null,
        ...views,
      },
    });
  };
  const deposit = async (vault: DeployedContract, asset: DeployedContract, amount: bigint) => {
    await send(asset, "approve", [vault.address, amount], asWallet);
    await send(vault, "deposit", [amount, wallet], asWallet);
  };

  await deposit(lending, usdc, 1_000n * USDC);
  await deposit(escrowed, weth, 3n * UNIT);
  await recordMoment("idle", lending);
  await borrowMost(recorder, euler, vaults);
  await recordMoment("in use", lending);
  await send(euler.governed, "perspectiveVerify", [lending.address, true]);
  await recordMoment("in use and governed", lending);
  await send(usdc, "mint", [lending.address, 500n * USDC]);
  await recordMoment("donated", lending);
  await deposit(nested, lending, 400n * USDC);
  await recordMoment("nested", nested);
  await send(euler.governed, "perspectiveVerify", [nested.address, true]);
  await recordMoment("nested and governed", nested);
  await send(lending, "setHookConfig", [zeroAddress, WITHDRAW_AND_REDEEM]);
  await recordMoment("disabled and governed", lending);
  await send(euler.governed, "perspectiveUnverify", [lending.address]);
  await recordMoment("disabled", lending);
  await send(lending, "setHookConfig", [zeroAddress, 0]);
  await recordCollateral(recorder, euler, vaults, (name, views, method) =>
    recordMoment(name, escrowed, views, method),
  );
  const addresses = Object.entries(vaults).map(([name, { address }]) => [name, address]);
  recorder.write(file, { eulerConnector, proofs, ...Object.fromEntries(addresses) });
}

type RecordMethod = "record" | "recordExposed";
type RecordMoment = (name: string, views?: object, method?: RecordMethod) => Promise<void>;

/** The vault with WETH: while it secures loans of the wallet, as an escrow that Euler verified, and empty. */
async function recordCollateral(
  recorder: Recorder,
  euler: Euler,
  vaults: Vaults,
  recordMoment: RecordMoment,
): Promise<void> {
  const { deployer, chain, wallet, asWallet } = recorder;
  const { connector, escrow } = euler;
  const { lending, escrowed, usdc } = vaults;
  const { send, call } = deployer;
  await send(connector, "enableCollateral", [wallet, escrowed.address], asWallet);
  await send(connector, "enableController", [wallet, lending.address], asWallet);
  await recordMoment("before a loan");
  await send(lending, "borrow", [50n * USDC, wallet], asWallet);
  // Interest that no transaction has collected.
  await chain.increaseTime(YEAR / 12n);
  await chain.mine();
  const owed = { debt: await call(lending, "debtOf", [wallet]), debtToken: await call(lending, "dToken") };
  await recordMoment("with a loan", owed);
  await send(escrowed, "setHookConfig", [zeroAddress, WITHDRAW_AND_REDEEM]);
  await recordMoment("with a loan, disabled", owed);
  await send(escrowed, "setHookConfig", [zeroAddress, 0]);
  await send(usdc, "approve", [lending.address, 100n * USDC], asWallet);
  await send(lending, "repay", [2n ** 256n - 1n, wallet], asWallet);
  await send(lending, "disableController", [], asWallet);
  await recordSubAccount(recorder, euler, vaults, recordMoment);

  await send(escrowed, "setGovernorAdmin", [zeroAddress]);
  await send(escrow, "perspectiveVerify", [escrowed.address, true]);
  await recordMoment("escrow");
  await send(escrowed, "redeem", [3n * UNIT, wallet, wallet], asWallet);
  await recordMoment("emptied");
}

/** The seventh sub-account of the wallet has collateral and a loan of its own; at the end no lender. */
async function recordSubAccount(
  { deployer, wallet, asWallet }: Recorder,
  { connector }: Euler,
  { lending, escrowed, weth, usdc }: Vaults,
  recordMoment: RecordMoment,
): Promise<void> {
  const { send, call } = deployer;
  const account: Hex = `0x${(BigInt(wallet) ^ 7n).toString(16).padStart(40, "0")}`;
  await send(weth, "approve", [escrowed.address, UNIT], asWallet);
  await send(escrowed, "deposit", [UNIT, account], asWallet);
  await send(connector, "enableCollateral", [account, escrowed.address], asWallet);
  await send(connector, "enableController", [account, lending.address], asWallet);
  const borrow = encodeFunctionData({ abi: lending.abi, functionName: "borrow", args: [20n * USDC, wallet] });
  await send(connector, "call", [lending.address, account, 0n, borrow], asWallet);
  const views = async () => ({
    collateral: await call(escrowed, "convertToAssets", [await call(escrowed, "balanceOf", [account])]),
    debt: await call(lending, "debtOf", [account]),
  });
  await recordMoment("with a loan of a sub-account", await views());
  await send(connector, "setAccountOperator", [wallet, RECORDED_SPENDER, true], asWallet);
  await send(connector, "setAccountOperator", [account, RECORDED_THIEF, true], asWallet);
  await recordMoment("with operators", await views(), "recordExposed");
  await send(usdc, "approve", [lending.address, 100n * USDC], asWallet);
  await send(lending, "repay", [2n ** 256n - 1n, account], asWallet);
  await recordMoment("with a repaid sub-account");
  const leave = encodeFunctionData({ abi: lending.abi, functionName: "disableController" });
  await send(connector, "call", [lending.address, account, 0n, leave], asWallet);
}

/** The owner borrows seven tenths of the vault and pays interest for a year, of which the vault keeps a fee. */
async function borrowMost(
  { deployer, chain, artifact }: Recorder,
  { connector }: Euler,
  { lending, escrowed, weth }: Vaults,
): Promise<void> {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  // Ten percent a year or so, per second in units of 27 decimals.
  const rates = await deploy(artifact("IRMLinearKink"), [3_170979198376458650n, 0n, 0n, 2 ** 31]);
  await send(lending, "setInterestRateModel", [rates.address]);
  await send(lending, "setInterestFee", [2_000]);
  await send(lending, "setLTV", [escrowed.address, 8_000, 9_000, 0]);
  await send(weth, "approve", [escrowed.address, 10n * UNIT]);
  await send(escrowed, "deposit", [10n * UNIT, owner]);
  await send(connector, "enableCollateral", [owner, escrowed.address]);
  await send(connector, "enableController", [owner, lending.address]);
  await send(lending, "borrow", [700n * USDC, owner]);
  await chain.increaseTime(YEAR);
  await chain.mine();
}
