// Velodrome: tokens of a volatile and a stable pool, in the wallet and in gauges, on Velodrome's own contracts.
import type { Hex } from "viem";
import type { PairMarket } from "../../../src/portfolio/positions/uniswap-v2/contracts.ts";
import { createUniswapV2Reader } from "../../../src/portfolio/positions/uniswap-v2/reader.ts";
import type { Holding } from "../../../src/portfolio/types.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";
import {
  createGauge,
  deployVelodrome,
  findPayout,
  listDeposits,
  type Velodrome,
} from "./velodrome-deployment.ts";

const DAY = 86_400n;

type StakedPool = { readonly pool: DeployedContract; readonly gauge: DeployedContract };
type Amounts = readonly [bigint, bigint];

export async function recordVelodrome(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet } = recorder;
  const { send, call } = deployer;
  const velodrome = await deployVelodrome(recorder);
  const { tokens, poolFactory, voter } = velodrome;
  const market: PairMarket = {
    ...{ protocol: "velodrome", name: "Velodrome", shape: "velodrome" },
    ...{ factory: poolFactory.address, voter: voter.address },
  };
  const readers = [createUniswapV2Reader(new Map([[chain.chainId, [market]]]))];
  const volatile = await createPool(recorder, velodrome, false);
  const stable = await createPool(recorder, velodrome, true);
  const pools = [volatile, stable];
  const [unit0, unit1] = (await Promise.all(
    tokens.map(async (token) => 10n ** BigInt(await call<number>(token, "decimals"))),
  )) as [bigint, bigint];
  for (const { pool } of pools) {
    // The first deposit of a stable pool must be balanced.
    await addLiquidity(recorder, velodrome, pool, chain.accounts.owner.address, [
      80_000n * unit0,
      80_000n * unit1,
    ]);
    await addLiquidity(recorder, velodrome, pool, wallet, [7_000n * unit0, 8_000n * unit1]);
    await swap(recorder, velodrome, pool, [1_234n * unit0, 0n]);
    await swap(recorder, velodrome, pool, [0n, 2_345n * unit1]);
  }
  const recordMoment = async (name: string) => {
    const holdings: Holding[] = [];
    const payouts = [];
    for (const each of pools) {
      holdings.push(await recorder.holdingOf(each.pool));
      payouts.push(await findPoolPayouts(recorder, velodrome, each));
    }
    await recorder.record(name, {
      readers,
      listed: await Promise.all(tokens.map((token) => recorder.holdingOf(token))),
      holdings: holdings.filter(({ rawBalance }) => rawBalance > 0n),
      transfers: listDeposits(
        wallet,
        pools.map(({ pool, gauge }) => [pool.address, gauge.address]),
      ),
      views: { payouts },
    });
  };

  await recordMoment("in the wallet");
  const stake = async ({ pool, gauge }: StakedPool, part: bigint) => {
    const amount = (await recorder.holdingOf(pool)).rawBalance / part;
    await send(pool, "approve", [gauge.address, amount], asWallet);
    await send(gauge, "deposit", [amount], asWallet);
  };
  await stake(volatile, 3n);
  await stake(stable, 1n);
  await chain.increaseTime(DAY);
  for (const { pool } of pools) await swap(recorder, velodrome, pool, [3_333n * unit0, 0n]);
  await recordMoment("in gauges");
  recorder.write(file, { market, pools: pools.map(({ pool }) => pool.address) });
}

async function createPool(recorder: Recorder, velodrome: Velodrome, stable: boolean): Promise<StakedPool> {
  const { send, call } = recorder.deployer;
  const { tokens, poolFactory, abis } = velodrome;
  const args = [...tokens.map(({ address }) => address), stable];
  await send(poolFactory, "createPool", args);
  const address = (await call<Hex>(poolFactory, "getPool", args)).toLowerCase() as Hex;
  const gauge = await createGauge(recorder, velodrome, poolFactory, address, abis.gauge);
  return { pool: { address, abi: abis.pool }, gauge };
}

async function addLiquidity(
  { deployer }: Recorder,
  { tokens }: Velodrome,
  pool: DeployedContract,
  to: Hex,
  amounts: Amounts,
): Promise<void> {
  for (const [index, token] of tokens.entries())
    await deployer.send(token, "transfer", [pool.address, amounts[index]]);
  await deployer.send(pool, "mint", [to]);
}

/** One of the amounts is zero. */
async function swap(
  { deployer, chain }: Recorder,
  { tokens }: Velodrome,
  pool: DeployedContract,
  amounts: Amounts,
): Promise<void> {
  const index = amounts[0] > 0n ? 0 : 1;
  const token = tokens[index];
  const out = await deployer.call<bigint>(pool, "getAmountOut", [amounts[index], token.address]);
  await deployer.send(token, "transfer", [pool.address, amounts[index]]);
  const outs = index === 0 ? [0n, out] : [out, 0n];
  await deployer.send(pool, "swap", [...outs, chain.accounts.owner.address, "0x"]);
}

/** The payment for burning the wallet's tokens and claiming their fees, and that of the staked ones. */
async function findPoolPayouts(recorder: Recorder, velodrome: Velodrome, { pool, gauge }: StakedPool) {
  const { deployer, wallet } = recorder;
  const [own, staked] = [
    await deployer.call<bigint>(pool, "balanceOf", [wallet]),
    await deployer.call<bigint>(gauge, "balanceOf", [wallet]),
  ];
  const burn = (amount: bigint) =>
    [
      [pool, "transfer", [pool.address, amount]],
      [pool, "burn", [wallet]],
    ] as const;
  return {
    held: await findPayout(recorder, velodrome, [...(own > 0n ? burn(own) : []), [pool, "claimFees", []]]),
    staked: await findPayout(
      recorder,
      velodrome,
      staked > 0n ? [[gauge, "withdraw", [staked]], ...burn(staked)] : [],
    ),
  };
}
