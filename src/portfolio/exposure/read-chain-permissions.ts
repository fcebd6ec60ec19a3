// All live permissions over a wallet on one chain at one block, with the tokens that they are about.
import { decodeAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent, nameFirst } from "../../lib/lists.ts";
import type { PermissionKind } from "../../schema/portfolio/exposure.ts";
import { readAccount } from "../account/kind.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import { defineRead } from "../contract-reads/reads.ts";
import type { ChainConfig, Holding, PinnedBlock, PinnedChain, WalletQuery } from "../types.ts";
import { readAccountControl } from "./account-control.ts";
import { readApprovals, readHiddenApprovals } from "./approval-logs.ts";
import { type AskedAllowance, describeAskedAllowances, listAskedReads } from "./asked-allowances.ts";
import { type Candidates, collectCandidates, fitsAllPairs, rankHoldings } from "./candidates.ts";
import {
  type DelegationScan,
  findDebt,
  listDelegations,
  type ScanContext,
  scanUsedProtocols,
} from "./delegations.ts";
import { type AssetSources, type ExposedAssets, readExposedAssets, readRanking } from "./exposed-assets.ts";
import type { ExposedPositions } from "./positions-at-risk.ts";
import { PERMIT2, revocations } from "./revocations.ts";
import {
  type FoundPermission,
  isAccountRead,
  type PairKind,
  type PermissionRead,
  scanPermissions,
} from "./scan-permissions.ts";
import type { SpenderList } from "./spenders.ts";
import { readTokenOperators } from "./token-operators.ts";
import { createPermission, type LivePermission } from "./types.ts";

export type ExposureSources = AssetSources & { readonly spenders: SpenderList };

/** `askedSpenders`: whose allowances the response states in any case. */
export type PermissionQuery = WalletQuery & { readonly askedSpenders?: readonly Hex[] | undefined };

export type ChainPermissions = Omit<ExposedAssets, "warnings"> & {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  readonly permissions: readonly LivePermission[];
  readonly askedAllowances: readonly AskedAllowance[];
  /** Reads that failed, and may be a permission. */
  readonly failed: readonly PermissionRead[];
  /** Nothing that may matter was left out, or could not be read or searched. */
  readonly isComplete: boolean;
  readonly searchedFromBlock: number | null;
  readonly warnings: readonly string[];
};

export async function readChainPermissions(
  sources: ExposureSources,
  query: PermissionQuery,
  signal: AbortSignal,
): Promise<ChainPermissions> {
  const { at, wallet, askedSpenders = [] } = query;
  const [balances, recent, account] = await Promise.all([
    sources.provider.read({ ...query, withoutActivity: true }, signal),
    readApprovals(at, wallet, signal),
    readAccount(query, signal),
  ]);
  const { holdings, transfers = [] } = balances;
  const delegations = listDelegations(sources.positionReaders, at.chain.chainId);
  const approvals = recent.isFlooded
    ? await readHiddenApprovals(query, recent, { holdings, delegations }, signal)
    : { ...recent, listedFromBlock: null };
  const spenders = sources.spenders.onChain(at.chain.chainId);
  const ranked = fitsAllPairs(holdings, spenders)
    ? rankHoldings(at.chain, holdings, new Map())
    : await readRanking(sources, query, balances, signal);
  const { chain } = at;
  const asked = listAskedReads({ chain, holdings: ranked, delegations, spenders: askedSpenders });
  const candidates = collectCandidates({
    chain,
    asked: asked.reads,
    wallet,
    holdings: ranked,
    transfers,
    spenders,
    delegations,
    approvals: approvals.pairs,
  });
  const context: ScanContext = { query, delegations, approvals: approvals.pairs, spenders };
  const [scanned, nfts, control] = await Promise.all([
    scanAll(context, candidates.reads, signal),
    readNftApprovals(context, candidates.nfts, signal),
    readAccountControl(query, account.account, spenders, signal),
  ]);
  const permissions = [...control.permissions, ...scanned.permissions, ...nfts];
  const { managers } = scanned;
  const exposed = await readExposedAssets(sources, query, { balances, permissions, managers }, signal);
  const approved = await readPositionApprovals(context, managers, exposed.positions, signal);
  return {
    chain: at.chain,
    block: at.block,
    tokens: exposed.tokens,
    positions: exposed.positions,
    permissions: [...permissions, ...approved.filter((each) => !isNamed(nfts, each))],
    askedAllowances: describeAskedAllowances(asked.reads, scanned.pairs),
    failed: scanned.failed,
    isComplete:
      account.account.kind !== null &&
      control.isComplete &&
      approvals.fromBlock !== null &&
      !candidates.omitsHeld &&
      scanned.omitted === 0 &&
      scanned.isComplete &&
      !scanned.failed.some((read) => mayMatter(read, holdings)),
    searchedFromBlock: approvals.fromBlock,
    warnings: [
      ...describeScope(at, approvals, sources.spenders.version),
      ...describeUnasked(at.chain.name, asked.omittedCount),
      ...describeUnread(at.chain.name, candidates.omitted + scanned.omitted, scanned.failed),
      ...account.warnings,
      ...control.warnings,
      ...scanned.warnings,
      ...exposed.warnings,
    ],
  };
}

