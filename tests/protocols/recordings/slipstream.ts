// Slipstream: NFTs in and out of range, emptied, and in a gauge with pending rewards, on Velodrome's own contracts.
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import type { LiquidityNftMarket } from "../../../src/portfolio/positions/uniswap-v3/contracts.ts";
import { createUniswapV3Reader } from "../../../src/portfolio/positions/uniswap-v3/reader.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";
import {
  createGauge,
  deployVelodrome,
  findPayout,
  listDeposits,
  type Velodrome,
} from "./velodrome-deployment.ts";

const TICK_SPACING = 100;
const PRICE_ONE = 1n << 96n;
const DEADLINE = 10n ** 12n;
const UINT128_MAX = (1n << 128n) - 1n;
const AMOUNT = 10n ** 18n;
const REWARDS = 7n * 10n ** 23n;
const DAY = 86_400n;
/** In range, below it, above it, one that is emptied and one that is staked; the ids count from two. */
const RANGES = [
  ...[[-6_000, 6_000] as const, [-12_000, -6_100] as const, [6_100, 12_000] as const],
  ...[[-3_000, 3_000] as const, [-6_000, 6_000] as const],
];
const [OPEN_IDS, EMPTIED_ID, STAKED_ID] = [[2n, 3n, 4n], 5n, 6n] as const;

export async function recordSlipstream(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet } = recorder;
  const { send, call } = deployer;
  const velodrome = await deployVelodrome(recorder);
  const { tokens, manager, nftFactory, voter, reward, abis } = velodrome;
  const market = describeMarket(velodrome);
  const readers = [createUniswapV3Reader(new Map([[chain.chainId, [market]]]))];
  await mint(recorder, velodrome, [-200_000, 200_000], chain.accounts.owner.address, PRICE_ONE);
  const args = [...tokens.map(({ address }) => address), TICK_SPACING];
  const pool = await call<Hex>(nftFactory, "getPool", args);
  const gauge = await createGauge(recorder, velodrome, nftFactory, pool, abis.nftGauge);
  const recordMoment = async (name: string, ids: readonly bigint[], staked: readonly bigint[] = []) => {
    const payouts: Record<string, readonly bigint[]> = {};
    const earned: Record<string, bigint> = {};
    for (const id of ids) payouts[`${id}`] = await findNftPayout(recorder, velodrome, id);
    for (const id of staked) {
      payouts[`${id}`] = await findNftPayout(recorder, velodrome, id, gauge);
      earned[`${id}`] = await call<bigint>(gauge, "earned", [wallet, id]);
    }
    await recorder.record(name, {
      readers,
      listed: await Promise.all(tokens.map((token) => recorder.holdingOf(token))),
      transfers: listDeposits(wallet, [[manager.address, gauge.address]], STAKED_ID),
      views: { payouts, earned },
    });
  };

  for (const range of RANGES) await mint(recorder, velodrome, range, wallet);
  // There and back again through the upper range: fees in both tokens.
  await swap(recorder, velodrome, 2n * AMOUNT, 1);
  await swap(recorder, velodrome, AMOUNT / 3n, 0);
  await recordMoment("in and out of range", [...OPEN_IDS, EMPTIED_ID, STAKED_ID]);

  const [decrease] = await encodeEmpty(recorder, manager, EMPTIED_ID);
  await send(manager, "multicall", [[decrease]], asWallet);
  await send(manager, "approve", [gauge.address, STAKED_ID], asWallet);
  await send(gauge, "deposit", [STAKED_ID], asWallet);
  await send(reward, "approve", [gauge.address, REWARDS]);
  await send(gauge, "notifyRewardWithoutClaim", [REWARDS]);
  await chain.increaseTime(DAY);
  await swap(recorder, velodrome, AMOUNT / 2n, 1);
  await swap(recorder, velodrome, AMOUNT, 0);
  await recordMoment("emptied and staked", [...OPEN_IDS, EMPTIED_ID], [STAKED_ID]);

  await send(voter, "killGauge", [gauge.address]);
  await recordMoment("in a killed gauge", [...OPEN_IDS, EMPTIED_ID], [STAKED_ID]);
  recorder.write(file, { market, gauge: gauge.address, pool: pool.toLowerCase() });
}

function describeMarket({ manager, nftFactory, voter, nftPoolCode }: Velodrome): LiquidityNftMarket {
  return {
    ...{ protocol: "velodrome-slipstream", name: "Velodrome Slipstream", shape: "slipstream" },
    ...{ manager: manager.address, poolDeployer: nftFactory.address, voter: voter.address },
    // Pools are minimal proxies (EIP-1167).
    poolCodeHash: keccak256(
      `0x3d602d80600a3d3981f3363d3d373d3d3d363d73${nftPoolCode.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    ),
  };
}

async function mint(
  { deployer, wallet, asWallet }: Recorder,
  { tokens: [token0, token1], manager }: Velodrome,
  [tickLower, tickUpper]: readonly [number, number],
  recipient: Hex,
  sqrtPriceX96 = 0n,
): Promise<void> {
  const parameters = {
    ...{ token0: token0.address, token1: token1.address, tickSpacing: TICK_SPACING },
    ...{ tickLower, tickUpper, recipient, deadline: DEADLINE, sqrtPriceX96 },
    ...{ amount0Desired: AMOUNT, amount1Desired: AMOUNT, amount0Min: 0n, amount1Min: 0n },
  };
  await deployer.send(manager, "mint", [parameters], recipient === wallet ? asWallet : {});
}

/** `index` is that of the token that is sold. */
async function swap(
  { deployer, chain }: Recorder,
  { tokens, router }: Velodrome,
  amountIn: bigint,
  index: 0 | 1,
): Promise<void> {
  const parameters = {
    ...{ tokenIn: tokens[index].address, tokenOut: tokens[index === 0 ? 1 : 0].address },
    ...{ tickSpacing: TICK_SPACING, recipient: chain.accounts.owner.address, deadline: DEADLINE },
    ...{ amountIn, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n },
  };
  await deployer.send(router, "exactInputSingle", [parameters]);
}

/** The calls that remove all liquidity and collect what is owed. */
async function encodeEmpty(
  { deployer, wallet }: Recorder,
  manager: DeployedContract,
  tokenId: bigint,
): Promise<readonly Hex[]> {
  const words = await deployer.call<readonly unknown[]>(manager, "positions", [tokenId]);
  const liquidity = words[7] as bigint;
  const encode = (functionName: string, parameters: object) =>
    encodeFunctionData({ abi: manager.abi, functionName, args: [parameters] });
  const limits = { amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE };
  const collect = { tokenId, recipient: wallet, amount0Max: UINT128_MAX, amount1Max: UINT128_MAX };
  return [
    ...(liquidity === 0n ? [] : [encode("decreaseLiquidity", { tokenId, liquidity, ...limits })]),
    encode("collect", collect),
  ];
}

async function findNftPayout(
  recorder: Recorder,
  velodrome: Velodrome,
  id: bigint,
  gauge?: DeployedContract,
): Promise<readonly bigint[]> {
  const { manager } = velodrome;
  return findPayout(recorder, velodrome, [
    ...(gauge ? [[gauge, "withdraw", [id]] as const] : []),
    [manager, "multicall", [await encodeEmpty(recorder, manager, id)]],
  ]);
}
