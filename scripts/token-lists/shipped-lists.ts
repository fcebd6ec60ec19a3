// The token lists that Sextant ships, made from permissively licensed packages; the same input gives the same bytes.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { CHAINS } from "../../src/chain/chains/chains.ts";
import { mergeTokenLists, parseTokenList, type TokenList } from "../../src/portfolio/tokens/token-list.ts";
import type { ListedToken } from "../../src/portfolio/types.ts";

type PublicList = { readonly timestamp: string; readonly tokens: readonly unknown[] };
type Metadata = Readonly<
  Record<
    string,
    {
      readonly name: string;
      readonly symbol: string;
      readonly decimals: number;
      readonly logo?: string;
      readonly erc20?: boolean;
    }
  >
>;

/** The chains that the portfolio supports. */
export const LISTED_CHAINS = CHAINS.filter(({ mainnet }) => mainnet);

const VERSION = { major: 1, minor: 0, patch: 0 };

const OPTIMISM = "@eth-optimism/tokenlist";
const AAVE = "@aave-dao/aave-address-book";
const METAMASK = "@metamask/contract-metadata";

const packages = createRequire(import.meta.url);

const readOptimism = () => (packages(OPTIMISM) as { readonly default: PublicList }).default;
const readAave = () => readPackageJson<PublicList>(AAVE, "tokenlist.json");

/** Most trusted first. */
export function readPackageLists(): readonly TokenList[] {
  const chainIds = new Set(LISTED_CHAINS.map(({ chainId }) => chainId));
  // The bridges' list first: its names are edited by hand. Aave's names come from its contracts.
  return [
    parseTokenList(readOptimism(), OPTIMISM, chainIds),
    parseTokenList(readAave(), AAVE, chainIds),
    metamaskList(chainIds),
  ];
}

/** File name → text. */
export function buildShippedLists(): ReadonlyMap<string, string> {
  const [optimism, aave] = [readOptimism(), readAave()];
  const lists = readPackageLists();
  const timestamp = [optimism.timestamp, aave.timestamp]
    .map((text) => new Date(text).toISOString())
    .sort()
    .at(-1);
  return new Map(
    LISTED_CHAINS.map((chain) => {
      const list = {
        name: `Sextant ${chain.name}`,
        timestamp,
        version: VERSION,
        tokens: rowsOf(lists, chain.chainId),
      };
      return [`${chain.slug}.json`, `${JSON.stringify(list, null, 2)}\n`];
    }),
  );
}

/** Only Ethereum, and only what is an amount: the package lists collectibles too. */
function metamaskList(chainIds: ReadonlySet<number>): TokenList {
  const { version } = readPackageJson<{ readonly version: string }>(METAMASK, "package.json");
  const metadata = readPackageJson<Metadata>(METAMASK, "contract-map.json");
  const tokens = Object.entries(metadata)
    .filter(([, { erc20 }]) => erc20 === true)
    .map(([address, { name, symbol, decimals, logo }]) => ({
      chainId: 1,
      address,
      name,
      symbol,
      decimals,
      ...(logo === undefined ? {} : { logoURI: logoAddress(version, logo) }),
    }));
  return parseTokenList({ tokens }, METAMASK, chainIds);
}

// The package names its pictures by file; this is where the files of that very version can be seen.
function logoAddress(version: string, logo: string): string {
  return `https://cdn.jsdelivr.net/npm/${METAMASK}@${version}/images/${encodeURIComponent(logo)}`;
}

function rowsOf(lists: readonly TokenList[], chainId: number) {
  return [...mergeTokenLists(lists, chainId).values()]
    .sort((a, b) => (a.contract < b.contract ? -1 : 1))
    .map((token) => row(token, chainId));
}

function row({ contract, symbol, name, decimals, logo }: ListedToken, chainId: number) {
  return { chainId, address: contract, symbol, name, decimals, ...(logo === null ? {} : { logoURI: logo }) };
}

function readPackageJson<T>(name: string, file: string): T {
  const folder = new URL(`../../node_modules/${name}/`, import.meta.url);
  return JSON.parse(readFileSync(new URL(file, folder), "utf8")) as T;
}