/** Anyone can make contracts that fail, nothing is taken of a token that is not held, and Permit2 passes on what it has. */
function mayMatter({ kind, contract, trusted }: PermissionRead, holdings: readonly Holding[]): boolean {
  if (!trusted || kind === "permit2-allowance") return false;
  return kind !== "erc20-allowance" || holdings.some((holding) => holding.contract === contract);
}

function isNamed(nfts: readonly LivePermission[], { contract, tokenId }: LivePermission): boolean {
  return nfts.some((one) => one.contract === contract && one.tokenId === tokenId);
}

/** First all candidates, then, in protocols that the wallet uses, every known spender. */
async function scanAll(context: ScanContext, reads: readonly PermissionRead[], signal: AbortSignal) {
  const { at, wallet } = context.query;
  const first = await scanPermissions(at, wallet, reads, signal);
  const isToken = ({ kind, value }: FoundPermission) => kind === "erc777" && value === 1n;
  const [second, operators] = await Promise.all([
    scanUsedProtocols(context, first, signal),
    readTokenOperators(
      context.query,
      first.found.filter(isToken).map(({ contract }) => contract),
      context.spenders,
      signal,
    ),
  ]);
  const found = [...first.found, ...second.found].filter((one) => !isAccountRead(one));
  return {
    pairs: first,
    permissions: [
      ...found.flatMap((one) => toPermission(one, context, second.confirmed) ?? []),
      ...operators.permissions,
    ],
    // A token without the view is not an ERC-777.
    failed: [
      ...dropAbsent(reads, first.failed, context).filter(({ kind }) => kind !== "erc777"),
      ...second.failed,
    ],
    omitted: second.omitted,
    managers: second.managers,
    isComplete: operators.isComplete,
    warnings: [...second.warnings, ...operators.warnings],
  };
}

/** A contract of our data that returns nothing for every pair is not there: at an old block, or on a developer's chain. */
function dropAbsent(
  reads: readonly PermissionRead[],
  failed: readonly PermissionRead[],
  { delegations }: ScanContext,
): readonly PermissionRead[] {
  const known = new Set(delegations.map(({ contract }) => contract));
  const isRead = new Set(reads);
  for (const read of failed) isRead.delete(read);
  const present = new Set([...isRead].map(({ contract }) => contract));
  return failed.filter(({ contract }) => !known.has(contract) || present.has(contract));
}

/** Null for an allowance in Permit2 that has expired, and for a protocol that no reader knows. */
function toPermission(
  { kind, contract, spender, value, extra }: FoundPermission,
  { query: { at, wallet }, delegations }: ScanContext,
  confirmed: DelegationScan["confirmed"],
): LivePermission | null {
  const create = (shown: PermissionKind, pair: PairKind, known: Partial<LivePermission>) =>
    createPermission(shown, contract, spender, revocations[pair](wallet, contract, spender), known);
  const delegation = delegations.find((one) => one.contract === contract);
  switch (kind) {
    case "erc20-allowance":
      return create(kind, kind, { rawAllowance: value });
    case "permit2-allowance":
      // Permit2 itself compares with the time of the block, and the last second still counts.
      if (extra < BigInt(at.block.timestamp)) return null;
      return create(kind, kind, { via: PERMIT2, rawAllowance: value, expiresAt: extra });
    case "nft-operator":
      return create(kind, kind, { power: delegation && { delegation } });
    case "borrow-delegation": {
      const power = findDebt(delegations, contract) ?? confirmed.get(contract);
      return power ? create(kind, kind, { rawAllowance: value, power }) : null;
    }
    case "comet":
    case "morpho":
    case "venus":
    case "euler": {
      const accounts = kind === "euler" ? value : undefined;
      return delegation ? create("position-operator", kind, { power: { delegation, accounts } }) : null;
    }
    default:
      return null;
  }
}

