// A local chain with the contracts of Chainlink, Aave and Uniswap, and the price sources reading them.
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import type { ChainPriceFeeds } from "../../../src/chain/price-feeds/price-feeds.ts";
import { formatDecimal } from "../../../src/lib/decimal.ts";
import { createChainAccess } from "../../../src/portfolio/chain-access.ts";
import { collectPrices } from "../../../src/portfolio/prices/collect-prices.ts";
import { createPriceSources } from "../../../src/portfolio/prices/sources.ts";
import type { PoolFactory, SpotMarket } from "../../../src/portfolio/prices/spot-markets.ts";
import type { AssetPrice, Holding, ListedToken, PinnedChain } from "../../../src/portfolio/types.ts";
import { createTestRpc } from "../../support/nodes/test-rpc.ts";
import { makeChainConfig } from "../../support/portfolio/portfolio-parts.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";
import { createDeployer, type DeployedContract } from "../support/deployer.ts";

const ZERO: Hex = `0x${"0".repeat(40)}`;
/** Deploys the tokens, holds all of them, and is the wallet that sells some. */
const LOCAL_OWNER = namedAccounts().owner.address.toLowerCase() as Hex;
/** The amount of each asset: less than the smallest pool here could pay for. */
const HELD = 10n ** 18n;
const CHAIN_ID = 31_337;
/** How many blocks before the newest one the state of half an hour ago is looked for. */
const BLOCKS_BACK = 3;
/** The time that the portfolio's access goes back, with its allowance for fast blocks. */
const LOOK_BACK_MS = 2_160_000;
/** As a limit, the budget of a snapshot would judge the machine: tokens here burn all the gas that they get. */
const BUDGET_MS = 60_000;
const HALF_HOUR_SECONDS = 1_800n;
export const DAY_SECONDS = 86_400;

const TOKEN_SOURCE = `pragma solidity ^0.8.0;
import {ERC20} from "solmate/src/tokens/ERC20.sol";
contract Token is ERC20 {
  constructor(uint8 d) ERC20("Token", "T", d) {}
  function mint(address to, uint256 amount) external { _mint(to, amount); }
}

/// Lets only its maker move it; others lose what they send, or the whole call, while its return values claim success.
contract Trap is Token {
  address private immutable maker = msg.sender;
  uint256 private mode;
  ERC20 private bait;
  constructor() Token(18) {}
  function arm(uint256 mode_, ERC20 bait_) external { mode = mode_; bait = bait_; }
  function transfer(address to, uint256 amount) public override returns (bool) {
    if (msg.sender == maker || mode == 0) return super.transfer(to, amount);
    if (mode == 1) revert("no");
    if (mode == 2) return super.transfer(to, amount / 20) && super.transfer(maker, amount - amount / 20);
    if (mode == 3) { while (true) {} }
    // The proceeds as a simulator reports them, and the coins themselves.
    if (mode == 4) { uint256 claim = 1e24; assembly { mstore(0, claim) revert(0, 32) } }
    // Sells if a simulation has set code at the holder's address, and not from a plain account.
    if (mode == 6) { require(msg.sender.code.length > 0, "no"); return super.transfer(to, amount); }
    if (mode == 7) { return msg.sender.code.length > 0 && super.transfer(to, amount); }
    if (mode == 8) return super.transfer(to, amount * 27 / 100) && super.transfer(maker, amount - amount * 27 / 100);
    bait.transfer(msg.sender, bait.balanceOf(address(this)));
    return true;
  }
}`;

export type PriceLab = Awaited<ReturnType<typeof openPriceLab>>;

