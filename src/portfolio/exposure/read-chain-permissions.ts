// All live permissions over a wallet on one chain at one block, with the tokens that they are about.
import { decodeAddress, decodeFirstWord } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readAccount } from "../account/kind.ts";
import { createCallEncoder } from "../multicall.ts";
import {
  collectPrices,
  createProviderPriceSource,
  type PriceSourceGroups,
} from "../prices/collect-prices.ts";
import { erc20 } from "../tokens/erc20.ts";
import { readTokenMetadata } from "../tokens/metadata.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import {
  type ChainConfig,
  type ChainHoldings,
  getAssetKey,
  type Holding,
  type HoldingsProvider,
  type PinnedBlock,
  type PinnedChain,
  type WalletQuery,
} from "../types.ts";
import { readAccountControl } from "./account-control.ts";
import { readApprovals, readHiddenApprovals } from "./approval-logs.ts";
import { type Candidates, collectCandidates } from "./candidates.ts";
import { PERMIT2, revocations } from "./revocations.ts";
import { type FoundPermission, type PermissionRead, scanPermissions } from "./scan-permissions.ts";
import type { SpenderList } from "./spenders/spender-list.ts";
import type { LivePermission } from "./types.ts";
import type { ExposedToken } from "./value-at-risk.ts";

export type ExposureSources = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSourceGroups;
  readonly spenders: SpenderList;
};

export type ChainPermissions = {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  readonly permissions: readonly LivePermission[];
  /** What could not be read, and may be a permission. */
  readonly failed: readonly PermissionRead[];
  /** Of the permissions and, where something controls all, of everything that the wallet holds. */
  readonly tokens: readonly ExposedToken[];
  readonly searchedFromBlock: number | null;
  readonly warnings: readonly string[];
};

export async function readChainPermissions(
  sources: ExposureSources,
  query: WalletQuery,
  signal: AbortSignal,
): Promise<ChainPermissions> {
  const { at, wallet } = query;
  const [balances, recent, account] = await Promise.all([
    sources.provider.read(query, signal),
    readApprovals(at, wallet, signal),
    readAccount(query, signal),
  ]);
  const { holdings, transfers = [] } = balances;
  const approvals = recent.isFlooded
    ? await readHiddenApprovals(query, recent, holdings, signal)
    : { ...recent, listedFromBlock: null };
  const spenders = sources.spenders.onChain(at.chain.chainId);
  const candidates = collectCandidates({
    ...{ chain: at.chain, holdings, transfers, spenders },
    approvals: approvals.pairs,
  });
  const [scanned, nfts, control] = await Promise.all([
    scanPermissions(at, wallet, candidates.reads, signal),
    readNftApprovals(query, candidates.nfts, signal),
    readAccountControl(query, account.account, signal),
  ]);
  const permissions = [
    ...control.permissions,
    ...scanned.found.flatMap((found) => toPermission(found, query)),
    ...nfts,
  ];
  const exposed = await readExposedTokens(sources, query, { balances, permissions }, signal);
  return {
    ...{ chain: at.chain, block: at.block, permissions, tokens: exposed.tokens },
    failed: scanned.failed,
    searchedFromBlock: approvals.fromBlock,
    warnings: [
      ...describeScope(at, approvals, sources.spenders.version),
      ...describeUnread(at.chain.name, candidates, scanned.failed),
      ...account.warnings,
      ...control.warnings,
      ...exposed.warnings,
    ],
  };
}

/** None for an allowance in Permit2 that has expired. */
function toPermission(found: FoundPermission, { at, wallet }: WalletQuery): readonly LivePermission[] {
  const { kind, contract, spender, value, extra } = found;
  const base = { kind, contract, spender, via: null, tokenId: null, expiresAt: null, controlsAll: false };
  if (kind === "erc20-allowance") {
    return [{ ...base, rawAllowance: value, revoke: revocations.erc20(wallet, contract, spender) }];
  }
  if (kind === "nft-operator") {
    return [{ ...base, rawAllowance: null, revoke: revocations.operator(wallet, contract, spender) }];
  }
  // Permit2 itself compares with the time of the block, and the last second still counts.
  if (extra < BigInt(at.block.timestamp)) return [];
  const revoke = revocations.permit2(wallet, contract, spender);
  return [{ ...base, via: PERMIT2, rawAllowance: value, expiresAt: extra, revoke }];
}

// An ERC-721 takes a few thousand for either view.
const NFT_GAS_MAX = 100_000;
const getApproved = createCallEncoder("function getApproved(uint256) view returns (address)");
const ownerOf = createCallEncoder("function ownerOf(uint256) view returns (address)");

/** Live where the wallet still owns the NFT, and the collection still names the approved account. */
async function readNftApprovals(
  { at, wallet }: WalletQuery,
  nfts: Candidates["nfts"],
  signal: AbortSignal,
): Promise<readonly LivePermission[]> {
  if (nfts.length === 0) return [];
  const results = await at.read(
    nfts.flatMap(({ contract, tokenId }) => [
      getApproved(contract, [tokenId], NFT_GAS_MAX),
      ownerOf(contract, [tokenId], NFT_GAS_MAX),
    ]),
    signal,
  );
  return nfts.flatMap(({ contract, spender, tokenId }, i): readonly LivePermission[] => {
    const [approved, owner] = [decodeAddress(results[2 * i]), decodeAddress(results[2 * i + 1])];
    if (approved !== spender || owner !== wallet) return [];
    const none = { via: null, rawAllowance: null, expiresAt: null, controlsAll: false };
    const revoke = revocations.nft(wallet, contract, tokenId);
    return [{ kind: "nft-approval", contract, spender, tokenId, ...none, revoke }];
  });
}