// An ERC-721 takes a few thousand for either view.
const NFT_GAS_MAX = 100_000;
const getApproved = defineRead("function getApproved(uint256)", decodeAddress);
const ownerOf = defineRead("function ownerOf(uint256)", decodeAddress, NFT_GAS_MAX);

/** Live if the wallet still owns the NFT, and the collection still names the approved account. */
async function readNftApprovals(
  { query: { at, wallet }, delegations }: ScanContext,
  nfts: Candidates["nfts"],
  signal: AbortSignal,
): Promise<readonly LivePermission[]> {
  const read = await readEach(at, signal, nfts, ({ contract, tokenId }) => ({
    approved: getApproved(contract, [tokenId], NFT_GAS_MAX),
    owner: ownerOf(contract, [tokenId]),
  }));
  return read
    .filter(([{ spender }, { approved, owner }]) => approved === spender && owner === wallet)
    .map(([nft]) => describeNftApproval(wallet, delegations, nft));
}

function describeNftApproval(
  wallet: Hex,
  delegations: ScanContext["delegations"],
  { contract, spender, tokenId }: { readonly contract: Hex; readonly spender: Hex; readonly tokenId: bigint },
): LivePermission {
  const delegation = delegations.find((one) => one.form === "nft" && one.contract === contract);
  const revoke = revocations.nft(wallet, contract, tokenId);
  return createPermission("nft-approval", contract, spender, revoke, {
    tokenId,
    power: delegation && { delegation },
  });
}

/** Every NFT that is a position names whom it is approved for, however long ago that was. */
async function readPositionApprovals(
  { query: { at, wallet }, delegations }: ScanContext,
  managers: ReadonlySet<Hex>,
  { accounts }: ExposedPositions,
  signal: AbortSignal,
): Promise<readonly LivePermission[]> {
  const nfts = accounts
    .flatMap(({ positions }) => positions)
    .flatMap(({ contract, tokenId }) =>
      contract !== null && tokenId !== undefined && managers.has(contract) ? [{ contract, tokenId }] : [],
    );
  const read = await readEach(at, signal, nfts, ({ contract, tokenId }) => getApproved(contract, [tokenId]));
  return read.flatMap(([nft, spender]) =>
    spender === null ? [] : [describeNftApproval(wallet, delegations, { ...nft, spender })],
  );
}

function describeScope(
  { chain }: PinnedChain,
  { fromBlock, listedFromBlock }: Record<"fromBlock" | "listedFromBlock", number | null>,
  version: string,
): readonly string[] {
  const scope = `every known spender of list ${version} for held tokens, stablecoins and positions`;
  return keepPresent(
    fromBlock === null
      ? `${chain.name}: approvals could not be searched; permissions are those of ${scope}.`
      : `${chain.name}: permissions are those of ${scope}, and of approvals in logs since block ${fromBlock}; older ones for other spenders are not found.`,
    listedFromBlock !== null &&
      `${chain.name}: logs of others hide approvals; those of listed tokens that are held, of stablecoins and in Permit2 were searched by themselves since block ${listedFromBlock}.`,
  );
}

function describeUnasked(name: string, omittedCount: number): readonly string[] {
  return keepPresent(
    omittedCount > 0 &&
      `${name}: allowances leaves out ${omittedCount} listed tokens of lower value that are held, to limit the work.`,
  );
}

// Enough to investigate; a hundred names would bury every other warning.
const NAMED_MAX = 3;

function describeUnread(name: string, omitted: number, failed: readonly PermissionRead[]): readonly string[] {
  const ofPermit2 = failed.filter(({ kind }) => kind === "permit2-allowance").length;
  const others = failed.filter(({ kind }) => kind !== "permit2-allowance");
  const contracts = [...new Set(others.map(({ contract }) => contract))];
  const named = nameFirst(contracts, NAMED_MAX);
  return keepPresent(
    others.length > 0 && `${name}: ${others.length} possible permissions could not be read, of ${named}.`,
    ofPermit2 > 0 && `${name}: Permit2 returned nothing for ${ofPermit2} possible permissions.`,
    omitted > 0 && `${name}: ${omitted} possible permissions were not read, to limit the work.`,
  );
}