export async function openPriceLab() {
  const chain = await startLocalChain({ chainId: CHAIN_ID, code: LOCAL_GENESIS_CODE });
  const owner = chain.accounts.owner.address;
  const deployer = createDeployer(chain, chain.accounts.owner.privateKey);
  const { Token, Trap } = await compileSources({ "token.sol": TOKEN_SOURCE });

  const deployToken = async (decimals = 18): Promise<DeployedContract> => {
    const token = await deployer.deploy(Token as Artifact, [decimals]);
    await deployer.send(token, "mint", [owner, 10n ** 40n]);
    return token;
  };
  const deployTrap = async (): Promise<DeployedContract> => {
    const token = await deployer.deploy(Trap as Artifact, []);
    await deployer.send(token, "mint", [owner, 10n ** 40n]);
    return token;
  };
  /** Time passes, and enough blocks that an earlier one can be read. */
  const pass = async (seconds: bigint = 2n * HALF_HOUR_SECONDS): Promise<void> => {
    await chain.increaseTime(seconds);
    await chain.mine(BLOCKS_BACK);
  };
  const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: BUDGET_MS } });
  /** The newest block; `blocksBack` before it is the state of half an hour ago. */
  const pin = (listed: readonly Hex[] = [], blocksBack = BLOCKS_BACK): Promise<PinnedChain> => {
    const tokens = listed.map((contract): ListedToken => ({ ...assetOf(contract), contract, decimals: 18 }));
    const more = { blockTimeMs: LOOK_BACK_MS / blocksBack };
    const config = makeChainConfig("local", CHAIN_ID, tokens, more);
    return createChainAccess(rpc, config).pin(new AbortController().signal);
  };
  return { chain, owner, deployer, deployToken, deployTrap, pass, pin, stop: () => chain.stop() };
}

const aggregatorArtifact = readArtifact("@chainlink/contracts/abi/v0.6/MockV3Aggregator.json");
const proxyArtifact = readArtifact("@chainlink/contracts/abi/v0.6/EACAggregatorProxy.json");

export type Feed = { readonly proxy: Hex; readonly aggregator: DeployedContract };

/** Chainlink's proxy over the aggregator that Chainlink publishes for tests. */
export async function deployFeed({ deployer }: PriceLab, price: bigint, decimals = 8): Promise<Feed> {
  const aggregator = await deployer.deploy(aggregatorArtifact, [decimals, price]);
  const proxy = await deployer.deploy(proxyArtifact, [aggregator.address, ZERO]);
  return { proxy: proxy.address, aggregator };
}

/** The feed returns this price as if its newest round were `age` seconds old. */
export async function ageFeed(
  lab: PriceLab,
  { aggregator }: Feed,
  price: bigint,
  age: number,
): Promise<void> {
  const { block } = await lab.pin();
  const time = BigInt(block.timestamp - age);
  await lab.deployer.send(aggregator, "updateRoundData", [7n, price, time, time]);
}

/** Aave's own oracle, in dollars with eight decimals. */
export async function deployAaveOracle(
  { deployer }: PriceLab,
  sources: readonly (readonly [asset: Hex, source: Hex])[],
): Promise<Hex> {
  const provider = await deployer.deploy(
    readArtifact(
      "@aave/core-v3/artifacts/contracts/protocol/configuration/PoolAddressesProvider.sol/PoolAddressesProvider.json",
    ),
    ["local", `0x${"01".repeat(20)}`],
  );
  const oracle = await deployer.deploy(
    readArtifact("@aave/core-v3/artifacts/contracts/misc/AaveOracle.sol/AaveOracle.json"),
    [
      provider.address,
      sources.map(([asset]) => asset),
      sources.map(([, source]) => source),
      ZERO,
      ZERO,
      10n ** 8n,
    ],
  );
  return oracle.address;
}

export function assetOf(contract: Hex | null, decimals = 18): Holding {
  return { contract, symbol: "T", name: "Token", decimals, logo: null, rawBalance: HELD };
}

export type LabSources = {
  readonly feeds: ChainPriceFeeds;
  readonly aave?: { readonly oracle: Hex; readonly reserves: readonly Hex[] };
  readonly market?: SpotMarket;
};

