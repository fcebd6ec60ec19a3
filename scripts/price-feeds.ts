// Writes the Chainlink feeds of each chain as data files: `npm run price-feeds -- <clone of euler-xyz/oracle-checks>`.
// That repository keeps a copy of Chainlink's directory of feeds per chain and renews it daily. The newest copy of each
// chain counts, also if a chain was dropped since; its commit and date go into the data file.
import { execFileSync } from "node:child_process";
import { writeGroup } from "./chain-data/data-files.ts";
import { findFeedPath, PRICED_CHAINS, type PricedChain } from "./price-feeds/priced-tokens.ts";

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
  const copy = readCopy(clone, chain.chainId);
  const sources = [`${REPOSITORY} at ${copy.commit}`];
  const data = describeFeeds(chain, copy);
  writeGroup(chain.slug, "price-feeds", "chainlink", { sources, date: copy.date, data });
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

function describeFeeds(chain: PricedChain, { entries }: Copy) {
  const feed = (path: string) => describeFeed(findEntry(entries, path, chain.slug));
  const { nativePath, nativeFallbackPath, sequencer } = chain;
  return {
    native: {
      ...feed(nativePath),
      ...(nativeFallbackPath !== null && { fallback: feed(nativeFallbackPath) }),
    },
    sequencer,
    tokens: chain.tokens.map(({ symbol, token }) => ({
      symbol,
      token,
      ...feed(findFeedPath({ symbol, token })),
    })),
  };
}

function findEntry(entries: readonly DirectoryEntry[], path: string, slug: string): DirectoryEntry {
  const found = entries.filter((entry) => entry.path === path && entry.proxyAddress);
  const [entry] = found;
  if (entry === undefined || found.length > 1) throw new Error(`${slug} has ${found.length} feeds ${path}`);
  if (!/ ?\/ ?USD$/.test(entry.name)) throw new Error(`${slug}: ${entry.name} is not a dollar feed`);
  return entry;
}

function describeFeed({ proxyAddress, heartbeat, name }: DirectoryEntry) {
  if (!proxyAddress || !Number.isSafeInteger(heartbeat)) throw new Error(`${name} has no heartbeat`);
  return { feed: proxyAddress.toLowerCase(), heartbeatSeconds: heartbeat };
}
