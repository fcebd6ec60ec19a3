// Writes the Chainlink feeds of each chain as data files: `npm run price-feeds -- <clone of euler-xyz/oracle-checks>`.
// That repository keeps a copy of Chainlink's directory of feeds per chain and renews it daily. The newest copy of each
// chain counts, also if a chain was dropped since; its commit and date go into the data file.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PRICED_CHAINS, type PricedChain } from "./price-feeds/priced-tokens.ts";

const FOLDER = "src/chain/price-feeds";
const REPOSITORY = "github.com/euler-xyz/oracle-checks";

type DirectoryEntry = {
  readonly path: string;
  readonly name: string;
  readonly proxyAddress: string | null;
  readonly heartbeat?: number;
};
type Copy = { readonly commit: string; readonly date: string; readonly entries: readonly DirectoryEntry[] };

const [clone] = process.argv.slice(2);
if (clone === undefined) throw new Error("name the folder of a clone of euler-xyz/oracle-checks");

for (const chain of PRICED_CHAINS) {
  await writeFile(join(FOLDER, `${chain.file}.ts`), source(chain, readCopy(clone, chain.chainId)));
  process.stdout.write(`${FOLDER}/${chain.file}.ts: ${chain.tokens.length} tokens\n`);
}

function readCopy(folder: string, chainId: number): Copy {
  const file = `data/${chainId}/chainlink/metadata.json`;
  // A commit that removes the file is none that has it.
  const log = git(folder, "log", "-1", "--diff-filter=AM", "--format=%H %cs", "--", file).trim();
  const [commit, date] = log.split(" ");
  if (!commit || !date) throw new Error(`${folder} has no ${file}`);
  return { commit, date, entries: JSON.parse(git(folder, "show", `${commit}:${file}`)) };
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function source(chain: PricedChain, { commit, date, entries }: Copy): string {
  const feed = (path: string) => describeFeed(findEntry(entries, path, chain.title));
  const native = feed(chain.nativePath);
  const fallback = chain.nativeFallbackPath === null ? null : feed(chain.nativeFallbackPath);
  const etherFeed = fallback === null ? `{ ${native} }` : `{ ${native}, fallback: { ${fallback} } }`;
  const rows = chain.tokens.map(([symbol, token, path]) =>
    path === chain.nativePath && token === chain.wrappedNative
      ? `    "${token}": native, // ${symbol}`
      : `    "${token}": { ${feed(path)} }, // ${symbol}`,
  );
  return `// Chainlink's dollar feeds on ${chain.title}, each for exactly that asset; written by scripts/price-feeds.ts.
import type { ChainlinkFeed, ChainPriceFeeds } from "./price-feed.ts";

// biome-ignore format: one feed a line
const native: ChainlinkFeed = ${etherFeed};

// biome-ignore format: one feed a line
export const ${chain.file}Feeds: ChainPriceFeeds = {
  native,
  wrappedNative: "${chain.wrappedNative}",
  sequencer: ${chain.sequencer === null ? "null" : `"${chain.sequencer}"`},
  tokens: {
${rows.join("\n")}
  },
  directory: {
    repository: "${REPOSITORY}",
    commit: "${commit}",
    date: "${date}",
  },
};
`;
}

function findEntry(entries: readonly DirectoryEntry[], path: string, title: string): DirectoryEntry {
  const found = entries.filter((entry) => entry.path === path && entry.proxyAddress);
  const [entry] = found;
  if (entry === undefined || found.length > 1) throw new Error(`${title} has ${found.length} feeds ${path}`);
  if (!/ ?\/ ?USD$/.test(entry.name)) throw new Error(`${title}: ${entry.name} is no dollar feed`);
  return entry;
}

function describeFeed({ proxyAddress, heartbeat, name }: DirectoryEntry): string {
  if (!proxyAddress || !Number.isSafeInteger(heartbeat)) throw new Error(`${name} has no heartbeat`);
  const seconds = String(heartbeat).replace(/\B(?=(\d{3})+$)/g, "_");
  return `feed: "${proxyAddress.toLowerCase()}", heartbeatSeconds: ${seconds}`;
}
