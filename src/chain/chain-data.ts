// Addresses and feeds of every chain, from chain-data/<slug>/: checked when the module that uses them is loaded.
import { Fault } from "../lib/fault.ts";
import { isJsonObject, type JsonObject } from "../lib/json.ts";
import { type Shape, shape } from "../lib/json-shape.ts";
import type { ChainInfo } from "./chains/chain-info.ts";
import { CHAINS } from "./chains/chains.ts";
import { listDataFiles, readDataFile } from "./data-file.ts";

/** The kinds of files, and the groups that each may have. A chain without a group has nothing of that kind. */
export const CHAIN_DATA_GROUPS = {
  lending: ["aave-v2", "aave-v3", "compound-v2", "compound-v3", "moonwell", "morpho-blue", "spark", "venus"],
  liquidity: ["spot-prices", "uniswap-v2", "uniswap-v3", "uniswap-v4"],
  "price-feeds": ["chainlink"],
  spenders: ["spenders"],
  staking: ["aave-staking", "ethena", "ether-fi", "lido", "rocket-pool"],
  tokens: ["stablecoins"],
  vaults: ["erc4626", "sky"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Kind = keyof typeof CHAIN_DATA_GROUPS;

/** Throws unless the files are those that chains list: without one of them a service would silently sell less. */
export function checkDataFiles(
  chains: readonly Pick<ChainInfo, "slug" | "dataFiles">[],
  present: readonly string[],
): void {
  const listed = chains.flatMap(({ slug, dataFiles }) => dataFiles.map((kind) => `${slug}/${kind}.json`));
  const missing = listed.find((path) => !present.includes(path));
  if (missing !== undefined) {
    throw new Fault(
      "INTERNAL",
      `chain-data/${missing} is missing, but chain-data/chains.json lists it: install Sextant again.`,
    );
  }
  const surplus = present.find((path) => !listed.includes(path));
  if (surplus !== undefined) {
    throw new Fault(
      "INTERNAL",
      `chain-data/${surplus} is not listed in chain-data/chains.json: add it to its chain's dataFiles, or delete it.`,
    );
  }
}

checkDataFiles(CHAINS, listDataFiles());

/** The source of data, and the day of the source, or the day on which it was read. */
export const dataOrigin = { sources: shape.list(shape.text), date: shape.date };

/** The data of one group on every chain that has it, by chain id. */
export function readChainData<K extends Kind, T>(
  kind: K,
  group: (typeof CHAIN_DATA_GROUPS)[K][number],
  data: Shape<T>,
  readFile: (path: string) => unknown = readDataFile,
): ReadonlyMap<number, T> {
  const groupShape = shape.object({ ...dataOrigin, data });
  const chains = CHAINS.filter(({ dataFiles }) => dataFiles.includes(kind)).sort(
    (a, b) => a.chainId - b.chainId,
  );
  return new Map(
    chains.flatMap(({ slug, chainId }) => {
      const path = `${slug}/${kind}.json`;
      const value = readGroups(path, readFile(path), CHAIN_DATA_GROUPS[kind])[group];
      const read = value === undefined ? null : groupShape(value, `chain-data/${path}: ${group}`);
      return read === null ? [] : [[chainId, read.data as T]];
    }),
  );
}

function readGroups(path: string, groups: unknown, known: readonly string[]): JsonObject {
  const surplus = isJsonObject(groups) ? Object.keys(groups).find((name) => !known.includes(name)) : "";
  if (isJsonObject(groups) && surplus === undefined) return groups;
  throw new Fault(
    "INTERNAL",
    `chain-data/${path} must have groups among ${known.join(", ")}, not ${surplus || "a list"}.`,
  );
}
