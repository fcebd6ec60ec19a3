// An account in a fork of Compound v2: a debt with interest, a supply that is not collateral, and markets that are paused.
import type { Hex } from "viem";
import type { CompoundV2Pool } from "../../../src/portfolio/positions/compound-v2/contracts.ts";
import type { PositionReader } from "../../../src/portfolio/types.ts";
import { RECORDED_SPENDER, RECORDED_THIEF } from "../../support/portfolio/recorded-exposure.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const UNIT = 10n ** 18n;
const MONTH = 30n * 86_400n;
/** The passed blocks, for forks that count interest in blocks. */
const BLOCKS = 5_000;

/** Dollars with 8 decimals. */
type Listing = {
  readonly token: DeployedContract;
  readonly symbol: string;
  readonly decimals: number;
  readonly price: bigint;
};
type ForkDeployment = {
  readonly title: string;
  readonly comptroller: DeployedContract;
  readonly oracle: DeployedContract;
  /** Creates a market whose supply counts as collateral. */
  list(listing: Listing): Promise<DeployedContract>;
  /** Stops supplies and loans, and lets supplies no longer count as collateral. */
  pause(markets: readonly DeployedContract[]): Promise<void>;
  /** Lets another account act for the wallet; missing in a fork that has no such delegates. */
  approveDelegate?(delegate: Hex): Promise<void>;
  createReader(pools: ReadonlyMap<number, readonly CompoundV2Pool[]>): PositionReader;
};
type Market = { readonly token: DeployedContract; readonly market: DeployedContract };

export async function recordAccount(recorder: Recorder, fork: ForkDeployment, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet } = recorder;
  const { send } = deployer;
  const createMarket = async (symbol: string, decimals: number, price: bigint): Promise<Market> => {
    const token = await recorder.deployToken(symbol, decimals);
    return { token, market: await fork.list({ token, symbol, decimals, price }) };
  };
  const usdc = await createMarket("USDC", 6, 99_990000n);
  const col = await createMarket("COL", 18, 2_000_00000000n);
  const idle = await createMarket("IDLE", 8, 60_000_00000000n);
  const markets = [usdc, col, idle];
  const pool: CompoundV2Pool = {
    ...{ name: `${fork.title} Test`, comptroller: fork.comptroller.address, nativeMarket: null },
    markets: markets.map(({ market }) => market.address),
  };
  // As if the last market were newer than our data.
  const older = { ...pool, markets: pool.markets.slice(0, -1) };
  const readers = [pool, older].map((each) => fork.createReader(new Map([[chain.chainId, [each]]])));
  const supply = async ({ token, market }: Market, amount: bigint, options: { readonly key?: Hex } = {}) => {
    const account = options.key === undefined ? chain.accounts.owner.address : wallet;
    await send(token, "mint", [account, amount]);
    await send(token, "approve", [market.address, amount], options);
    await send(market, "mint", [amount], options);
  };
  const recordMoment = async (name: string) => {
    await chain.increaseTime(MONTH);
    await chain.mine(BLOCKS);
    const listed = await Promise.all(markets.map(({ token }) => recorder.holdingOf(token)));
    const moment = { readers, listed, views: await readViews(recorder, fork, markets) };
    await recorder.record(name, moment);
    return moment;
  };

  await supply(usdc, 1_000_000_000000n);
  await supply(col, 500n * UNIT, asWallet);
  // Supplied, but never entered: it secures nothing.
  await supply(idle, 3_00000007n, asWallet);
  await send(fork.comptroller, "enterMarkets", [[col.market.address]], asWallet);
  await send(usdc.market, "borrow", [600_000_000000n], asWallet);
  const moment = await recordMoment("borrowed for a month");
  if (fork.approveDelegate) {
    for (const delegate of [RECORDED_SPENDER, RECORDED_THIEF]) await fork.approveDelegate(delegate);
    const views = await readViews(recorder, fork, markets);
    await recorder.recordExposed("with delegates", { ...moment, readers: readers.slice(0, 1), views });
  }
  await fork.pause(markets.map(({ market }) => market));
  await recordMoment("paused and without collateral value");
  recorder.write(file, { pool, oracle: fork.oracle.address });
}

async function readViews(
  { deployer, wallet }: Recorder,
  { comptroller, oracle }: ForkDeployment,
  markets: readonly Market[],
): Promise<Readonly<Record<string, unknown>>> {
  const { call } = deployer;
  const views = [];
  for (const { token, market } of markets) {
    views.push({
      ...{ token: token.address, market: market.address },
      supplied: await call(market, "balanceOfUnderlying", [wallet]),
      borrowed: await call(market, "borrowBalanceCurrent", [wallet]),
      borrowedStored: await call(market, "borrowBalanceStored", [wallet]),
      price: await call(oracle, "getUnderlyingPrice", [market.address]),
      isCollateral: await call(comptroller, "checkMembership", [wallet, market.address]),
    });
  }
  return { markets: views };
}
