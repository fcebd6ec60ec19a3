// Reads what can be taken from a wallet on all requested chains, and describes it; if one chain fails, all do unless allowed.
import type { Clock } from "../../lib/clock.ts";
import { formatAmount, formatDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import type {
  Exposure,
  ExposurePermission,
  PermissionKind,
  PermissionReason,
} from "../../schema/portfolio/exposure.ts";
import { withBlockHash } from "../block-hashes.ts";
import { addFailedChains, newestBlockMs, readPinnedChains, selectProvider } from "../read-pinned-chains.ts";
import type { SnapshotQuery } from "../snapshot.ts";
import { DECIMALS_MAX } from "../tokens/erc20.ts";
import type { ChainConfig, PinnedChain, PortfolioChain } from "../types.ts";
import { identifyChain } from "../valuation/describe-account.ts";
import { formatUnixSeconds, formatUsdValue } from "../valuation/usd.ts";
import { type Risk, sumRisks, UNKNOWN_RISK } from "./positions-at-risk.ts";
import {
  type ChainPermissions,
  type ExposureSources,
  type PermissionQuery,
  readChainPermissions,
} from "./read-chain-permissions.ts";
import type { ChainSpenders } from "./spenders.ts";
import type { LivePermission } from "./types.ts";
import { compareRisk, type ExposedToken, RiskValuation } from "./value-at-risk.ts";

type ExposureOptions = ExposureSources & {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
};

type ExposureQuery = SnapshotQuery & Pick<PermissionQuery, "askedSpenders">;

/** Rejects like a snapshot. */
export async function readExposure(
  options: ExposureOptions,
  { wallet, slugs, blocks, partial, askedSpenders }: ExposureQuery,
  signal: AbortSignal,
): Promise<Exposure> {
  const nowMs = options.clock.nowMs();
  const provider = selectProvider(options.provider, blocks);
  const read = (at: PinnedChain, abort: AbortSignal) =>
    readChainPermissions({ ...options, provider }, { at, wallet, askedSpenders }, abort);
  const failure = (name: string) => `The permissions on ${name} could not be read in full.`;
  const query = { slugs, blocks, wallet, failure, partial, read };
  const { read: chains, failed } = await readPinnedChains(options, query, signal);
  const takenAtMs = blocks ? newestBlockMs(chains) : nowMs;
  const exposure = describeExposure({ ...options, provider }, { wallet, takenAtMs, chains, failed });
  const stated = askedSpenders === undefined ? exposure : { ...exposure, allowances: listAllowances(chains) };
  return addFailedChains(stated, { slugs, failed }, UNKNOWN_CHAIN);
}

function listAllowances(chains: readonly ChainPermissions[]): NonNullable<Exposure["allowances"]> {
  return chains.flatMap(({ chain, askedAllowances }) =>
    askedAllowances.map((each) => ({ ...identifyChain(chain), ...each })),
  );
}

const UNKNOWN_CHAIN = {
  what: "its permissions and what is at risk there",
  ofChain: { blockNumber: null, searchedFromBlock: null, ...countPermissions([], UNKNOWN_RISK) },
  totals: {},
};

type ReadChains = {
  readonly wallet: Hex;
  readonly takenAtMs: number;
  readonly chains: readonly ChainPermissions[];
  /** The value at risk there is unknown. */
  readonly failed: readonly ChainConfig[];
};

// About a kilobyte each: what matters comes first, and a token that claims to be approved for all cannot fill a response.
const PERMISSIONS_MAX = 500;
// The limit for contracts that nothing vouches for, if there are more in all: they push out nothing that is real.
const CLAIMS_MAX = 250;

function describeExposure(
  { provider, spenders }: Pick<ExposureOptions, "provider" | "spenders">,
  { wallet, takenAtMs, chains, failed }: ReadChains,
): Exposure {
  const described = chains.map((data) => describeChain(data, wallet, spenders.onChain(data.chain.chainId)));
  const permissions = described.flatMap((chain) => chain.permissions).sort(comparePermissions);
  const total = sumRisks([...described.map((chain) => chain.total), ...failed.map(() => UNKNOWN_RISK)]);
  const listed = limitList(permissions);
  const omitted = permissions.length - listed.length;
  const left = `The ${omitted} permissions with the least at risk, or of contracts that nothing vouches for, are counted, but not listed.`;
  return {
    address: wallet,
    timestamp: new Date(takenAtMs).toISOString(),
    chains: chains.map(({ chain }) => chain.slug),
    summary: {
      ...countPermissions(permissions, total),
      spenderListVersion: spenders.version,
      chains: described.map(({ data, total: ofChain, permissions: own }) =>
        withBlockHash(
          {
            chain: data.chain.slug,
            blockNumber: data.block.number,
            searchedFromBlock: data.searchedFromBlock,
            ...countPermissions(own, ofChain),
          },
          data.block.hash,
        ),
      ),
      warnings: keepPresent(omitted > 0 && left, ...described.flatMap(({ data }) => data.warnings)),
    },
    permissions: listed.map(({ permission }) => permission),
    provider: provider.name,
  };
}

function limitList(sorted: readonly ValuedPermission[]): readonly ValuedPermission[] {
  if (sorted.length <= PERMISSIONS_MAX) return sorted;
  const claims = new Set(sorted.filter((one) => rankOf(one) === "claim").slice(CLAIMS_MAX));
  return sorted.filter((one) => !claims.has(one)).slice(0, PERMISSIONS_MAX);
}

type ValuedPermission = {
  readonly permission: ExposurePermission;
  readonly risk: Risk;
  /** Nothing vouches for the contract. */
  readonly isStrange: boolean;
};

function countPermissions(permissions: readonly ValuedPermission[], total: Risk) {
  const countReason = (reason: PermissionReason) =>
    permissions.filter(({ permission }) => permission.reasons.includes(reason)).length;
  return {
    permissionCount: permissions.length,
    unlimitedCount: countReason("unlimited"),
    unknownSpenderCount: countReason("unknown spender"),
    valueAtRiskUsd: formatUsdValue(total.value),
    partial: total.isPartial,
  };
}

/**
 * In the order of the list. Anyone can make entries that are unknown or worth nothing, and never entries with a value.
 */
const RANKS = ["at risk", "claim", "worthless", "worthless claim", "spam"] as const;

function rankOf({ permission, isStrange, risk }: ValuedPermission): (typeof RANKS)[number] {
  if (permission.reasons.includes("spam token")) return "spam";
  if (risk.value?.units === 0n) return isStrange ? "worthless claim" : "worthless";
  return isStrange && risk.value === null ? "claim" : "at risk";
}

/** Sorts by rank, then by value at risk, unknown first; then by the number of reasons. */
function comparePermissions(a: ValuedPermission, b: ValuedPermission): number {
  return (
    RANKS.indexOf(rankOf(a)) - RANKS.indexOf(rankOf(b)) ||
    compareRisk(a.risk.value, b.risk.value) ||
    b.permission.reasons.length - a.permission.reasons.length
  );
}

function describeChain(data: ChainPermissions, wallet: Hex, spenders: ChainSpenders) {
  const valuation = new RiskValuation({ ...data, wallet });
  return {
    data,
    total: valuation.valueTotal(),
    permissions: data.permissions.map((live): ValuedPermission => {
      const risk = valuation.valuePermission(live);
      const token = valuation.tokenOf(live.contract);
      return {
        risk,
        isStrange: valuation.isStrange(live),
        permission: describePermission(live, { data, spenders, risk, token }),
      };
    }),
  };
}

type PermissionContext = {
  readonly data: ChainPermissions;
  readonly spenders: ChainSpenders;
  readonly risk: Risk;
  /** Undefined for NFTs and for the account itself. */
  readonly token: ExposedToken | undefined;
};

function describePermission(
  live: LivePermission,
  { data, spenders, risk, token }: PermissionContext,
): ExposurePermission {
  const { kind, contract, spender, via, rawAllowance, tokenId, expiresAt, revoke, power } = live;
  const known = spenders.byAddress.get(spender);
  // A debt token counts in the units of what it lends.
  const holding =
    token?.holding ?? (power?.underlying && data.positions.assets.get(power.underlying)) ?? null;
  const decimals = holding?.decimals ?? null;
  const format = (amount: bigint | null) =>
    amount === null || decimals === null || decimals > DECIMALS_MAX ? null : formatAmount(amount, decimals);
  const rawBalance = token?.isBalanceKnown ? token.holding.rawBalance : null;
  return {
    ...identifyChain(data.chain),
    kind,
    contract,
    protocol: power?.delegation.protocol ?? null,
    symbol: holding?.symbol ?? null,
    name: holding?.name ?? null,
    decimals,
    spender,
    spenderName: known?.name ?? null,
    spenderProtocol: known?.protocol ?? null,
    via,
    rawAllowance: rawAllowance?.toString() ?? null,
    allowance: format(rawAllowance),
    unlimited: isUnlimited(rawAllowance),
    tokenId: tokenId?.toString() ?? null,
    expiresAt: expiresAt === null ? null : formatUnixSeconds(Number(expiresAt)),
    rawBalance: rawBalance?.toString() ?? null,
    balance: format(rawBalance),
    priceUsd: token?.price ? formatDecimal(token.price.usd) : null,
    valueAtRiskUsd: formatUsdValue(risk.value),
    partial: risk.isPartial,
    reasons: findReasons(live, known !== undefined, token?.isSpam ?? false),
    revoke,
  };
}

/** More than any balance: some tokens count down from the largest number, and some have fewer bits for it. */
const UNLIMITED_MIN = 2n ** 128n;
const UINT96_MAX = 2n ** 96n - 1n;

function isUnlimited(allowance: bigint | null): boolean {
  return allowance !== null && (allowance >= UNLIMITED_MIN || allowance === UINT96_MAX);
}

/** Kinds whose holder acts on tokens or positions, and should be on the list of spenders. */
const SPENDER_KINDS: ReadonlySet<PermissionKind> = new Set([
  "erc20-allowance",
  "permit2-allowance",
  "token-operator",
  "nft-operator",
  "nft-approval",
  "borrow-delegation",
  "position-operator",
  "module",
  "module-allowance",
]);

function findReasons(
  { kind, rawAllowance, controlsAll }: LivePermission,
  isKnown: boolean,
  isSpam: boolean,
): readonly PermissionReason[] {
  const isSpender = SPENDER_KINDS.has(kind) || (kind === "entry-point" && controlsAll === true);
  return keepPresent<PermissionReason>(
    isUnlimited(rawAllowance) && "unlimited",
    isSpender && !isKnown && "unknown spender",
    kind === "delegate" && !isKnown && "unverified delegate",
    kind === "account-code" && "unverified code",
    controlsAll && "full control",
    isSpam && "spam token",
  );
}