/** The prices that a snapshot would get: all sources in their order of trust. */
export async function collect(
  at: PinnedChain,
  { feeds, aave, market }: LabSources,
  assets: readonly Holding[],
  wallet: Hex = LOCAL_OWNER,
) {
  const { chainId } = at.chain;
  const reserves = (aave?.reserves ?? []).map((underlying) => ({
    underlying,
    aToken: ZERO,
    debtToken: ZERO,
  }));
  const aaveMarket = { name: "Aave v3", pool: ZERO, oracle: aave?.oracle ?? ZERO, reserves };
  const sources = createPriceSources({
    feeds: new Map([[chainId, feeds]]),
    aaveMarkets: new Map([[chainId, [aaveMarket]]]),
    spotMarkets: new Map(market ? [[chainId, market]] : []),
  });
  const query = { at, assets, holder: { wallet, holdings: assets } };
  const result = await collectPrices(sources, query, new AbortController().signal, BUDGET_MS);
  const describe = (price: AssetPrice) => `${formatDecimal(price.usd)} ${price.source}`;
  return {
    ...result,
    texts: assets.map(({ contract }) => {
      const price = result.prices.get(contract ?? "native");
      return price === undefined ? null : describe(price);
    }),
  };
}

const Q96 = 1n << 96n;
/** Full range for every spacing of ticks that these tests use: a multiple of 10, of 50 and of 60. */
const TICK_LIMIT = 887_100n;
const FULL_RANGE: TickRange = { tickLower: -TICK_LIMIT, tickUpper: TICK_LIMIT };

function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** In the pool's own order of tokens. */
type TickRange = { readonly tickLower: bigint; readonly tickUpper: bigint };

export type Exchange = {
  readonly factory: PoolFactory;
  /** A pool with these amounts over the whole range; returns its address. */
  addLiquidity(
    token: DeployedContract,
    amount: bigint,
    quote: DeployedContract,
    quoteAmount: bigint,
    range?: TickRange,
  ): Promise<Hex>;
};

const v3Factory = "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json";
const v3Manager =
  "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json";

export async function deployUniswapV3(lab: PriceLab, weth: Hex, fee = 3_000n): Promise<Exchange> {
  const { deployer, owner } = lab;
  const factory = await deployer.deploy(readArtifact(v3Factory));
  const manager = await deployer.deploy(readArtifact(v3Manager), [factory.address, weth, ZERO]);
  return {
    factory: { kind: "uniswap-v3", factory: factory.address, fees: [100, 500, 3_000, 10_000] },
    async addLiquidity(token, amount, quote, quoteAmount, range = FULL_RANGE) {
      const isFirst = token.address < quote.address;
      const [[token0, amount0], [token1, amount1]] = isFirst
        ? [[token, amount] as const, [quote, quoteAmount] as const]
        : [[quote, quoteAmount] as const, [token, amount] as const];
      const sqrtPrice = squareRoot((amount1 * Q96 * Q96) / (amount0 || 1n));
      for (const each of [token0, token1])
        await deployer.send(each, "approve", [manager.address, 2n ** 255n]);
      const pair = [token0.address, token1.address, fee];
      await deployer.send(manager, "createAndInitializePoolIfNecessary", [...pair, sqrtPrice]);
      const { block } = await lab.pin();
      await deployer.send(manager, "mint", [
        {
          ...{ token0: token0.address, token1: token1.address, fee, ...range },
          ...{ amount0Desired: amount0, amount1Desired: amount1, amount0Min: 0n, amount1Min: 0n },
          ...{ recipient: owner, deadline: BigInt(block.timestamp) + 10n ** 9n },
        },
      ]);
      const pool = await deployer.call<Hex>(factory, "getPool", pair);
      return pool.toLowerCase() as Hex;
    },
  };
}

export async function deployUniswapV2(lab: PriceLab): Promise<Exchange> {
  const { deployer, owner } = lab;
  const factory = await deployer.deploy(readArtifact("@uniswap/v2-core/build/UniswapV2Factory.json"), [
    owner,
  ]);
  const { abi } = readArtifact("@uniswap/v2-core/build/UniswapV2Pair.json");
  return {
    factory: { kind: "uniswap-v2", factory: factory.address },
    async addLiquidity(token, amount, quote, quoteAmount) {
      const pair = [token.address, quote.address];
      const known = await deployer.call<Hex>(factory, "getPair", pair);
      if (known === ZERO) await deployer.send(factory, "createPair", pair);
      const address = (await deployer.call<Hex>(factory, "getPair", pair)).toLowerCase() as Hex;
      await deployer.send(token, "transfer", [address, amount]);
      await deployer.send(quote, "transfer", [address, quoteAmount]);
      await deployer.send({ address, abi }, "mint", [owner]);
      return address;
    },
  };
}