type ExposureInput = {
  readonly balances: ChainHoldings;
  readonly permissions: readonly LivePermission[];
};

async function readExposedTokens(
  { provider, priceSources }: ExposureSources,
  { at, wallet }: WalletQuery,
  { balances, permissions }: ExposureInput,
  signal: AbortSignal,
): Promise<{ readonly tokens: readonly ExposedToken[]; readonly warnings: readonly string[] }> {
  const isAmount = ({ kind }: LivePermission) => kind === "erc20-allowance" || kind === "permit2-allowance";
  const approved = new Set(permissions.filter(isAmount).map(({ contract }) => contract));
  const held = new Map(balances.holdings.map((holding) => [holding.contract, holding]));
  const missing = [...approved].filter((contract) => !held.has(contract));
  const read = await readBalances(at, wallet, missing, signal);
  const isAllNeeded = permissions.some(({ controlsAll }) => controlsAll === true);
  const wanted = [
    ...balances.holdings.filter(
      ({ contract }) => isAllNeeded || (contract !== null && approved.has(contract)),
    ),
    ...missing.map((contract) => describeListed(at.chain, contract, read.get(contract) ?? 0n)),
  ];
  const metadata = await readTokenMetadata(at, wanted, signal);
  const sources = balances.prices
    ? [...priceSources, [createProviderPriceSource(provider.name, balances.prices)]]
    : priceSources;
  const assets = metadata.holdings.filter(({ rawBalance }) => rawBalance > 0n);
  const { prices, incompletePrices, warnings } = await collectPrices(sources, { at, assets }, signal);
  return {
    tokens: metadata.holdings.map((holding): ExposedToken => {
      const key = getAssetKey(holding);
      const price = prices.get(key) ?? null;
      const unpriced = holding.rawBalance > 0n && price === null && !incompletePrices.has(key);
      const proven = price?.provesToken === true;
      return {
        holding,
        isBalanceKnown: holding.contract === null || held.has(holding.contract) || read.has(holding.contract),
        price,
        isSpam: findSpamReasons(holding, { chain: at.chain, unpriced, proven }).length > 0,
      };
    }),
    warnings: [...balances.warnings, ...metadata.warnings, ...warnings],
  };
}

const BALANCE_GAS_MAX = 100_000;

/** A token that returns none is missing. */
async function readBalances(
  at: PinnedChain,
  wallet: Hex,
  tokens: readonly Hex[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Hex, bigint>> {
  if (tokens.length === 0) return new Map();
  const calls = tokens.map((token) => erc20.balanceOf(token, [wallet], BALANCE_GAS_MAX));
  const results = await at.read(calls, signal);
  const read = tokens.map((token, i) => [token, decodeFirstWord(results[i])] as const);
  return new Map(read.flatMap(([token, balance]) => (balance === null ? [] : [[token, balance]])));
}

function describeListed({ tokens }: ChainConfig, contract: Hex, rawBalance: bigint): Holding {
  const unknown = { symbol: null, name: null, decimals: null, logo: null };
  return { ...unknown, ...tokens.get(contract), contract, rawBalance };
}

function describeScope(
  { chain }: PinnedChain,
  { fromBlock, listedFromBlock }: Record<"fromBlock" | "listedFromBlock", number | null>,
  version: string,
): readonly string[] {
  const scope = `every known spender of list ${version} for held tokens and stablecoins`;
  return [
    fromBlock === null
      ? `${chain.name}: approvals could not be searched; permissions are those of ${scope}.`
      : `${chain.name}: permissions are those of ${scope}, and of approvals in logs since block ${fromBlock}; older ones for other spenders are not found.`,
    ...(listedFromBlock === null
      ? []
      : [
          `${chain.name}: logs of others hide approvals; those of listed tokens that are held, of stablecoins and in Permit2 were searched by themselves since block ${listedFromBlock}.`,
        ]),
  ];
}

// Enough to investigate; a hundred names would bury every other warning.
const NAMED_MAX = 3;

function describeUnread(
  name: string,
  { omitted }: Candidates,
  failed: readonly PermissionRead[],
): readonly string[] {
  const ofPermit2 = failed.filter(({ kind }) => kind === "permit2-allowance").length;
  const others = failed.filter(({ kind }) => kind !== "permit2-allowance");
  const contracts = [...new Set(others.map(({ contract }) => contract))];
  const named = contracts.slice(0, NAMED_MAX).join(", ");
  const more = contracts.length > NAMED_MAX ? ` and ${contracts.length - NAMED_MAX} more` : "";
  return [
    ...(others.length > 0
      ? [`${name}: ${others.length} possible permissions could not be read, of ${named}${more}.`]
      : []),
    ...(ofPermit2 > 0 ? [`${name}: Permit2 returned nothing for ${ofPermit2} possible permissions.`] : []),
    ...(omitted > 0 ? [`${name}: ${omitted} possible permissions were not read, to limit the work.`] : []),
  ];
}
