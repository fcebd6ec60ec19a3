// Chooses the pairs of a contract and a spender to read: what the wallet holds with every known spender, and what logs name.
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import {
  type ChainConfig,
  type Delegation,
  getAssetKey,
  type Holding,
  isListed,
  type TransferLog,
} from "../types.ts";
import type { ChainData } from "../valuation/snapshot-data.ts";
import { compareByValue, valueAsset } from "../valuation/usd.ts";
import type { ApprovedPair } from "./approval-logs.ts";
import { collectDelegationReads } from "./delegations.ts";
import { PERMIT2 } from "./revocations.ts";
import { distinctReads, type PermissionRead } from "./scan-permissions.ts";
import type { ChainSpenders } from "./spenders.ts";

type CandidateSources = {
  readonly chain: ChainConfig;
  readonly wallet: Hex;
  readonly delegations: readonly Delegation[];
  /** In the order in which they matter. */
  readonly holdings: readonly Holding[];
  readonly transfers: readonly TransferLog[];
  /** Newest first. */
  readonly approvals: readonly ApprovedPair[];
  readonly spenders: ChainSpenders;
  /** Pairs that the request asks about. */
  readonly asked?: readonly PermissionRead[];
};

export type Candidates = {
  readonly reads: readonly PermissionRead[];
  /** Approvals of single NFTs, newest first. */
  readonly nfts: readonly (ApprovedPair & { readonly tokenId: bigint })[];
  /** Pairs beyond the limits. */
  readonly omitted: number;
  /** Some of them are of listed tokens that are held. */
  readonly omitsHeld: boolean;
};

// Twenty calls of the scanner at most.
const PAIRS_MAX = 20_000;
// Room for the pairs of logs, protocols and collections.
const OTHER_PAIRS = 3_000;
// Most pairs from logs of held tokens, of listed ones that are not held, and of others: each a month of a very busy
// wallet. Anyone can emit logs in the name of a wallet, and many listed tokens log an approval when someone else
// transfers nothing from it.
const LOGGED_PAIRS_MAX = 1_000;
// Two reads each, bundled.
const NFTS_MAX = 200;
const COLLECTIONS_MAX = 100;

const TOKEN_KINDS: ReadonlySet<string> = new Set(["erc20-allowance", "permit2-allowance", "nft-operator"]);

/** Known protocols are trusted; a token if a list has it. */
type CandidateRead = Omit<PermissionRead, "trusted"> & Partial<Pick<PermissionRead, "trusted">>;

/** Whether all held tokens can be read with every known spender. */
export function fitsAllPairs(
  holdings: readonly Holding[],
  { ofTokens, ofPermit2 }: Pick<ChainSpenders, "ofTokens" | "ofPermit2">,
): boolean {
  return holdings.length * (ofTokens.length + ofPermit2.length) <= PAIRS_MAX - OTHER_PAIRS;
}

/** The most valuable first; then listed ones, whose price may be missing for a while, and unlisted ones last. */
export function rankHoldings(
  chain: ChainConfig,
  holdings: readonly Holding[],
  prices: ChainData["prices"],
): readonly Holding[] {
  const ranked = holdings.map((holding) => {
    const price = prices.get(getAssetKey(holding)) ?? null;
    const { value } = valueAsset(holding, price);
    return { holding, value, isStrange: !isListed(chain, holding) };
  });
  return ranked
    .sort((a, b) => compareByValue(a, b) || Number(a.isStrange) - Number(b.isStrange))
    .map(({ holding }) => holding);
}

