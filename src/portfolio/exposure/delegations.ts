// Who may act on a wallet's positions inside protocols: which pairs are read, first and for protocols that it uses.
import { decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import { getReserveData, getReservesList } from "../positions/aave-v3/reader.ts";
import type { Delegation, PositionReader, WalletQuery } from "../types.ts";
import { type ApprovedPair, readSignedAuthorizations } from "./approval-logs.ts";
import {
  distinctReads,
  isAccountRead,
  keyOf,
  type PairKind,
  type PermissionRead,
  type ScannedPermissions,
  scanPermissions,
  trustedRead,
} from "./scan-permissions.ts";
import type { ChainSpenders } from "./spenders.ts";

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
      if (form === "aave" || form === "nft" || form === "euler") {
        return [trustedRead(ACCOUNT_READS[form], contract, wallet)];
      }
      const asked = form === "venus" ? spenders.ofPositions : known;
      const pairs = asked.map((spender) => trustedRead(form, contract, spender));
      return form === "morpho" ? [...pairs, trustedRead("morpho-signatures", contract, wallet)] : pairs;
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
    return findDebt(delegations, contract) === null ? [] : [trustedRead(kind, contract, spender)];
  }
  // A Comet says by an approval of its token what it allows.
  const form = delegations.find((delegation) => delegation.contract === contract)?.form;
  const isOperator =
    kind === "position-operator" && (form === "morpho" || form === "venus" || form === "euler");
  const isManager = kind === "erc20-allowance" && form === "comet";
  return isOperator || isManager ? [trustedRead(form, contract, spender)] : [];
}

/** The pool and the asset of a debt token of our data. */
export function findDebt(delegations: readonly Delegation[], debtToken: Hex) {
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

export type DelegationScan = ScannedPermissions & {
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
  // Checks that logs are genuine before the limit applies: logs of others take no slot.
  const added = unknown.filter(({ contract }) => confirmed.has(contract));
  const debtTokens = [...pools.flatMap(({ underlyingOf }) => [...underlyingOf.keys()]), ...confirmed.keys()];
  const withEach = (kind: PairKind, contracts: readonly Hex[], holders: readonly Hex[]) =>
    contracts.flatMap((contract) => holders.map((holder) => trustedRead(kind, contract, holder)));
  const reads = [
    ...withEach("borrow-delegation", debtTokens, spenders.ofPositions),
    ...added
      .slice(0, ADDED_DELEGATES_MAX)
      .map(({ contract, spender }) => trustedRead("borrow-delegation", contract, spender)),
    ...withEach("nft-operator", ofForm("nft"), spenders.ofTokens),
    ...withEach("euler", ofForm("euler"), spenders.ofTokens),
    ...(authorizations ?? []).flatMap((approved) => toDelegationRead(delegations, approved)),
  ];
  const before = new Set(first.found.map(keyOf));
  const scanned = await scanPermissions(at, wallet, distinctReads(reads), signal);
  return {
    found: scanned.found.filter((found) => !before.has(keyOf(found))),
    failed: [...scanned.failed, ...silent.map((pool) => trustedRead("borrow-delegation", pool, wallet))],
    confirmed,
    omitted: Math.max(0, added.length - ADDED_DELEGATES_MAX),
    managers: new Set(ofForm("nft")),
    warnings: keepPresent(
      authorizations === null &&
        `${at.chain.name}: authorizations in Morpho by signature could not be searched.`,
    ),
  };
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
