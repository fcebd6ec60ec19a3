// Uniswap v3 from its own artifacts: factory, router and position manager, with a pool of the stage's two tokens.
import { encodeFunctionData, type Hex } from "viem";

import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { LiquidityStage } from "./liquidity-stage.ts";

const CORE = "@uniswap/v3-core/artifacts/contracts";
const PERIPHERY = "@uniswap/v3-periphery/artifacts/contracts";
const FEE = 3000;
const DEADLINE = 10n ** 12n;
/** The first transaction of a block writes to the pool's oracle, which an estimate does not see. */
const GAS = 15_000_000n;
const UINT128_MAX = (1n << 128n) - 1n;
/** Two to the 96th: both tokens are worth the same, in their smallest units. */
export const PRICE_ONE = 1n << 96n;

export type TickRange = readonly [lower: number, upper: number];

export type UniswapV3Deployment = {
  readonly factory: DeployedContract;
  readonly manager: DeployedContract;
  readonly pool: DeployedContract;
  /** Mints one NFT per range in as few transactions as possible; the ids count up from the last one. */
  mint(ranges: readonly TickRange[], amount: bigint): Promise<readonly bigint[]>;
  swap(amount: bigint, zeroForOne: boolean): Promise<void>;
  /** Removes all liquidity; the tokens stay owed unless they are collected. */
  empty(ids: readonly bigint[], options: { readonly collect: boolean }): Promise<void>;
  /** What removing everything and collecting it would pay to the owner now. */
  payout(id: bigint): Promise<readonly [bigint, bigint]>;
};

export async function deployUniswapV3(stage: LiquidityStage): Promise<UniswapV3Deployment> {
  const { deployer, token0, token1, wallet } = stage;
  const weth = await deployer.deploy(readArtifact("canonical-weth/build/contracts/WETH9.json"));
  const factory = await deployer.deploy(readArtifact(`${CORE}/UniswapV3Factory.sol/UniswapV3Factory.json`));
  const manager = await deployer.deploy(
    readArtifact(`${PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`),
    [factory.address, weth.address, wallet],
  );
  const router = await deployer.deploy(readArtifact(`${PERIPHERY}/SwapRouter.sol/SwapRouter.json`), [
    factory.address,
    weth.address,
  ]);
  for (const token of [token0, token1]) {
    for (const spender of [manager, router]) {
      await deployer.send(token, "approve", [spender.address, 1n << 255n]);
    }
  }
  const key = [token0.address, token1.address, FEE];
  await deployer.send(manager, "createAndInitializePoolIfNecessary", [...key, PRICE_ONE]);
  const pool = {
    address: (await deployer.call<Hex>(factory, "getPool", key)).toLowerCase() as Hex,
    abi: readArtifact(`${CORE}/UniswapV3Pool.sol/UniswapV3Pool.json`).abi,
  };
  let lastId = 0n;
  const encode = (functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi: manager.abi, functionName, args });
  const decrease = (tokenId: bigint, liquidity: bigint) =>
    encode("decreaseLiquidity", [{ tokenId, liquidity, amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE }]);
  const collect = (tokenId: bigint) =>
    encode("collect", [{ tokenId, recipient: wallet, amount0Max: UINT128_MAX, amount1Max: UINT128_MAX }]);
  const liquidityOf = async (id: bigint) => {
    const words = await deployer.call<readonly unknown[]>(manager, "positions", [id]);
    return words[7] as bigint;
  };
  return {
    ...{ factory, manager, pool },
    async mint(ranges, amount) {
      const calls = ranges.map(([tickLower, tickUpper]) =>
        encode("mint", [
          {
            ...{ token0: token0.address, token1: token1.address, fee: FEE, tickLower, tickUpper },
            ...{ amount0Desired: amount, amount1Desired: amount, amount0Min: 0n, amount1Min: 0n },
            ...{ recipient: wallet, deadline: DEADLINE },
          },
        ]),
      );
      for (let start = 0; start < calls.length; start += 20) {
        await deployer.send(manager, "multicall", [calls.slice(start, start + 20)], { gas: GAS });
      }
      const ids = ranges.map((_, index) => lastId + BigInt(index) + 1n);
      lastId += BigInt(ranges.length);
      return ids;
    },
    async swap(amount, zeroForOne) {
      const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0];
      await deployer.send(
        router,
        "exactInputSingle",
        [
          {
            ...{ tokenIn: tokenIn.address, tokenOut: tokenOut.address, fee: FEE, recipient: wallet },
            ...{ deadline: DEADLINE, amountIn: amount, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n },
          },
        ],
        { gas: GAS },
      );
    },
    async empty(ids, options) {
      for (let start = 0; start < ids.length; start += 20) {
        const part = ids.slice(start, start + 20);
        const calls = await Promise.all(
          part.map(async (id) => [
            decrease(id, await liquidityOf(id)),
            ...(options.collect ? [collect(id)] : []),
          ]),
        );
        await deployer.send(manager, "multicall", [calls.flat()], { gas: GAS });
      }
    },
    async payout(id) {
      const liquidity = await liquidityOf(id);
      const calls = [...(liquidity > 0n ? [decrease(id, liquidity)] : []), collect(id)];
      const results = await deployer.call<readonly Hex[]>(manager, "multicall", [calls], { from: wallet });
      const paid = results.at(-1) ?? "0x";
      return [BigInt(paid.slice(0, 66)), BigInt(`0x${paid.slice(66)}`)];
    },
  };
}
