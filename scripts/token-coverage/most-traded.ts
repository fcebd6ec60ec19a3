// The tokens of each chain whose coins are traded most worldwide, from public copies of CoinGecko's lists, and Sushi's list.
import { openClone } from "../token-lists/clone.ts";
import { LISTED_CHAINS } from "../token-lists/shipped-lists.ts";

const TOKENS_MAX = 500;

/** Up to 500 tokens a chain, the largest volume of the coin on all chains and exchanges first. */
const RANKED = {
  repository: "cowprotocol/token-lists",
  commit: "4a002ef33b37382db3ce2f966a7f454d276eafd3",
  date: "2026-08-22",
  files: "src/public/CoinGecko.<chain>.json",
};

/** The 5,000 largest coins with their contracts on each chain, Optimism's among them, but without an order. */
const CONTRACTS = {
  repository: "brave/token-lists",
  commit: "deb0de9919838867cc8ef2c3757ba8976e2ec8ef",
  date: "2026-05-06",
  files: "data/v1/coingecko-top5000.json",
};

/**
 * The list that Sushi's interface showed by default. Not a source of ours: a source would be measured by itself. None
 * of Base.
 */
const SUSHI_LIST = {
  repository: "@sushiswap/default-token-list",
  commit: "43.3.0",
  date: "2024-03-06",
  files: "build/sushiswap-default.tokenlist.json",
};

/** The one chain that the ranked lists leave out. */
const OPTIMISM = 10;

type MostTraded = {
  readonly sources: readonly (typeof RANKED)[];
  /** Lower-case addresses by slug, the most traded first. */
  readonly chains: Readonly<Record<string, readonly string[]>>;
  /** The tokens of Sushi's list, by slug. */
  readonly sushi: Readonly<Record<string, readonly string[]>>;
};

type Coins = Readonly<
  Record<string, Readonly<Record<string, { readonly coingeckoId?: string }>> | undefined>
>;

export function readMostTraded(clones: string): MostTraded {
  const ranked = openClone(clones, RANKED);
  const coins = openClone(clones, CONTRACTS).readJson(CONTRACTS.files) as Coins;
  const rankedChains = LISTED_CHAINS.filter(({ chainId }) => chainId !== OPTIMISM);
  const addresses = new Map(
    rankedChains.map(({ chainId }) => {
      const list = ranked.readJson(RANKED.files.replace("<chain>", String(chainId)));
      const { tokens } = list as { readonly tokens: readonly { readonly address: string }[] };
      return [chainId, tokens.map(({ address }) => address.toLowerCase())];
    }),
  );
  const optimism = rankOptimism(coins, addresses);
  const chains = LISTED_CHAINS.map(({ slug, chainId }): [string, readonly string[]] => {
    return [slug, (addresses.get(chainId) ?? optimism).slice(0, TOKENS_MAX)];
  });
  return {
    sources: [RANKED, CONTRACTS, SUSHI_LIST],
    chains: Object.fromEntries(chains),
    sushi: readSushi(clones),
  };
}

function readSushi(clones: string): MostTraded["sushi"] {
  const list = openClone(clones, SUSHI_LIST).readJson(SUSHI_LIST.files);
  const { tokens } = list as {
    readonly tokens: readonly { readonly chainId: number; readonly address: string }[];
  };
  return Object.fromEntries(
    LISTED_CHAINS.map(({ slug, chainId }) => [
      slug,
      tokens.filter((token) => token.chainId === chainId).map(({ address }) => address.toLowerCase()),
    ]),
  );
}

/** Sorted by the best rank of the same coin on any other chain: all the lists are sorted by the coin's volume. */
function rankOptimism(coins: Coins, ranked: ReadonlyMap<number, readonly string[]>): readonly string[] {
  const placeOf = new Map<string, number>();
  for (const [chainId, addresses] of ranked) {
    const ids = coins[`0x${chainId.toString(16)}`] ?? {};
    for (const [place, address] of addresses.entries()) {
      const id = ids[address]?.coingeckoId;
      if (id !== undefined) placeOf.set(id, Math.min(place, placeOf.get(id) ?? place));
    }
  }
  return Object.entries(coins[`0x${OPTIMISM.toString(16)}`] ?? {})
    .map(([address, { coingeckoId = "" }]) => ({
      address: address.toLowerCase(),
      place: placeOf.get(coingeckoId) ?? Number.MAX_SAFE_INTEGER,
    }))
    .sort((a, b) => a.place - b.place || (a.address < b.address ? -1 : 1))
    .map(({ address }) => address);
}
