// The public repositories whose token data is extracted into token-lists/repositories, each at one commit.
import { PRICED_CHAINS } from "../price-feeds/priced-tokens.ts";
import type { RepositoryFiles } from "./clone.ts";

/** A token as a repository describes it; not yet checked. */
export type RepositoryRow = {
  readonly chainId: unknown;
  readonly address: unknown;
  readonly symbol: unknown;
  readonly name: unknown;
  readonly decimals: unknown;
};

export type RepositorySource = {
  /** owner/name on GitHub, or a package. */
  readonly repository: string;
  /** Or the version of the package. */
  readonly commit: string;
  /** The date of the commit or version. */
  readonly date: string;
  /** `facts`: only contract addresses, symbols and decimals are taken, which no licence covers. */
  readonly licence: "MIT" | "facts";
  readonly copyright: string | null;
  readonly files: string;
  /** Its tokens are those of a protocol or a feed that the service reads: all of them are listed. */
  readonly required?: true;
  read(files: RepositoryFiles): readonly RepositoryRow[];
};

type Rows = readonly RepositoryRow[];
type RowList = { readonly tokens: Rows };

const SMOLDAPP_LISTS = ["popular", "smolAssets", "coingecko"];

/**
 * The list that Uniswap's interface shows by default. The repository lacks the bridged tokens, which only the package
 * has.
 */
const UNISWAP_LIST = {
  repository: "@uniswap/default-token-list",
  commit: "22.21.0",
  date: "2026-09-27",
  files: "build/uniswap-default.tokenlist.json",
};

/** Most trusted first: the first that has a token describes it. */
export const REPOSITORY_SOURCES: readonly RepositorySource[] = [
  {
    repository: "balancer/tokenlists",
    commit: "98df981f36d3e2011434108d4e12612ca3f04195",
    date: "2026-08-05",
    licence: "MIT",
    copyright: "Balancer",
    files: "generated/balancer.tokenlist.json",
    read: (files) => (files.readJson("generated/balancer.tokenlist.json") as RowList).tokens,
  },
  {
    repository: "morpho-org/morpho-blue-api-metadata",
    commit: "72f3f35acb08cd95401599691b1e451c65c89548",
    date: "2026-05-05",
    licence: "facts",
    copyright: null,
    files: "data/tokens.json, the loan and collateral tokens that Morpho lists",
    required: true,
    read: (files) =>
      (files.readJson("data/tokens.json") as readonly (RepositoryRow & { isListed?: boolean })[]).filter(
        ({ isListed }) => isListed === true,
      ),
  },
  {
    repository: "compound-finance/comet",
    commit: "d5a30b0aaeff7755f1431e87f818990902237b03",
    date: "2026-05-29",
    licence: "facts",
    copyright: null,
    files: "deployments/*/*/configuration.json, the collaterals of each market",
    required: true,
    read: readCompound,
  },
  {
    repository: "SmolDapp/tokenAssets",
    commit: "a2b3f1f9edbd85dd773e3550821c1fc2ebf4a2c3",
    date: "2026-08-22",
    licence: "MIT",
    copyright: "2024 Smol",
    files: "tokens/*/*/info.json",
    read: readSmolAssets,
  },
  {
    repository: "SmolDapp/tokenLists",
    commit: "da518e2881a404ca45928db114987c0b3ff5c77b",
    date: "2025-10-19",
    licence: "MIT",
    copyright: "2023 The Migratooor",
    files: SMOLDAPP_LISTS.map((name) => `lists/${name}.json`).join(", "),
    read: (files) =>
      SMOLDAPP_LISTS.flatMap((name) => (files.readJson(`lists/${name}.json`) as RowList).tokens),
  },
  {
    repository: "smartcontractkit/documentation",
    commit: "59e5cde702f77672c34c9cf76d27735c390a1f98",
    date: "2026-08-21",
    licence: "MIT",
    copyright: "2026 SmartContract Chainlink Limited SEZC",
    files: "src/config/data/ccip/v1_2_0/mainnet/tokens.json",
    read: readChainlinkBridge,
  },
  {
    repository: "maticnetwork/polygon-token-list",
    commit: "9b824dc999cf2a38bb5b4d0a1326029b4fc4fe39",
    date: "2025-02-10",
    licence: "MIT",
    copyright: "2023 PT Services DMCC",
    files: "src/tokens/defaultTokens.json, tokens of the PoS bridge",
    read: readPolygonBridge,
  },
  {
    repository: "1delta-DAO/token-lists",
    commit: "1f8ebf641d335ff85c8f4fa9f0b5e2bab2f47105",
    date: "2025-11-15",
    licence: "facts",
    copyright: null,
    files: "42161.json, the tokens with a pinned price feed",
    required: true,
    read: readPricedTokens,
  },
  {
    ...UNISWAP_LIST,
    licence: "facts",
    copyright: null,
    read: (files) => (files.readJson(UNISWAP_LIST.files) as RowList).tokens,
  },
];