export function collectCandidates(sources: CandidateSources): Candidates {
  const { chain, holdings, transfers, approvals, spenders, delegations, wallet, asked = [] } = sources;
  const held = holdings.flatMap(({ contract }) => contract ?? []);
  const isKnown = (contract: Hex) => isListed(chain, { contract });
  const tokens = new Set(held);
  const comets = new Set(delegations.filter(({ form }) => form === "comet").map(({ contract }) => contract));
  // The token of a Comet and everything in it are allowed by one word, which is read once.
  const logged = approvals.filter(({ kind, contract }) => TOKEN_KINDS.has(kind) && !comets.has(contract));
  const [ofHeld, ofListed, ofUnlisted] = [
    takeTurns(logged.filter(({ contract }) => tokens.has(contract))),
    takeTurns(logged.filter(({ contract }) => !tokens.has(contract) && isKnown(contract))),
    takeTurns(logged.filter(({ contract }) => !tokens.has(contract) && !isKnown(contract))),
  ];
  // Tokens that may arrive again soon are read although they are not held: an old allowance takes the next deposit.
  const read = [...new Set([...chain.stablecoins, ...held])];
  const collections = new Set(
    transfers.flatMap(({ isErc721, contract }) => (isErc721 === true && contract !== null ? [contract] : [])),
  );
  const wanted: readonly CandidateRead[] = [
    ...asked,
    ...collectDelegationReads(delegations, wallet, approvals, spenders),
    ...held.filter(isKnown).flatMap(withSpenders("erc777", [wallet])),
    ...ofHeld.kept.flatMap(toReads),
    ...read
      .filter((contract) => !comets.has(contract))
      .flatMap((contract) => [
        ...withSpenders("erc20-allowance", spenders.ofTokens)(contract),
        ...withSpenders("permit2-allowance", spenders.ofPermit2)(contract),
      ]),
    ...[...ofListed.kept, ...ofUnlisted.kept].flatMap(toReads),
    ...[...collections]
      .slice(0, COLLECTIONS_MAX)
      .flatMap(withSpenders("nft-operator", spenders.ofCollections)),
  ];
  const distinct = distinctReads(wanted);
  const [kept, cut] = [distinct.slice(0, PAIRS_MAX), distinct.slice(PAIRS_MAX)];
  // The scanner limits the gas of each contract while its pairs are neighbours.
  const grouped = groupBy(kept, ({ kind, contract }) => `${kind} ${contract}`);
  const nfts = approvals.flatMap((pair) =>
    pair.kind === "nft-approval" && pair.tokenId !== null ? [{ ...pair, tokenId: pair.tokenId }] : [],
  );
  return {
    reads: [...grouped.values()].flat().map((pair) => ({ trusted: isKnown(pair.contract), ...pair })),
    nfts: nfts.slice(0, NFTS_MAX),
    omitted:
      [ofHeld, ofListed, ofUnlisted].reduce((sum, { left }) => sum + left.length, 0) +
      cut.length +
      Math.max(0, nfts.length - NFTS_MAX) +
      Math.max(0, collections.size - COLLECTIONS_MAX) * spenders.ofCollections.length,
    omitsHeld: [...cut, ...ofHeld.left].some(({ contract }) => isKnown(contract) && tokens.has(contract)),
  };
}

/** The newest of each contract, then the second of each: logs of one contract push out none of another. */
function takeTurns(pairs: readonly ApprovedPair[]) {
  const counts = new Map<Hex, number>();
  const turns = pairs.map((pair) => {
    const turn = counts.get(pair.contract) ?? 0;
    counts.set(pair.contract, turn + 1);
    return { pair, turn };
  });
  const sorted = turns.sort((a, b) => a.turn - b.turn).map(({ pair }) => pair);
  return { kept: sorted.slice(0, LOGGED_PAIRS_MAX), left: sorted.slice(LOGGED_PAIRS_MAX) };
}

function withSpenders(kind: PermissionRead["kind"], spenders: readonly Hex[]) {
  return (contract: Hex) => spenders.map((spender): CandidateRead => ({ kind, contract, spender }));
}

/** With an allowance in Permit2 the one of Permit2 itself, without which it is worth nothing. */
function toReads({ kind, contract, spender }: ApprovedPair): readonly CandidateRead[] {
  const read = { kind: kind as PermissionRead["kind"], contract, spender };
  return kind === "permit2-allowance"
    ? [{ kind: "erc20-allowance", contract, spender: PERMIT2 }, read]
    : [read];
}
