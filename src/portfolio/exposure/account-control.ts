// Who controls the wallet's account itself, as it says at the pinned block: delegate, owners, modules and session keys.

import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { findAbiEvent, hashEvent } from "../../lib/abi/codec.ts";
import {
  decodeAddress,
  decodeByteString,
  decodeWord,
  decodeWords,
  wordToAddress,
} from "../../lib/abi/return-data.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PermissionKind, Revocation } from "../../schema/portfolio/exposure.ts";
import { readImplementation, toStoredAddress } from "../account/implementation.ts";
import type { AccountFacts } from "../account/kind.ts";
import { findEntryPointVersion } from "../account/known-accounts.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import { searchRecentLogs } from "../recent-logs.ts";
import type { WalletQuery } from "../types.ts";
import { readModuleAllowances } from "./allowance-module.ts";
import { revocations } from "./revocations.ts";
import type { Spender } from "./spenders/spender.ts";
import type { ChainSpenders } from "./spenders/spender-list.ts";
import type { LivePermission } from "./types.ts";

// Each view takes a few thousand; a proxy in front and a page of modules stay below this.
const VIEW_GAS_MAX = 200_000;
// Most modules of a Safe, owners of an account, and session keys: more is unheard of.
const LIST_MAX = 50;

const SENTINEL: Hex = "0x0000000000000000000000000000000000000001";
/**
 * keccak256 of guard_manager.guard.address and of fallback_manager.handler.address, the slots in which a Safe stores
 * them.
 */
const GUARD_SLOT = 0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8n;
const HANDLER_SLOT = 0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5n;

/** An owner that is a passkey has no address. */
const PASSKEY_BYTES = 64;

const views = {
  modules: defineRead("function getModulesPaginated(address, uint256)", decodeModules, VIEW_GAS_MAX),
  keyCount: defineRead("function keyCount()", decodeWord, VIEW_GAS_MAX),
  entryPoint: defineRead("function entryPoint()", decodeAddress, VIEW_GAS_MAX),
  owner: defineRead("function owner()", decodeAddress, VIEW_GAS_MAX),
  signer: defineRead("function signer()", decodeAddress, VIEW_GAS_MAX),
  policyModule: defineRead("function policyModule()", decodeAddress, VIEW_GAS_MAX),
  guardianOf: defineRead("function guardianOf(address)", decodeAddress, VIEW_GAS_MAX),
  nextOwnerIndex: defineRead("function nextOwnerIndex()", decodeWord, VIEW_GAS_MAX),
  ownerAtIndex: defineRead(
    "function ownerAtIndex(uint256)",
    (data) => data && { bytes: decodeByteString(data, PASSKEY_BYTES) },
    VIEW_GAS_MAX,
  ),
  /** Its last second, and whether it is active. */
  sessionKeys: defineRead("function sessionKeys(address)", toWords(2), VIEW_GAS_MAX),
};

type AccountControl = {
  readonly permissions: readonly LivePermission[];
  readonly warnings: readonly string[];
  /** No one else controls the account, as far as its code can tell. */
  readonly isComplete: boolean;
};

const NOTHING: AccountControl = { permissions: [], warnings: [], isComplete: true };

