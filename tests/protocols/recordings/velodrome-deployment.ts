// Velodrome from its own contracts: the voter, pools with gauges, and Slipstream with its gauges.
import type { Abi, Hex } from "viem";
import type { TransferLog } from "../../../src/portfolio/types.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

/** Tokens, and what stands for the voting escrow: the voter asks it for the token of rewards only. */
const PARTS_SOURCE = `pragma solidity ^0.8.0;
import {ERC20} from "solmate/src/tokens/ERC20.sol";
contract Token is ERC20 {
  constructor(string memory symbol, uint8 decimals) ERC20(symbol, symbol, decimals) {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}
contract Escrow {
  address public token;
  constructor(address rewards) { token = rewards; }
}`;
/** The forwarder of signed calls, and the factory of the first version: neither is used. */
const UNUSED: Hex = `0x${"f0".repeat(20)}`;

type Tokens = readonly [DeployedContract, DeployedContract];
export type Velodrome = {
  readonly tokens: Tokens;
  readonly reward: DeployedContract;
  readonly voter: DeployedContract;
  readonly poolFactory: DeployedContract;
  readonly nftFactory: DeployedContract;
  /** The contract that its pools forward to. */
  readonly nftPoolCode: Hex;
  readonly manager: DeployedContract;
  readonly router: DeployedContract;
  readonly abis: Readonly<Record<"pool" | "gauge" | "nftGauge", Abi>>;
};

export async function deployVelodrome({
  deployer,
  chain,
  wallet,
  asWallet,
  artifact,
}: Recorder): Promise<Velodrome> {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const { Token, Escrow } = await compileSources({ "velodrome-parts.sol": PARTS_SOURCE });
  const deployToken = (symbol: string, decimals: number) => deploy(Token as Artifact, [symbol, decimals]);
  const [a, b] = [await deployToken("AAA", 6), await deployToken("BBB", 18)];
  const tokens: Tokens = a.address < b.address ? [a, b] : [b, a];
  const reward = await deployToken("VELO", 18);
  const escrow = await deploy(Escrow as Artifact, [reward.address]);
  const weth = await deploy(readArtifact("canonical-weth/build/contracts/WETH9.json"));
  const pool = artifact("Pool");
  const implementation = await deploy(pool);
  const poolFactory = await deploy(artifact("PoolFactory"), [implementation.address]);
  const rewardsFactory = await deploy(artifact("VotingRewardsFactory"));
  const gaugeFactory = await deploy(artifact("GaugeFactory"));
  const managedFactory = await deploy(artifact("ManagedRewardsFactory"));
  const registry = await deploy(artifact("FactoryRegistry"), [
    ...[poolFactory.address, rewardsFactory.address, gaugeFactory.address, managedFactory.address],
  ]);
  const voter = await deploy(artifact("Voter"), [UNUSED, escrow.address, registry.address, UNUSED]);
  const nftPool = await deploy(artifact("CLPool"));
  const nftFactory = await deploy(artifact("CLFactory"), [
    owner,
    owner,
    owner,
    voter.address,
    nftPool.address,
  ]);
  const manager = await deploy(artifact("NonfungiblePositionManager"), [
    ...[owner, nftFactory.address, weth.address, owner, "Slipstream", "SLIP"],
  ]);
  const router = await deploy(artifact("SwapRouter"), [nftFactory.address, weth.address]);
  const nftGauge = artifact("CLGauge");
  const nftGaugeFactory = await deploy(artifact("CLGaugeFactory"), [
    ...[owner, voter.address, manager.address, (await deploy(nftGauge)).address],
  ]);
  await send(registry, "approve", [nftFactory.address, rewardsFactory.address, nftGaugeFactory.address]);
  for (const token of tokens) {
    for (const [account, options] of [
      [owner, {}],
      [wallet, asWallet],
    ] as const) {
      await send(token, "mint", [account, 10n ** 30n]);
      for (const spender of [manager, router])
        await send(token, "approve", [spender.address, 1n << 255n], options);
    }
  }
  await send(reward, "mint", [owner, 10n ** 30n]);
  return {
    ...{ tokens, reward, voter, poolFactory, nftFactory, manager, router },
    nftPoolCode: nftPool.address,
    abis: { pool: pool.abi, gauge: artifact("Gauge").abi, nftGauge: nftGauge.abi },
  };
}

/** Creates the gauge of a pool, as the governor may. */
export async function createGauge(
  { deployer }: Recorder,
  { voter }: Velodrome,
  factory: DeployedContract,
  pool: Hex,
  abi: Abi,
): Promise<DeployedContract> {
  await deployer.send(voter, "createGauge", [factory.address, pool]);
  const address = await deployer.call<Hex>(voter, "gauges", [pool]);
  return { address: address.toLowerCase() as Hex, abi };
}

/** The amounts of both tokens that the wallet gets by a list of its own transactions, which are undone afterwards. */
export async function findPayout(
  { deployer, chain, wallet, asWallet }: Recorder,
  { tokens }: Velodrome,
  steps: readonly (readonly [DeployedContract, string, readonly unknown[]])[],
): Promise<readonly bigint[]> {
  const balances = () =>
    Promise.all(tokens.map((token) => deployer.call<bigint>(token, "balanceOf", [wallet])));
  const snapshot = await chain.request("evm_snapshot", []);
  const before = await balances();
  for (const [contract, name, args] of steps) await deployer.send(contract, name, args, asWallet);
  const after = await balances();
  await chain.request("evm_revert", [snapshot]);
  return after.map((balance, index) => balance - (before[index] ?? 0n));
}

/** The transfers that put tokens, or an NFT, into gauges. */
export function listDeposits(
  wallet: Hex,
  deposits: readonly (readonly [token: Hex, gauge: Hex])[],
  tokenId: bigint | null = null,
): readonly TransferLog[] {
  return deposits.map(([contract, to], logIndex) => ({
    ...{
      contract,
      from: wallet,
      to,
      isErc721: tokenId !== null,
      tokenId,
      amount: tokenId === null ? 1n : null,
    },
    ...{ transactionHash: `0x${"11".repeat(32)}`, blockNumber: 1, blockTimestamp: null, logIndex },
  }));
}
