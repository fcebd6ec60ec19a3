// Uniswap v4 from its own artifacts: pool manager, position manager and StateView, with liquidity minted and burnt.
import { concatHex, encodeAbiParameters, type Hex, numberToHex, parseAbiParameters, zeroAddress } from "viem";
import type { UniswapV4Market } from "../../../src/portfolio/positions/uniswap-v4/contracts.ts";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { LiquidityStage } from "./liquidity-stage.ts";
import type { TickRange } from "./uniswap-v3-deployment.ts";

const CORE = "@uniswap/v4-core/out";
const PERIPHERY = "@uniswap/v4-periphery/foundry-out";
const PRICE_ONE = 1n << 96n;
const DEADLINE = 10n ** 12n;
const GAS = 10_000_000n;
const UINT128_MAX = (1n << 128n) - 1n;
/** Beyond any price that the tests reach. */
const PRICE_LIMITS = { down: 4_295_128_740n, up: 1n << 159n };

/** The manager's actions by their numbers, with the types of their parameters. */
const ACTIONS = {
  decrease: [0x01, "uint256, uint256, uint128, uint128, bytes"],
  mint: [
    0x02,
    "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks), int24, int24, uint256, uint128, uint128, address, bytes",
  ],
  burn: [0x03, "uint256, uint128, uint128, bytes"],
  settle: [0x0b, "address, uint256, bool"],
  takePair: [0x11, "address, address, address"],
} as const;

type Step = readonly [action: keyof typeof ACTIONS, ...parameters: readonly unknown[]];

export type PoolKey = {
  readonly currency0: Hex;
  readonly currency1: Hex;
  readonly fee: number;
  readonly tickSpacing: number;
  readonly hooks: Hex;
};

export class UniswapV4Deployment {
  readonly manager: DeployedContract;
  readonly market: UniswapV4Market;
  readonly #pools: DeployedContract;
  readonly #swapper: DeployedContract;
  readonly #stage: LiquidityStage;
  #recipients = 0;

  private constructor(
    stage: LiquidityStage,
    contracts: Record<"pools" | "manager" | "stateView" | "swapper", DeployedContract>,
  ) {
    const { pools, manager, stateView, swapper } = contracts;
    this.#stage = stage;
    this.#pools = pools;
    this.#swapper = swapper;
    this.manager = manager;
    this.market = { manager: manager.address, stateView: stateView.address, deployedAt: 0 };
  }

  static async deploy(stage: LiquidityStage): Promise<UniswapV4Deployment> {
    const { deployer, wallet, token0, token1 } = stage;
    const read = (folder: string, name: string) => readArtifact(`${folder}/${name}.sol/${name}.json`);
    const pools = await deployer.deploy(read(CORE, "PoolManager"), [wallet]);
    const manager = await deployer.deploy(read(PERIPHERY, "PositionManager"), [
      ...[pools.address, zeroAddress, 100_000n, zeroAddress, zeroAddress],
    ]);
    const stateView = await deployer.deploy(read(PERIPHERY, "StateView"), [pools.address]);
    const swapper = await deployer.deploy(read(CORE, "PoolSwapTest"), [pools.address]);
    for (const token of [token0, token1]) {
      await deployer.send(token, "approve", [swapper.address, 1n << 255n]);
      // The manager pays for liquidity from what it has, so that no permit is needed.
      await deployer.send(token, "transfer", [manager.address, 10n ** 26n]);
    }
    return new UniswapV4Deployment(stage, { pools, manager, stateView, swapper });
  }

  async createPool(currency0: Hex, currency1: Hex, hooks: Hex = zeroAddress): Promise<PoolKey> {
    const key = { currency0, currency1, fee: 3000, tickSpacing: 60, hooks };
    await this.#stage.deployer.send(this.#pools, "initialize", [key, PRICE_ONE]);
    return key;
  }

  async mint(key: PoolKey, [lower, upper]: TickRange, liquidity: bigint): Promise<bigint> {
    const { deployer, wallet } = this.#stage;
    const id = await deployer.call<bigint>(this.manager, "nextTokenId");
    const value = key.currency0 === zeroAddress ? 2n * liquidity : 0n;
    await this.#act(
      [
        ["mint", key, lower, upper, liquidity, UINT128_MAX, UINT128_MAX, wallet, "0x"],
        ["settle", key.currency0, 0n, false],
        ["settle", key.currency1, 0n, false],
      ],
      value,
    );
    return id;
  }

  async swap(key: PoolKey, amount: bigint, zeroForOne: boolean): Promise<void> {
    const sqrtPriceLimitX96 = zeroForOne ? PRICE_LIMITS.down : PRICE_LIMITS.up;
    const value = key.currency0 === zeroAddress && zeroForOne ? amount : 0n;
    const swap = { zeroForOne, amountSpecified: -amount, sqrtPriceLimitX96 };
    const settings = { takeClaims: false, settleUsingBurn: false };
    const args = [key, swap, settings, "0x"];
    await this.#stage.deployer.send(this.#swapper, "swap", args, { gas: GAS, value });
  }

  /** Removes all liquidity but keeps the NFT. */
  async empty({ currency0, currency1 }: PoolKey, id: bigint, liquidity: bigint): Promise<void> {
    await this.#act([
      ["decrease", id, liquidity, 0n, 0n, "0x"],
      ["takePair", currency0, currency1, this.#stage.wallet],
    ]);
  }

  /** Burns the NFT, and returns what a recipient who had nothing before has then. */
  async burn({ currency0, currency1 }: PoolKey, id: bigint): Promise<readonly [bigint, bigint]> {
    this.#recipients += 1;
    const recipient = numberToHex(0xdead0000 + this.#recipients, { size: 20 });
    await this.#act([
      ["burn", id, 0n, 0n, "0x"],
      ["takePair", currency0, currency1, recipient],
    ]);
    return [await this.#balanceOf(currency0, recipient), await this.#balanceOf(currency1, recipient)];
  }

  async #act(steps: readonly Step[], value = 0n): Promise<void> {
    const actions = concatHex(steps.map(([action]) => numberToHex(ACTIONS[action][0], { size: 1 })));
    const parameters = steps.map(([action, ...values]) =>
      encodeAbiParameters(parseAbiParameters(ACTIONS[action][1] as string), values),
    );
    const data = encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), [actions, parameters]);
    await this.#stage.deployer.send(this.manager, "modifyLiquidities", [data, DEADLINE], { gas: GAS, value });
  }

  async #balanceOf(currency: Hex, holder: Hex): Promise<bigint> {
    const { chain, deployer, token0 } = this.#stage;
    if (currency !== zeroAddress)
      return deployer.call({ ...token0, address: currency }, "balanceOf", [holder]);
    return BigInt((await chain.request("eth_getBalance", [holder, "latest"])) as Hex);
  }
}
