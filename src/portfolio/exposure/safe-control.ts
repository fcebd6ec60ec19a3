// Who controls a Safe besides its own transactions: owners, modules with their limits, guard and fallback handler.
import { decodeWordArray, decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { type AccountFacts, toStoredAddress } from "../account/kind.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import type { WalletQuery } from "../types.ts";
import { revocations } from "./revocations.ts";
import type { ChainSpenders } from "./spenders.ts";
import { createPermission, type LivePermission, type PermissionFindings } from "./types.ts";
import { NATIVE_COIN } from "./value-at-risk.ts";

// A page of modules behind a proxy stays below this.
const MODULES_GAS_MAX = 200_000;
// Each view of an allowance module takes a few thousand for every entry of its list.
const ALLOWANCES_GAS_MAX = 500_000;
// Most modules of a Safe, delegates of a module, and tokens of a delegate: more is unheard of.
const LIST_MAX = 50;

const SENTINEL: Hex = "0x0000000000000000000000000000000000000001";
/**
 * keccak256 of guard_manager.guard.address and of fallback_manager.handler.address, the slots in which a Safe stores
 * them.
 */
const GUARD_SLOT = 0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8n;
const HANDLER_SLOT = 0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5n;

const views = {
  modules: defineRead("function getModulesPaginated(address, uint256)", decodePage, MODULES_GAS_MAX),
  delegates: defineRead("function getDelegates(address, uint48, uint8)", decodePage, ALLOWANCES_GAS_MAX),
  tokens: defineRead("function getTokens(address, address)", decodeTokens, ALLOWANCES_GAS_MAX),
  /** Amount and what is spent of it, after a reset that is due; then the times of resets, and a nonce. */
  limit: defineRead("function getTokenAllowance(address, address, address)", toWords(5), ALLOWANCES_GAS_MAX),
};

export async function readSafe(
  query: WalletQuery,
  { owners, threshold }: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  const { at, wallet } = query;
  const [page, guard, handler] = await Promise.all([
    readGroups(at, signal, views.modules(wallet, [SENTINEL, BigInt(LIST_MAX)])),
    // Not by a view, which a Safe has since 1.3.0.
    at.storage(wallet, GUARD_SLOT, signal),
    at.storage(wallet, HANDLER_SLOT, signal),
  ]);
  const modules = page ?? [];
  const kindOf = (address: Hex) => spenders.byAddress.get(address)?.kind;
  const limits = new Map(
    await Promise.all(
      modules
        .filter((module) => kindOf(module) === "allowance-module")
        .map(async (module) => [module, await readModuleAllowances(query, module, signal)] as const),
    ),
  );
  // Known modules act on the owners' signatures, or within limits; if these could not be read, it is unknown.
  const controlOf = (module: Hex) => {
    if (limits.has(module)) return limits.get(module) === null ? null : false;
    return kindOf(module) !== "signed-module";
  };
  const single = (kind: "guard" | "fallback-handler", word: bigint) => {
    const address = toStoredAddress(word);
    if (address === null) return [];
    // A handler decides which signatures of the Safe are valid (ERC-1271), and with that what Permit2 may take.
    const known = kindOf(address);
    const isKnown = known === "fallback-handler" || known === "signed-module";
    const controlsAll = kind === "guard" || isKnown ? false : null;
    return [createPermission(kind, wallet, address, revocations[kind](wallet), { controlsAll })];
  };
  const isComplete = page !== null && modules.length < LIST_MAX;
  const { name } = at.chain;
  return {
    isComplete,
    permissions: [
      ...listSafeOwners(wallet, owners ?? [], threshold),
      ...modules.map((module, i) => {
        const revoke = revocations.safeModule(wallet, modules[i - 1] ?? SENTINEL, module);
        return createPermission("module", wallet, module, revoke, { controlsAll: controlOf(module) });
      }),
      ...[...limits.values()].flatMap((own) => own ?? []),
      ...single("guard", guard),
      ...single("fallback-handler", handler),
    ],
    warnings: keepPresent(
      owners === null && `${name}: the owners of the Safe could not be read.`,
      !isComplete && `${name}: the modules of the Safe could not be read in full.`,
      [...limits.values()].includes(null) &&
        `${name}: the limits of an allowance module of the Safe could not be read.`,
    ),
  };
}

function listSafeOwners(
  wallet: Hex,
  owners: readonly Hex[],
  threshold: AccountFacts["threshold"],
): readonly LivePermission[] {
  const ownersLeft = owners.length - 1;
  const thresholdLeft = Math.min(threshold ?? 1, ownersLeft);
  return owners.map((owner, i) => {
    const previous = owners[i - 1] ?? SENTINEL;
    // A Safe has one owner at least.
    const revoke = ownersLeft < 1 ? null : revocations.safeOwner(wallet, previous, owner, thresholdLeft);
    return createPermission("owner", wallet, owner, revoke, { controlsAll: threshold === 1 });
  });
}

/** Null when the limits could not be read in full. The zero address stands for the native coin. */
async function readModuleAllowances(
  { at, wallet }: WalletQuery,
  module: Hex,
  signal: AbortSignal,
): Promise<readonly LivePermission[] | null> {
  const delegates = await readGroups(at, signal, views.delegates(module, [wallet, 0, LIST_MAX]));
  if (delegates === null || delegates.length === LIST_MAX) return null;
  const lists = await readEach(at, signal, delegates, (delegate) => views.tokens(module, [wallet, delegate]));
  if (lists.some(([, tokens]) => tokens === null)) return null;
  const pairs = lists.flatMap(([delegate, tokens]) => (tokens ?? []).map((token) => ({ delegate, token })));
  const limits = await readEach(at, signal, pairs, ({ delegate, token }) =>
    views.limit(module, [wallet, delegate, token]),
  );
  if (limits.some(([, words]) => words === null)) return null;
  return limits.flatMap(([{ delegate, token }, words]) => {
    const [amount = 0n, spent = 0n] = words ?? [];
    if (amount <= spent) return [];
    const revoke = revocations.moduleAllowance(wallet, module, delegate, token);
    const known = { via: module, rawAllowance: amount - spent };
    return [createPermission("module-allowance", token, delegate, revoke, known)];
  });
}

/** A page of addresses, and where the next one begins: offset, next, length, items. */
function decodePage(data: Hex | null): readonly Hex[] | null {
  const count = data ? (data.length - 2) / 64 - 3 : -1;
  if (!Number.isInteger(count) || count < 0 || count > LIST_MAX) return null;
  const [offset, , length, ...items] = decodeWords(data, count + 3) ?? [];
  const addresses = items.map(wordToAddress).filter((address) => address !== null);
  return offset === 64n && length === BigInt(count) && addresses.length === count ? addresses : null;
}

/** Unlike a list of accounts it may contain the zero address. */
function decodeTokens(data: Hex | null): readonly Hex[] | null {
  const items = decodeWordArray(data, LIST_MAX);
  const tokens = items?.map((item) => (item === 0n ? NATIVE_COIN : wordToAddress(item)));
  const known = tokens?.filter((token) => token !== null) ?? [];
  return known.length === items?.length ? known : null;
}
