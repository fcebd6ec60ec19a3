// Prices by the Aave oracle, for the assets its market lists and no others.
import { parseAbi } from "viem";
import type { Decimal } from "../../kit/decimal.ts";
import type { Hex } from "../../kit/hex.ts";
import type { AssetKey, ChainAt, PriceAnswer, PriceSource } from "../ports.ts";
import type { AaveMarket } from "./aave-markets/aave-market.ts";
import { AAVE_MARKETS } from "./aave-markets/aave-markets.ts";
import { latestRound, sequencerRuns, sequencerWarning } from "./aggregator.ts";
import { contractCall } from "./contract-call.ts";
import type { ChainFeeds } from "./feeds/chain-feeds.ts";
import { CHAINLINK_FEEDS } from "./feeds/feeds.ts";

const oracleAbi = parseAbi([
  "function getAssetsPrices(address[] assets) view returns (uint256[])",
  "function getAssetPrice(address asset) view returns (uint256)",
  "function BASE_CURRENCY() view returns (address)",
  "function BASE_CURRENCY_UNIT() view returns (uint256)",
]);

// Aave writes the dollar as the zero address; an oracle with another base does not answer in dollars.
const US_DOLLAR = "0x0000000000000000000000000000000000000000";

export type AaveOracleOptions = {
  readonly markets?: ReadonlyMap<number, AaveMarket>;
  /** Only their sequencer feeds: the oracle itself does not look at them. */
  readonly feeds?: ReadonlyMap<number, ChainFeeds>;
};

export function createAaveOracle(options: AaveOracleOptions = {}): PriceSource {
  const { markets = AAVE_MARKETS, feeds = CHAINLINK_FEEDS } = options;
  return {
    name: "aave-oracle",
    async read({ at, assets }, signal) {
      const market = markets.get(at.chain.chainId);
      const listed = new Set(Object.values(market?.assets ?? {}));
      const keys = assets.flatMap(({ contract }) =>
        contract !== null && listed.has(lowerCase(contract)) ? [contract] : [],
      );
      if (market === undefined || keys.length === 0) return { prices: new Map(), warnings: [] };
      const sequencer = feeds.get(at.chain.chainId)?.sequencer ?? null;
      return readMarket(at, market.oracle, keys, sequencer, signal);
    },
  };
}

async function readMarket(
  at: ChainAt,
  to: Hex,
  keys: readonly Hex[],
  sequencer: Hex | null,
  signal: AbortSignal,
): Promise<PriceAnswer> {
  const base = contractCall({ to, abi: oracleAbi, name: "BASE_CURRENCY", args: [] });
  const unit = contractCall({ to, abi: oracleAbi, name: "BASE_CURRENCY_UNIT", args: [] });
  const all = contractCall({ to, abi: oracleAbi, name: "getAssetsPrices", args: [keys.map(lowerCase)] });
  const uptime = sequencer === null ? [] : [latestRound(sequencer)];
  const calls = [base, unit, all, ...uptime].map(({ read }) => read);
  const answers = await at.read(calls, signal);

  if (uptime[0] && !sequencerRuns(uptime[0].decode(answers[3]), at.block.timestamp)) {
    return { prices: new Map(), warnings: [sequencerWarning(at.chain.name, "the Aave oracle")] };
  }
  const scale = decimalsOf(unit.decode(answers[1]));
  if (base.decode(answers[0]) !== US_DOLLAR || scale === null) return { prices: new Map(), warnings: [] };

  const together = all.decode(answers[2]);
  const units = together?.length === keys.length ? together : await readOneByOne(at, to, keys, signal);
  const prices = new Map<AssetKey, Decimal>();
  for (const [i, key] of keys.entries()) {
    const price = units[i];
    // The oracle says zero for what it can not price.
    if (price) prices.set(key, { units: price, scale });
  }
  return { prices, warnings: [] };
}

// One source that reverts takes the whole list down with it; alone, it takes only itself.
async function readOneByOne(
  at: ChainAt,
  to: Hex,
  keys: readonly Hex[],
  signal: AbortSignal,
): Promise<readonly (bigint | null)[]> {
  const calls = keys.map((key) =>
    contractCall({ to, abi: oracleAbi, name: "getAssetPrice", args: [lowerCase(key)] }),
  );
  const answers = await at.read(
    calls.map(({ read }) => read),
    signal,
  );
  return calls.map((call, i) => call.decode(answers[i]));
}

function lowerCase(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}

/** The exponent of a power of ten; null for any other number, which would make a price a fraction. */
function decimalsOf(unit: bigint | null): number | null {
  const digits = unit === null ? "" : unit.toString();
  return /^10*$/.test(digits) ? digits.length - 1 : null;
}