/** No request for an account without code. */
export async function readAccountControl(
  query: WalletQuery,
  account: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<AccountControl> {
  const { kind, implementation } = account;
  if (kind === null || kind === "eoa") return NOTHING;
  if (kind === "delegated") return readDelegated(query, account, spenders, signal);
  const found =
    kind === "safe"
      ? await readSafe(query, account, spenders, signal)
      : joinControl(
          await Promise.all([readOwners(query, account, spenders, signal), readPolicyAccount(query, signal)]),
        );
  // A contract that is not a known account is proven to be just that, which says nothing about its code.
  const isKnown = kind !== "contract" && account.proven;
  return isKnown ? found : addUnknownCode(query, implementation, found);
}

function joinControl(parts: readonly AccountControl[]): AccountControl {
  return {
    permissions: parts.flatMap(({ permissions }) => permissions),
    warnings: parts.flatMap(({ warnings }) => warnings),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
}

/** Unknown code may let anyone act, whatever it says about its owners and limits. */
function addUnknownCode(
  { at, wallet }: WalletQuery,
  implementation: Hex | null,
  { permissions, warnings, isComplete }: AccountControl,
): AccountControl {
  return {
    isComplete,
    permissions: [
      control(wallet, "account-code", implementation ?? wallet, null, null),
      ...permissions.map((one) => (one.contract === wallet ? hideLimit(one) : one)),
    ],
    warnings: [
      `${at.chain.name}: the account's own code is not known and could let others act; what they can take is not known.`,
      ...warnings,
    ],
  };
}

function hideLimit(permission: LivePermission): LivePermission {
  return permission.controlsAll === false ? { ...permission, controlsAll: null } : permission;
}

async function readDelegated(
  query: WalletQuery,
  account: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<AccountControl> {
  const { delegate } = account;
  if (delegate === null) return NOTHING;
  const listed = spenders.byAddress.get(delegate);
  const known = listed?.kind === "delegate" ? listed : undefined;
  const [hasKeys, implementation, own, keys] = await Promise.all([
    hasFurtherKeys(query, known, signal),
    // Without one, the account only receives.
    known?.implementations ? readImplementation(query, signal) : null,
    readOwners(query, account, spenders, signal),
    readPolicyAccount(query, signal),
  ]);
  const delegated = describeDelegate(query, delegate, known, hasKeys || implementation !== null);
  const found = joinControl([delegated, own, keys]);
  const runsUnknown = implementation !== null && !known?.implementations?.includes(implementation);
  return runsUnknown ? addUnknownCode(query, implementation, found) : found;
}

async function hasFurtherKeys(
  { at, wallet }: WalletQuery,
  known: Spender | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (known?.furtherKeys !== "counted") return known?.furtherKeys !== undefined;
  return (await readGroups(at, signal, views.keyCount(wallet))) !== 0n;
}

/** A known one acts only on what the owner has signed, or holders of further keys, if it has such. */
function describeDelegate(
  { at, wallet }: WalletQuery,
  delegate: Hex,
  known: Spender | undefined,
  hasKeys: boolean,
): AccountControl {
  const revoke = revocations.delegate(at.chain.chainId);
  if (known === undefined || !hasKeys) {
    return { ...NOTHING, permissions: [control(wallet, "delegate", delegate, revoke, known === undefined)] };
  }
  return {
    ...NOTHING,
    permissions: [control(wallet, "delegate", delegate, revoke, null)],
    warnings: [
      `${at.chain.name}: the delegate ${known.name} can let further keys act for the account; not all of them can be listed, and what they can take is not known.`,
    ],
  };
}

function control(
  wallet: Hex,
  kind: PermissionKind,
  spender: Hex,
  revoke: Revocation | null,
  controlsAll: LivePermission["controlsAll"] = false,
  expiresAt: bigint | null = null,
): LivePermission {
  const none = { via: null, rawAllowance: null, tokenId: null };
  return { kind, contract: wallet, spender, ...none, expiresAt, controlsAll, revoke };
}

async function readSafe(
  query: WalletQuery,
  { owners, threshold }: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<AccountControl> {
  const { at, wallet } = query;
  const [modules, guard, handler] = await Promise.all([
    readGroups(at, signal, views.modules(wallet, [SENTINEL, BigInt(LIST_MAX)])),
    // Not by a view, which a Safe has since 1.3.0.
    at.storage(wallet, GUARD_SLOT, signal),
    at.storage(wallet, HANDLER_SLOT, signal),
  ]);
  const kindOf = (address: Hex) => spenders.byAddress.get(address)?.kind;
  const limits = new Map(
    await Promise.all(
      (modules ?? [])
        .filter((module) => kindOf(module) === "allowance-module")
        .map(async (module) => [module, await readModuleAllowances(query, module, signal)] as const),
    ),
  );
  // Known modules act on the owners' signatures, or within limits; if these could not be read, it is unknown.
  const controlOf = (module: Hex) => {
    if (limits.has(module)) return limits.get(module) === null ? null : false;
    return kindOf(module) !== "signed-module";
  };
  const single = (kind: "guard" | "fallback-handler", word: bigint, revoke: Revocation) => {
    const address = toStoredAddress(word);
    // A handler decides which signatures of the Safe are valid (ERC-1271), and with that what Permit2 may take.
    const known = address === null ? undefined : kindOf(address);
    const isKnown = known === "fallback-handler" || known === "signed-module";
    const controls = kind === "guard" || isKnown ? false : null;
    return address === null ? [] : [control(wallet, kind, address, revoke, controls)];
  };
  const isComplete = modules !== null && modules.length < LIST_MAX;
  return {
    isComplete,
    permissions: [
      ...listSafeOwners(wallet, owners ?? [], threshold),
      ...(modules ?? []).map((module, i) =>
        control(
          wallet,
          "module",
          module,
          revocations.safeModule(wallet, modules?.[i - 1] ?? SENTINEL, module),
          controlOf(module),
        ),
      ),
      ...[...limits.values()].flatMap((own) => own ?? []),
      ...single("guard", guard, revocations.safeGuard(wallet)),
      ...single("fallback-handler", handler, revocations.safeFallbackHandler(wallet)),
    ],
    warnings: [
      ...(owners === null ? [`${at.chain.name}: the owners of the Safe could not be read.`] : []),
      ...(isComplete ? [] : [`${at.chain.name}: the modules of the Safe could not be read in full.`]),
      ...([...limits.values()].includes(null)
        ? [`${at.chain.name}: the limits of an allowance module of the Safe could not be read.`]
        : []),
    ],
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
    return control(wallet, "owner", owner, revoke, threshold === 1);
  });
}

/** The page, the sentinel behind it, and the list: offset, next, length, items. */
function decodeModules(data: Hex | null): readonly Hex[] | null {
  const count = data ? (data.length - 2) / 64 - 3 : -1;
  if (!Number.isInteger(count) || count < 0 || count > LIST_MAX) return null;
  const [offset, , length, ...items] = decodeWords(data, count + 3) ?? [];
  const modules = items.map(wordToAddress).filter((module) => module !== null);
  return offset === 64n && length === BigInt(count) && modules.length === count ? modules : null;
}

/** `owner()` of many accounts, the signer of ours, the indexed owners of Coinbase's, and the entry point of ERC-4337. */
async function readOwners(
  { at, wallet }: WalletQuery,
  { kind }: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<AccountControl> {
  const { owner, signer, next, entryPoint } = await readGroups(at, signal, {
    owner: views.owner(wallet),
    signer: views.signer(wallet),
    next: views.nextOwnerIndex(wallet),
    entryPoint: views.entryPoint(wallet),
  });
  // The owner of a contract that is not an account may do what its code says, which is often nothing to its tokens.
  const ownerControls = kind === "contract" ? null : true;
  const single = new Map<Hex, true | null>();
  for (const [address, controls] of [
    [owner, ownerControls],
    [signer, true],
  ] as const) {
    if (address !== null) single.set(address, controls);
  }
  const indexed = await readIndexedOwners({ at, wallet }, next ?? 0n, spenders, signal);
  // The published ones act only on what the owner has signed; another one may do as it likes.
  const isStrange = entryPoint !== null && findEntryPointVersion(entryPoint) === null;
  return {
    ...indexed,
    permissions: [
      ...[...single].map(([address, controls]) => control(wallet, "owner", address, null, controls)),
      ...indexed.permissions,
      ...(entryPoint === null ? [] : [control(wallet, "entry-point", entryPoint, null, isStrange)]),
    ],
  };
}

/** An owner that is a passkey is only counted. */
async function readIndexedOwners(
  { at, wallet }: WalletQuery,
  count: bigint,
  { byAddress }: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<AccountControl> {
  const size = count < BigInt(LIST_MAX) ? Number(count) : LIST_MAX;
  const results = await readGroups(
    at,
    signal,
    Array.from({ length: size }, (_, i) => views.ownerAtIndex(wallet, [BigInt(i)])),
  );
  const isComplete = count === BigInt(size) && !results.includes(null);
  const stored = results.map((result) => result?.bytes ?? null);
  const passkeys = stored.filter((bytes) => bytes?.length === PASSKEY_BYTES).length;
  const owners = stored.flatMap((bytes, index) => {
    const encoded: Hex = `0x${bytes?.toString("hex") ?? ""}`;
    const owner = bytes?.length === 32 ? decodeAddress(encoded) : null;
    return owner === null ? [] : [{ owner, index, encoded }];
  });
  const findManager = (owner: Hex) => {
    const known = byAddress.get(owner);
    return known?.kind === "permission-manager" ? known : undefined;
  };
  const { name } = at.chain;
  return {
    isComplete,
    permissions: owners.map(({ owner, index, encoded }) => {
      // The last owner cannot be removed by its index.
      const revoke = owners.length + passkeys > 1 ? revocations.ownerAtIndex(wallet, index, encoded) : null;
      return control(wallet, "owner", owner, revoke, findManager(owner) ? null : true);
    }),
    warnings: [
      ...(passkeys > 0
        ? [
            `${name}: ${passkeys} owners of the account are passkeys, which have no address and are not listed.`,
          ]
        : []),
      ...(isComplete ? [] : [`${name}: not all owners of the account were read.`]),
      ...owners
        .flatMap(({ owner }) => findManager(owner) ?? [])
        .map(
          (manager) =>
            `${name}: the owner ${manager.name} lets others spend within limits; what they can take is not known.`,
        ),
    ],
  };
}

const SESSION_KEY_UPDATED = hashEvent(findAbiEvent(policyAccountAbi, "SessionKeyUpdated"));

/** Our own smart account: its session keys are found by its logs, and read live. */
async function readPolicyAccount(query: WalletQuery, signal: AbortSignal): Promise<AccountControl> {
  const { at, wallet } = query;
  const module = await readGroups(at, signal, views.policyModule(wallet));
  if (module === null) return NOTHING;
  const [keys, guardian] = await Promise.all([
    readSessionKeys(query, signal),
    readGroups(at, signal, views.guardianOf(module, [wallet])),
  ]);
  return {
    ...keys,
    permissions: [
      ...keys.permissions,
      ...(guardian === null ? [] : [control(wallet, "guardian", guardian, revocations.guardian(wallet))]),
    ],
  };
}

async function readSessionKeys({ at, wallet }: WalletQuery, signal: AbortSignal): Promise<AccountControl> {
  const name = at.chain.name;
  try {
    const topics = [[SESSION_KEY_UPDATED]];
    const { logs, fromBlock } = await searchRecentLogs(
      at,
      (range, stop) => at.logs({ ...range, topics, contracts: [wallet] }, stop),
      signal,
    );
    const found = [...new Set(logs.toReversed().flatMap((log) => topicToAddress(log.topics[1]) ?? []))];
    const keys = found.slice(0, LIST_MAX);
    const read = await readEach(at, signal, keys, (key) => views.sessionKeys(wallet, [key]));
    const live = read.flatMap(([key, words]) => {
      const [expiresAt, active] = words ?? [];
      const isLive = active === 1n && expiresAt !== undefined && expiresAt >= BigInt(at.block.timestamp);
      return isLive
        ? [control(wallet, "session-key", key, revocations.sessionKey(wallet, key), false, expiresAt)]
        : [];
    });
    const cut =
      found.length > keys.length ? [`${name}: only the newest ${LIST_MAX} session keys were read.`] : [];
    return {
      isComplete: cut.length === 0,
      permissions: live,
      warnings: [`${name}: session keys are found by logs since block ${fromBlock}.`, ...cut],
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return { permissions: [], warnings: [`${name}: session keys could not be searched.`], isComplete: false };
  }
}
