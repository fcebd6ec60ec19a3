// PancakeSwap v3 on its own bytecode: NFTs in the wallet and in MasterChef v3 are worth what the manager would pay for them.
import { concatHex, type Hex, numberToHex, size } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIQUIDITY_NFT_MARKETS } from "../../../src/portfolio/positions/uniswap-v3/contracts.ts";
import { createUniswapV3Reader } from "../../../src/portfolio/positions/uniswap-v3/reader.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { amountsOf, type LiquidityStage, startLiquidityStage } from "./liquidity-stage.ts";
import { type Fork, type TickRange, UniswapV3Deployment } from "./uniswap-v3-deployment.ts";

const CORE = "@pancakeswap/v3-core/artifacts/contracts";
const PERIPHERY = "@pancakeswap/v3-periphery/artifacts/contracts";
const MASTER_CHEF = "@pancakeswap/masterchef-v3/artifacts/contracts/MasterChefV3.sol/MasterChefV3.json";
const AMOUNT = 10n ** 18n;
const Q128 = 1n << 128n;
const FEE = 2500;
const [IN_RANGE, BELOW, ABOVE]: readonly TickRange[] = [
  [-6_000, 6_000],
  [-12_000, -6_050],
  [6_050, 12_000],
];

// No package has the deployer of pools and the pool of rewards. The first creates what the package has for pools; the
// second counts a reward as a test says, whatever happens in the pool.
const PARTS = `pragma solidity ^0.8.0;
contract PoolDeployer {
  struct Parameters { address factory; address token0; address token1; uint24 fee; int24 tickSpacing; }
  Parameters public parameters;
  address private immutable code;
  constructor(address code_) { code = code_; }
  function deploy(address f, address a, address b, uint24 fee, int24 spacing) external returns (address pool) {
    parameters = Parameters(f, a, b, fee, spacing);
    bytes memory creation = code.code;
    bytes32 salt = keccak256(abi.encode(a, b, fee));
    assembly { pool := create2(0, add(creation, 32), mload(creation), salt) }
    require(pool != address(0));
    delete parameters;
  }
}
contract RewardPool {
  uint256 public growth;
  function set(uint256 growth_) external { growth = growth_; }
  function updatePosition(int24, int24, int128) external {}
  function accumulateReward(uint32) external {}
  function crossLmTick(int24, bool) external {}
  function getRewardGrowthInside(int24, int24) external view returns (uint256) { return growth; }
  function deploy(address) external view returns (address) { return address(this); }
}`;

let poolDeployer: Hex;
let parts: Readonly<Record<string, Artifact>>;

const PANCAKESWAP: Fork = {
  fee: FEE,
  async deploy({ deployer, wallet }) {
    const periphery = (name: string) => readArtifact(`${PERIPHERY}/${name}.sol/${name}.json`);
    const { address: weth } = await deployer.deploy(
      readArtifact("canonical-weth/build/contracts/WETH9.json"),
    );
    const pool = readArtifact(`${CORE}/PancakeV3Pool.sol/PancakeV3Pool.json`).bytecode;
    // Stores the creation code of pools as the code of a contract: PUSH2, DUP1, PUSH1 10, CODECOPY, RETURN.
    const store = concatHex(["0x61", numberToHex(size(pool), { size: 2 }), "0x80600a3d393df3", pool]);
    const code = await deployer.deploy({ abi: [], bytecode: store });
    const pools = await deployer.deploy(parts.PoolDeployer as Artifact, [code.address]);
    poolDeployer = pools.address;
    const factory = await deployer.deploy(
      readArtifact(`${CORE}/PancakeV3Factory.sol/PancakeV3Factory.json`),
      [poolDeployer],
    );
    const shared = [poolDeployer, factory.address, weth];
    const manager = await deployer.deploy(periphery("NonfungiblePositionManager"), [...shared, wallet]);
    const router = await deployer.deploy(periphery("SwapRouter"), shared);
    return { factory, manager, router, weth };
  },
};

