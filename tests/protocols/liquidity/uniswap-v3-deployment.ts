// Uniswap v3 or a fork from its own artifacts: factory, router and position manager, with a pool of the stage's two tokens.
import { encodeFunctionData, type Hex } from "viem";
import { readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { LiquidityStage } from "./liquidity-stage.ts";

const CORE = "@uniswap/v3-core/artifacts/contracts";
const PERIPHERY = "@uniswap/v3-periphery/artifacts/contracts";
const DEADLINE = 10n ** 12n;
/** The first transaction of a block writes to the pool's oracle, which an estimate does not see. */
const GAS = 15_000_000n;
const CALLS_PER_TRANSACTION = 20;
const UINT128_MAX = (1n << 128n) - 1n;
/** Both tokens are worth the same, in their smallest units. */
const PRICE_ONE = 1n << 96n;

export type TickRange = readonly [lower: number, upper: number];

type Contracts = Record<"factory" | "manager" | "router", DeployedContract> & { readonly weth: Hex };
/** How the contracts of Uniswap or of a fork are deployed, and the fee of the pool. */
export type Fork = { readonly fee: number; deploy(stage: LiquidityStage): Promise<Contracts> };

const UNISWAP: Fork = {
  fee: 3000,
  async deploy({ deployer, wallet }) {
    const periphery = (name: string) => readArtifact(`${PERIPHERY}/${name}.sol/${name}.json`);
    const { address: weth } = await deployer.deploy(
      readArtifact("canonical-weth/build/contracts/WETH9.json"),
    );
    const factory = await deployer.deploy(readArtifact(`${CORE}/UniswapV3Factory.sol/UniswapV3Factory.json`));
    const manager = await deployer.deploy(periphery("NonfungiblePositionManager"), [
      ...[factory.address, weth, wallet],
    ]);
    const router = await deployer.deploy(periphery("SwapRouter"), [factory.address, weth]);
    return { factory, manager, router, weth };
  },
};

export class UniswapV3Deployment {
  readonly factory: DeployedContract;
  readonly manager: DeployedContract;
  readonly weth: Hex;
  readonly #router: DeployedContract;
  readonly #fee: number;
  readonly #stage: LiquidityStage;
  #lastId = 0n;

  private constructor(stage: LiquidityStage, contracts: Contracts, fee: number) {
    this.#stage = stage;
    this.factory = contracts.factory;
    this.manager = contracts.manager;
    this.weth = contracts.weth;
    this.#router = contracts.router;
    this.#fee = fee;
  }

  static async deploy(stage: LiquidityStage, fork: Fork = UNISWAP): Promise<UniswapV3Deployment> {
    const { deployer, token0, token1 } = stage;
    const contracts = await fork.deploy(stage);
    const { manager, router } = contracts;
    for (const token of [token0, token1]) {
      for (const spender of [manager, router]) {
        await deployer.send(token, "approve", [spender.address, 1n << 255n]);
      }
    }
    const pool = [token0.address, token1.address, fork.fee, PRICE_ONE];
    await deployer.send(manager, "createAndInitializePoolIfNecessary", pool);
    return new UniswapV3Deployment(stage, contracts, fork.fee);
  }

  /** Mints one NFT per range; the ids count up from the last one. */
  async mint(ranges: readonly TickRange[], amount: bigint): Promise<readonly bigint[]> {
    const { token0, token1, wallet } = this.#stage;
    const calls = ranges.map(([tickLower, tickUpper]) =>
      this.#encode("mint", {
        ...{ token0: token0.address, token1: token1.address, fee: this.#fee, tickLower, tickUpper },
        ...{ amount0Desired: amount, amount1Desired: amount, amount0Min: 0n, amount1Min: 0n },
        ...{ recipient: wallet, deadline: DEADLINE },
      }),
    );
    await this.#sendAll(calls);
    const ids = ranges.map((_, index) => this.#lastId + BigInt(index) + 1n);
    this.#lastId += BigInt(ranges.length);
    return ids;
  }

  async swap(amount: bigint, zeroForOne: boolean): Promise<void> {
    const { deployer, token0, token1, wallet } = this.#stage;
    const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0];
    const swap = {
      ...{ tokenIn: tokenIn.address, tokenOut: tokenOut.address, fee: this.#fee, recipient: wallet },
      ...{ deadline: DEADLINE, amountIn: amount, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n },
    };
    await deployer.send(this.#router, "exactInputSingle", [swap], { gas: GAS });
  }

  /** Removes all liquidity; the tokens stay owed unless they are collected. */
  async empty(ids: readonly bigint[], { collect }: { readonly collect: boolean }): Promise<void> {
    const calls: Hex[] = [];
    for (const id of ids)
      calls.push(await this.#encodeDecrease(id), ...(collect ? [this.#encodeCollect(id)] : []));
    await this.#sendAll(calls);
  }

  /**
   * The amounts that removing and collecting everything would pay to the owner now; the owner is the wallet by default.
   */
  async payout(id: bigint, from: Hex = this.#stage.wallet): Promise<readonly [bigint, bigint]> {
    const isEmpty = (await this.#liquidityOf(id)) === 0n;
    const calls = [...(isEmpty ? [] : [await this.#encodeDecrease(id)]), this.#encodeCollect(id)];
    const { deployer } = this.#stage;
    const results = await deployer.call<readonly Hex[]>(this.manager, "multicall", [calls], { from });
    const paid = results.at(-1) ?? "0x";
    return [BigInt(paid.slice(0, 66)), BigInt(`0x${paid.slice(66)}`)];
  }

  async #liquidityOf(id: bigint): Promise<bigint> {
    const words = await this.#stage.deployer.call<readonly unknown[]>(this.manager, "positions", [id]);
    return words[7] as bigint;
  }

  #encode(functionName: string, parameters: object): Hex {
    return encodeFunctionData({ abi: this.manager.abi, functionName, args: [parameters] });
  }

  async #encodeDecrease(tokenId: bigint): Promise<Hex> {
    const liquidity = await this.#liquidityOf(tokenId);
    const limits = { amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE };
    return this.#encode("decreaseLiquidity", { tokenId, liquidity, ...limits });
  }

  #encodeCollect(tokenId: bigint): Hex {
    const limits = { amount0Max: UINT128_MAX, amount1Max: UINT128_MAX };
    return this.#encode("collect", { tokenId, recipient: this.#stage.wallet, ...limits });
  }

  async #sendAll(calls: readonly Hex[]): Promise<void> {
    for (let start = 0; start < calls.length; start += CALLS_PER_TRANSACTION) {
      const part = calls.slice(start, start + CALLS_PER_TRANSACTION);
      await this.#stage.deployer.send(this.manager, "multicall", [part], { gas: GAS });
    }
  }
}