/** Chains by the name of the network in Compound's deployments. */
const CHAIN_IDS = { mainnet: 1, optimism: 10, polygon: 137, base: 8453, arbitrum: 42161 };

function readCompound(files: RepositoryFiles): Rows {
  type Collateral = { readonly address?: string; readonly decimals: string };
  type Configuration = {
    readonly baseToken: string;
    readonly baseTokenAddress?: string;
    readonly assets?: Readonly<Record<string, Collateral>>;
  };
  return Object.entries(CHAIN_IDS).flatMap(([network, chainId]) => {
    const markets = files.readJsonBelow(`deployments/${network}`, "/configuration.json");
    return [...markets.values()].flatMap((market) => {
      const { baseToken, baseTokenAddress, assets = {} } = market as Configuration;
      const collaterals = Object.entries(assets).map(([symbol, { address, decimals }]) => ({
        chainId,
        address,
        symbol,
        name: symbol,
        decimals: Number(decimals),
      }));
      // Without decimals: other sources must have it.
      const base = { chainId, address: baseTokenAddress, symbol: baseToken, name: baseToken, decimals: null };
      return [base, ...collaterals];
    });
  });
}

function readPricedTokens(files: RepositoryFiles): Rows {
  type Row = RepositoryRow & { readonly address: string };
  // The other sources have those of the other chains.
  return PRICED_CHAINS.filter(({ chainId }) => chainId === CHAIN_IDS.arbitrum).flatMap(
    ({ chainId, tokens, wrappedNative }) => {
      const { list } = files.readJson(`${chainId}.json`) as { readonly list: Readonly<Record<string, Row>> };
      const rows = new Map(Object.values(list).map((row) => [row.address.toLowerCase(), row]));
      return [wrappedNative, ...tokens.map(({ token }) => token)].map((address) => {
        const { symbol, name, decimals } = rows.get(address) ?? {};
        return { chainId, address, symbol, name, decimals };
      });
    },
  );
}

function readSmolAssets(files: RepositoryFiles): Rows {
  return Object.values(CHAIN_IDS).flatMap((chainId) =>
    [...files.readJsonBelow(`tokens/${chainId}`, "/info.json")].map(([path, info]) => ({
      ...(info as Pick<RepositoryRow, "symbol" | "name" | "decimals">),
      chainId,
      address: path.split("/")[2],
    })),
  );
}

const CCIP_CHAINS: Readonly<Record<string, number>> = {
  mainnet: 1,
  "ethereum-mainnet-optimism-1": 10,
  "matic-mainnet": 137,
  "ethereum-mainnet-base-1": 8453,
  "ethereum-mainnet-arbitrum-1": 42161,
};

function readChainlinkBridge(files: RepositoryFiles): Rows {
  type Token = Pick<RepositoryRow, "symbol" | "name" | "decimals"> & { readonly tokenAddress: string };
  const path = "src/config/data/ccip/v1_2_0/mainnet/tokens.json";
  const tokens = files.readJson(path) as Readonly<Record<string, Readonly<Record<string, Token>>>>;
  return Object.values(tokens).flatMap((byChain) =>
    Object.entries(byChain).map(([chain, { symbol, name, decimals, tokenAddress }]) => ({
      chainId: CCIP_CHAINS[chain],
      address: tokenAddress,
      symbol,
      name,
      decimals,
    })),
  );
}

/** The network of the PoS bridge in Polygon's list. */
const POLYGON_POS = -1;

function readPolygonBridge(files: RepositoryFiles): Rows {
  type Wrapped = { readonly wrappedNetworkId?: number; readonly wrappedTokenAddress: string };
  type Token = RepositoryRow & { readonly wrappedTokens?: readonly (Wrapped & Partial<RepositoryRow>)[] };
  const tokens = files.readJson("src/tokens/defaultTokens.json") as readonly Token[];
  return tokens.flatMap(({ symbol, name, decimals, wrappedTokens = [] }) =>
    wrappedTokens
      .filter(({ wrappedNetworkId }) => wrappedNetworkId === POLYGON_POS)
      .map((wrapped) => ({
        chainId: 137,
        address: wrapped.wrappedTokenAddress,
        symbol: wrapped.symbol ?? symbol,
        name: wrapped.name ?? name,
        decimals: wrapped.decimals ?? decimals,
      })),
  );
}
