// Spot prices by the 1inch OffchainOracle, believed only where known pools hold enough and say the same.

import { decodeWord } from "../../lib/abi/return-data.ts";
import { compareDecimals, type Decimal, multiplyDecimals, SCALE_MAX } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../multicall.ts";
import { type AssetKey, getAssetKey, type PinnedChain, type PriceSource } from "../types.ts";
import { SPOT_MARKETS, type SpotMarket } from "./spot-markets.ts";
import { listPoolLookups, type SpotPool } from "./spot-pools.ts";

const getRateToEth = createCallEncoder(
  "function getRateToEthWithThreshold(address, bool, uint256) view returns (uint256)",
);

// One rate walks dozens of pools; a wallet full of unknown tokens must not turn into minutes of a node's time.
const TOKENS_MAX = 20;
// Nodes commonly stop a call at 50 million; a rate needs a few, and a token that burns more is not worth a price.
const RATE_GAS_MAX = 20_000_000;
// Pools with less than a tenth of the heaviest one's weight do not count: they are the cheap ones to bend.
const WEIGHT_PERCENT_MIN = 10n;
// Fewer digits than this are mostly rounding: the rate is a whole number.
const RATE_MIN = 1_000n;
// What the pools of a token must hold of the native coin, in dollars: less, and a stranger sets the price at will.
const LIQUIDITY_USD_MIN: Decimal = { units: 50_000n, scale: 0 };
// Weights count liquidity around the price, which can be staged with little money; the deepest pool must agree.
const DIFFERENCE_PERCENT_MAX = 10n;
const NATIVE_DECIMALS = 18;

type OffchainOracleOptions = {
  /** Says what the native coin is worth; without that there is no price at all. */
  readonly nativePrice: PriceSource;
  readonly markets?: ReadonlyMap<number, SpotMarket>;
};

type Token = { readonly key: AssetKey; readonly contract: Hex; readonly decimals: number };
type Quote = Token & { readonly rate: bigint; readonly pools: readonly SpotPool[] };

export function createOffchainOracleSource(options: OffchainOracleOptions): PriceSource {
  const markets = options.markets ?? SPOT_MARKETS;
  return {
    name: "1inch-spot",
    async read({ at, assets }, signal) {
      const market = markets.get(at.chain.chainId);
      const askable = assets.flatMap((asset) => tokenOf(asset.contract, asset.decimals, getAssetKey(asset)));
      if (market === undefined || askable.length === 0) return { prices: new Map(), warnings: [] };
      const asked = askable.slice(0, TOKENS_MAX);
      const warnings =
        askable.length > asked.length
          ? [
              `Only ${TOKENS_MAX} of ${askable.length} tokens were asked for a spot price on ${at.chain.name}.`,
            ]
          : [];

      const native = { contract: null, ...at.chain.native, logo: null };
      const [nativeAnswer, quotes] = await Promise.all([
        options.nativePrice.read({ at, assets: [native] }, signal),
        readQuotes(at, market, asked, signal),
      ]);
      const nativeUsd = nativeAnswer.prices.get("native");
      if (nativeUsd === undefined || quotes.length === 0) return { prices: new Map(), warnings };
      return { prices: await priceQuotes(at, quotes, nativeUsd, signal), warnings };
    },
  };
}

/** Rates and the pools that stand behind them, in one round trip. */
async function readQuotes(
  at: PinnedChain,
  market: SpotMarket,
  tokens: readonly Token[],
  signal: AbortSignal,
): Promise<readonly Quote[]> {
  const asked = tokens.map((token) => ({ token, inquiries: listPoolLookups(market, token.contract) }));
  const calls = asked.flatMap(({ token, inquiries }) => [
    getRateToEth(market.oracle, [token.contract, false, WEIGHT_PERCENT_MIN], RATE_GAS_MAX),
    ...inquiries.map(({ call }) => call),
  ]);
  const answers = (await readByMulticall(at, calls, signal)).values();
  return asked.flatMap(({ token, inquiries }) => {
    const rate = decodeWord(answers.next().value);
    const pools = inquiries.flatMap(({ pool }) => pool(answers.next().value) ?? []);
    return rate === null || rate < RATE_MIN || pools.length === 0 ? [] : [{ ...token, rate, pools }];
  });
}

/** The second round trip: what the pools hold and say decides whether a rate becomes a price. */
async function priceQuotes(
  at: PinnedChain,
  quotes: readonly Quote[],
  nativeUsd: Decimal,
  signal: AbortSignal,
): Promise<ReadonlyMap<AssetKey, Decimal>> {
  const calls = quotes.flatMap(({ pools }) => pools.flatMap((pool) => pool.calls));
  const answers = (await readByMulticall(at, calls, signal)).values();
  const prices = new Map<AssetKey, Decimal>();
  for (const quote of quotes) {
    const pools = quote.pools.map((pool) => pool.decodeState(answers.next().value, answers.next().value));
    const held = pools.reduce((sum, pool) => sum + pool.nativeBalance, 0n);
    const heldUsd = multiplyDecimals({ units: held, scale: NATIVE_DECIMALS }, nativeUsd);
    const deepest = pools.reduce((best, pool) => (pool.nativeBalance > best.nativeBalance ? pool : best));
    if (compareDecimals(heldUsd, LIQUIDITY_USD_MIN) < 0 || !agree(quote.rate, deepest.rate)) continue;
    prices.set(quote.key, multiplyDecimals(nativePerToken(quote), nativeUsd));
  }
  return prices;
}

function agree(rate: bigint, poolRate: bigint | null): boolean {
  if (poolRate === null) return false;
  const difference = rate > poolRate ? rate - poolRate : poolRate - rate;
  return difference * 100n <= poolRate * DIFFERENCE_PERCENT_MAX;
}

/** The rate is native units for 10^18 units of the token; this is native coins for one whole token. */
function nativePerToken({ rate, decimals }: Quote): Decimal {
  const scale = 18 + NATIVE_DECIMALS - decimals;
  return scale >= 0 ? { units: rate, scale } : { units: rate * 10n ** BigInt(-scale), scale: 0 };
}

// Without decimals nobody knows what one whole token is.
function tokenOf(contract: Hex | null, decimals: number | null, key: AssetKey): Token[] {
  if (contract === null || decimals === null || decimals > SCALE_MAX) return [];
  return [{ key, contract: lowerCase(contract), decimals }];
}

function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