let stage: LiquidityStage;
let pancake: UniswapV3Deployment;
let chef: DeployedContract;
let rewards: DeployedContract;
let reader: PositionReader;

beforeAll(async () => {
  stage = await startLiquidityStage();
  parts = await compileSources({ "pancakeswap-parts.sol": PARTS });
  const { deployer, token0, token1, wallet } = stage;
  pancake = await UniswapV3Deployment.deploy(stage, PANCAKESWAP);
  const { factory, manager, weth } = pancake;
  const pool = await deployer.call<Hex>(factory, "getPool", [token0.address, token1.address, FEE]);
  rewards = await deployer.deploy(parts.RewardPool as Artifact);
  const cake = await stage.deployToken("CAKE", 18);
  chef = await deployer.deploy(readArtifact(MASTER_CHEF), [cake.address, manager.address, weth]);
  await deployer.send(chef, "setLMPoolDeployer", [rewards.address]);
  await deployer.send(factory, "setLmPoolDeployer", [wallet]);
  await deployer.send(factory, "setLmPool", [pool, rewards.address]);
  await deployer.send(chef, "add", [100n, pool, false]);
  const [shipped] = (LIQUIDITY_NFT_MARKETS.get(1) ?? []).filter(({ farm }) => farm !== undefined);
  if (!shipped) throw new Error("PancakeSwap is not in our data");
  const market = { ...shipped, manager: manager.address, poolDeployer, farm: chef.address };
  reader = createUniswapV3Reader(new Map([[31337, [market]]]));
}, 240_000);
afterAll(() => stage?.chain.stop());

/** The reader's amounts by id, and the amounts that the manager would pay to the owner of each NFT. */
async function compare(ids: readonly bigint[], staked: readonly bigint[] = []) {
  const { positions, warnings } = await stage.read(reader);
  const shown = Object.fromEntries(
    positions.map((position) => {
      const amounts = amountsOf(position);
      return [position.name, [amounts[stage.token0.address] ?? 0n, amounts[stage.token1.address] ?? 0n]];
    }),
  );
  const paid: Record<string, readonly bigint[]> = {};
  for (const id of ids) {
    const isStaked = staked.includes(id);
    paid[`PancakeSwap v3 #${id}, fee 0.25 %${isStaked ? ", staked" : ""}`] = await pancake.payout(
      ...([id, isStaked ? chef.address : stage.wallet] as const),
    );
  }
  return { shown, paid, warnings };
}

describe("PancakeSwap v3 on its own bytecode", () => {
  it("shows NFTs in and out of range, emptied and staked, as the manager would pay for them", async () => {
    const ids = await pancake.mint([IN_RANGE, BELOW, ABOVE, [-50, 50], IN_RANGE] as TickRange[], AMOUNT);
    await pancake.swap(2n * AMOUNT, false);
    await pancake.swap(AMOUNT / 3n, true);
    const before = await compare(ids);
    expect([before.shown, before.warnings]).toEqual([before.paid, []]);

    const [inRange, , , emptied] = ids as [bigint, bigint, bigint, bigint];
    await pancake.empty([emptied], { collect: false });
    const { deployer, wallet } = stage;
    await deployer.send(pancake.manager, "safeTransferFrom", [wallet, chef.address, inRange]);
    await deployer.send(rewards, "set", [5n * Q128]);
    await pancake.swap(AMOUNT / 2n, false);
    await pancake.swap(AMOUNT, true);
    const after = await compare(ids, [inRange]);
    expect([after.shown, after.warnings]).toEqual([after.paid, []]);
    // Staked NFTs go on earning fees, and a reward that is not shown.
    expect(await deployer.call<bigint>(chef, "pendingCake", [inRange])).toBeGreaterThan(0n);
    expect(await deployer.call<bigint>(chef, "balanceOf", [wallet])).toBe(1n);
    expect(Object.keys(after.shown)).toHaveLength(5);
  });
});
