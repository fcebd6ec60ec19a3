// Uniswap v4 from its own artifacts: pool manager, position manager and StateView, with liquidity minted and burnt.
import { concatHex, encodeAbiParameters, type Hex, numberToHex, parseAbiParameters, zeroAddress } from "viem";
import type { UniswapV4Market } from "../../../src/portfolio/positions/uniswap-v4/markets.ts";
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
const ACTIONS = { decrease: 1, mint: 2, burn: 3, settle: 0x0b, takePair: 0x11 };
const POOL_KEY = "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)";

export type PoolKey = {
  readonly currency0: Hex;
  readonly currency1: Hex;
  readonly fee: number;
  readonly tickSpacing: number;
  readonly hooks: Hex;
};

export type UniswapV4Deployment = {
  readonly market: UniswapV4Market;
  readonly manager: DeployedContract;
  createPool(currency0: Hex, currency1: Hex, hooks?: Hex): Promise<PoolKey>;
  mint(key: PoolKey, range: TickRange, liquidity: bigint): Promise<bigint>;
  swap(key: PoolKey, amount: bigint, zeroForOne: boolean): Promise<void>;
  /** Removes all liquidity but keeps the NFT. */
  empty(key: PoolKey, id: bigint, liquidity: bigint): Promise<void>;
  /** Burns the NFT, and returns what a recipient who had nothing before has then. */
  burn(key: PoolKey, id: bigint): Promise<readonly [bigint, bigint]>;
};

export async function deployUniswapV4(stage: LiquidityStage): Promise<UniswapV4Deployment> {
  const { deployer, wallet, chain } = stage;
  const read = (folder: string, name: string) => readArtifact(`${folder}/${name}.sol/${name}.json`);
  const pools = await deployer.deploy(read(CORE, "PoolManager"), [wallet]);
  const manager = await deployer.deploy(read(PERIPHERY, "PositionManager"), [
    pools.address,
    ...[zeroAddress, 100_000n, zeroAddress, zeroAddress],
  ]);
  const stateView = await deployer.deploy(read(PERIPHERY, "StateView"), [pools.address]);
  const swapper = await deployer.deploy(read(CORE, "PoolSwapTest"), [pools.address]);
  for (const token of [stage.token0, stage.token1]) {
    await deployer.send(token, "approve", [swapper.address, 1n << 255n]);
    // The manager pays for liquidity from what it has, so that no permit is needed.
    await deployer.send(token, "transfer", [manager.address, 10n ** 26n]);
  }
  const act = async (steps: readonly (readonly [action: number, parameters: Hex])[], value = 0n) => {
    const actions = concatHex(steps.map(([action]) => numberToHex(action, { size: 1 })));
    const parameters = steps.map(([, each]) => each);
    const data = encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), [actions, parameters]);
    await deployer.send(manager, "modifyLiquidities", [data, DEADLINE], { gas: GAS, value });
  };
  const settle = (currency: Hex) =>
    [
      ACTIONS.settle,
      encodeAbiParameters(parseAbiParameters("address, uint256, bool"), [currency, 0n, false]),
    ] as const;
  const takePair = (key: PoolKey, to: Hex) =>
    [
      ACTIONS.takePair,
      encodeAbiParameters(parseAbiParameters("address, address, address"), [
        key.currency0,
        key.currency1,
        to,
      ]),
    ] as const;
  const balanceOf = async (currency: Hex, holder: Hex) => {
    if (currency === zeroAddress)
      return BigInt((await chain.request("eth_getBalance", [holder, "latest"])) as Hex);
    return deployer.call<bigint>({ ...stage.token0, address: currency }, "balanceOf", [holder]);
  };
  let recipients = 0;
  return {
    market: { manager: manager.address, stateView: stateView.address, deployedAt: 0 },
    manager,
    async createPool(currency0, currency1, hooks = zeroAddress) {
      const key = { currency0, currency1, fee: 3000, tickSpacing: 60, hooks };
      await deployer.send(pools, "initialize", [key, PRICE_ONE]);
      return key;
    },
    async mint(key, [lower, upper], liquidity) {
      const id = await deployer.call<bigint>(manager, "nextTokenId");
      const types = parseAbiParameters(
        `${POOL_KEY}, int24, int24, uint256, uint128, uint128, address, bytes`,
      );
      const mint = encodeAbiParameters(types, [
        ...([key, lower, upper, liquidity, UINT128_MAX, UINT128_MAX, wallet, "0x"] as const),
      ] as never);
      const value = key.currency0 === zeroAddress ? 2n * liquidity : 0n;
      await act([[ACTIONS.mint, mint], settle(key.currency0), settle(key.currency1)], value);
      return id;
    },
    async swap(key, amount, zeroForOne) {
      const sqrtPriceLimitX96 = zeroForOne ? PRICE_LIMITS.down : PRICE_LIMITS.up;
      const value = key.currency0 === zeroAddress && zeroForOne ? amount : 0n;
      await deployer.send(
        swapper,
        "swap",
        [
          key,
          { zeroForOne, amountSpecified: -amount, sqrtPriceLimitX96 },
          { takeClaims: false, settleUsingBurn: false },
          "0x",
        ],
        { gas: GAS, value },
      );
    },
    async empty(key, id, liquidity) {
      const types = parseAbiParameters("uint256, uint256, uint128, uint128, bytes");
      const decrease = encodeAbiParameters(types, [id, liquidity, 0n, 0n, "0x"]);
      await act([[ACTIONS.decrease, decrease], takePair(key, wallet)]);
    },
    async burn(key, id) {
      recipients += 1;
      const recipient = numberToHex(0xdead0000 + recipients, { size: 20 });
      const burn = encodeAbiParameters(parseAbiParameters("uint256, uint128, uint128, bytes"), [
        id,
        0n,
        0n,
        "0x",
      ]);
      await act([[ACTIONS.burn, burn], takePair(key, recipient)]);
      return [await balanceOf(key.currency0, recipient), await balanceOf(key.currency1, recipient)];
    },
  };
}
