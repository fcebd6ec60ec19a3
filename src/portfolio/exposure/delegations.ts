// Who may act on a wallet's positions inside protocols: which pairs are read, first and for protocols that it uses.
import { decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import { getReserveData, getReservesList } from "../positions/aave-v3/reader.ts";
import type { Delegation, PositionReader, WalletQuery } from "../types.ts";
import { type ApprovedPair, readSignedAuthorizations } from "./approval-logs.ts";
import { revocations } from "./revocations.ts";
import {
  type FoundPermission,
  isAccountRead,
  type PermissionRead,
  type ScannedPermissions,
  scanPermissions,
} from "./scan-permissions.ts";
import type { ChainSpenders } from "./spenders/spender-list.ts";
import type { LivePermission } from "./types.ts";

/** The results of the position readers for one chain. */
export function listDelegations(readers: readonly PositionReader[], chainId: number): readonly Delegation[] {
  return readers.flatMap((reader) => reader.delegations?.(chainId) ?? []);
}

// In debt tokens that our data lacks and that a pool names: only the wallet makes such logs, and it makes few.
const ADDED_DELEGATES_MAX = 500;

/**
 * The read that shows whether the wallet uses a protocol, so that a wallet without positions costs one pair and no
 * request.
 */
const ACCOUNT_READS = { aave: "aave-account", nft: "nft-balance", euler: "euler-owner" } as const;

/**
 * The pairs of the first scan. A Comet says in no single word whether a wallet uses it, and Morpho in none at all: both
 * are asked for every known spender. Venus is asked for those that act on positions.
 */
export function collectDelegationReads(
  delegations: readonly Delegation[],
  wallet: Hex,
  approvals: readonly ApprovedPair[],
  spenders: ChainSpenders,
): readonly PermissionRead[] {
  const known = [...new Set([...spenders.ofTokens, ...spenders.ofPositions])];
  return [
    ...delegations.flatMap(({ form, contract }): readonly PermissionRead[] => {
      const account = (kind: PermissionRead["kind"]) => ({ kind, contract, spender: wallet, trusted: true });
      if (form === "aave" || form === "nft" || form === "euler") return [account(ACCOUNT_READS[form])];
      const asked = form === "venus" ? spenders.ofPositions : known;
      const pairs = asked.map((spender) => ({ kind: form, contract, spender, trusted: true }));
      return form === "morpho" ? [...pairs, account("morpho-signatures")] : pairs;
    }),
    ...approvals.flatMap((pair) => toDelegationRead(delegations, pair)),
  ];
}

/** A log of a contract that no reader knows is not one of a delegation. */
function toDelegationRead(
  delegations: readonly Delegation[],
  { kind, contract, spender }: ApprovedPair,
): readonly PermissionRead[] {
  if (kind === "borrow-delegation") {
    const isKnown = findDebt(delegations, contract) !== null;
    return isKnown ? [{ kind, contract, spender, trusted: true }] : [];
  }
  // A Comet says by an approval of its token what it allows.
  const form = delegations.find((delegation) => delegation.contract === contract)?.form;
  const isOperator =
    kind === "position-operator" && (form === "morpho" || form === "venus" || form === "euler");
  const isManager = kind === "erc20-allowance" && form === "comet";
  return isOperator || isManager ? [{ kind: form, contract, spender, trusted: true }] : [];
}

function findDebt(delegations: readonly Delegation[], debtToken: Hex) {
  for (const delegation of delegations) {
    const underlying = delegation.form === "aave" ? delegation.underlyingOf.get(debtToken) : undefined;
    if (underlying !== undefined) return { delegation, underlying };
  }
  return null;
}

export type ScanContext = {
  readonly query: WalletQuery;
  readonly delegations: readonly Delegation[];
  readonly approvals: readonly ApprovedPair[];
  readonly spenders: ChainSpenders;
};

type DelegationScan = ScannedPermissions & {
  /** Debt tokens that pools name, among them all that our data lacks. */
  readonly confirmed: ReadonlyMap<Hex, { readonly delegation: Delegation; readonly underlying: Hex }>;
  /** Managers of which the wallet owns NFTs. */
  readonly managers: ReadonlySet<Hex>;
  /** Pairs beyond the limit. */
  readonly omitted: number;
  readonly warnings: readonly string[];
};

/** One more batch for a wallet that uses such protocols, and none for others. */
export async function scanUsedProtocols(
  context: ScanContext,
  first: ScannedPermissions,
  signal: AbortSignal,
): Promise<DelegationScan> {
  const { query, delegations, approvals, spenders } = context;
  const { at, wallet } = query;
  const used = new Set(first.found.filter(isAccountRead).map(({ contract }) => contract));
  const inUse = delegations.filter(({ contract }) => used.has(contract));
  const ofForm = (form: Delegation["form"]) =>
    inUse.filter((delegation) => delegation.form === form).map(({ contract }) => contract);
  const pools = inUse.filter((delegation) => delegation.form === "aave");
  const unknown = approvals.filter(
    ({ kind, contract }) => kind === "borrow-delegation" && findDebt(delegations, contract) === null,
  );
  const signed = ofForm("morpho");
  const [{ confirmed, silent }, authorizations] = await Promise.all([
    confirmDebtTokens(query, pools, unknown, signal),
    signed.length === 0 ? [] : readSignedAuthorizations(query, signed, signal),
  ]);
  const pair = (kind: PermissionRead["kind"], contract: Hex, spender: Hex) => ({
    kind,
    contract,
    spender,
    trusted: true,
  });
  // Checks that logs are genuine before the limit applies: logs of others take no slot.
  const added = unknown.filter(({ contract }) => confirmed.has(contract));
  const debtTokens = [...pools.flatMap(({ underlyingOf }) => [...underlyingOf.keys()]), ...confirmed.keys()];
  const reads = [
    ...debtTokens.flatMap((token) =>
      spenders.ofPositions.map((spender) => pair("borrow-delegation", token, spender)),
    ),
    ...added
      .slice(0, ADDED_DELEGATES_MAX)
      .map(({ contract, spender }) => pair("borrow-delegation", contract, spender)),
    ...ofForm("nft").flatMap((contract) =>
      spenders.ofTokens.map((spender) => pair("nft-operator", contract, spender)),
    ),
    ...ofForm("euler").flatMap((contract) =>
      spenders.ofTokens.map((spender) => pair("euler", contract, spender)),
    ),
    ...(authorizations ?? []).flatMap((approved) => toDelegationRead(delegations, approved)),
  ];
  const before = new Set(first.found.map(keyOf));
  const scanned = await scanPermissions(at, wallet, distinctReads(reads), signal);
  return {
    found: scanned.found.filter((found) => !before.has(keyOf(found))),
    failed: [...scanned.failed, ...silent.map((pool) => pair("borrow-delegation", pool, wallet))],
    confirmed,
    omitted: Math.max(0, added.length - ADDED_DELEGATES_MAX),
    managers: new Set(ofForm("nft")),
    warnings:
      authorizations === null
        ? [`${at.chain.name}: authorizations in Morpho by signature could not be searched.`]
        : [],
  };
}

const keyOf = ({ kind, contract, spender }: PermissionRead) => `${kind} ${contract} ${spender}`;

function distinctReads(reads: readonly PermissionRead[]): readonly PermissionRead[] {
  return [...new Map(reads.map((read) => [keyOf(read), read])).values()];
}

type AavePool = Extract<Delegation, { form: "aave" }>;

/**
 * A debt token is genuine if the pool names it for one of its reserves. Pools are asked about their own reserves among
 * the assets of the logs: however many contracts claim to lend, the work is that of the reserves. Reserves with a
 * second debt token, at a stable rate, which our data lacks, are asked about all reserves of our data.
 */
async function confirmDebtTokens(
  { at }: WalletQuery,
  pools: readonly AavePool[],
  unknown: readonly ApprovedPair[],
  signal: AbortSignal,
): Promise<Pick<DelegationScan, "confirmed"> & { readonly silent: readonly Hex[] }> {
  const confirmed = new Map<Hex, { delegation: Delegation; underlying: Hex }>();
  const silent = new Set<Hex>();
  const logged = new Set(unknown.map(({ asset }) => asset));
  const listing = unknown.length === 0 ? [] : pools;
  const lists = await readEach(at, signal, listing, ({ contract }) => getReservesList(contract));
  const named = new Map(
    lists.map(([pool, reserves]) => {
      if (reserves === null) silent.add(pool.contract);
      return [pool, (reserves ?? []).filter((asset) => logged.has(asset))];
    }),
  );
  const asked = pools.flatMap((delegation) => {
    const { debtWords, underlyingOf } = delegation;
    const known = debtWords.length > 1 ? [...underlyingOf.values()] : [];
    const assets = new Set([...known, ...(named.get(delegation) ?? [])]);
    return [...assets].map((asset) => ({ delegation, asset }));
  });
  const read = await readEach(at, signal, asked, ({ delegation, asset }) =>
    getReserveData(delegation.contract, [asset]),
  );
  for (const [{ delegation, asset }, data] of read) {
    const words = decodeWords(data, delegation.words);
    if (words === null) silent.add(delegation.contract);
    for (const word of delegation.debtWords) {
      const debtToken = wordToAddress(words?.[word]);
      if (debtToken !== null) confirmed.set(debtToken, { delegation, underlying: asset });
    }
  }
  return { confirmed, silent: [...silent] };
}

/** Null for what is not a permission inside a protocol. */
export function toProtocolPermission(
  { kind, contract, spender, value }: FoundPermission,
  { query: { wallet }, delegations }: ScanContext,
  confirmed: DelegationScan["confirmed"],
): LivePermission | null {
  const none = { via: null, tokenId: null, expiresAt: null, controlsAll: false };
  if (kind === "borrow-delegation") {
    const power = findDebt(delegations, contract) ?? confirmed.get(contract);
    const revoke = revocations.debt(wallet, contract, spender);
    return power ? { kind, contract, spender, ...none, rawAllowance: value, revoke, power } : null;
  }
  const delegation = delegations.find((one) => one.contract === contract);
  if (delegation === undefined) return null;
  if (kind === "nft-operator") {
    const revoke = revocations.operator(wallet, contract, spender);
    return { kind, contract, spender, ...none, rawAllowance: null, revoke, power: { delegation } };
  }
  if (kind !== "comet" && kind !== "morpho" && kind !== "venus" && kind !== "euler") return null;
  return {
    ...{ kind: "position-operator", contract, spender, ...none, rawAllowance: null },
    revoke: revocations[kind](wallet, contract, spender),
    power: { delegation, ...(kind === "euler" ? { accounts: value } : {}) },
  };
}
