// Who controls the wallet's account itself, as it says at the pinned block: delegate, owners, modules and session keys.

import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { findAbiEvent, hashEvent } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeByteString, decodeWord } from "../../lib/abi/return-data.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { type AccountFacts, findEntryPointVersion, readImplementation } from "../account/kind.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import { searchRecentLogs } from "../recent-logs.ts";
import type { WalletQuery } from "../types.ts";
import { revocations } from "./revocations.ts";
import { readSafe } from "./safe-control.ts";
import type { ChainSpenders, Spender } from "./spenders.ts";
import { createPermission, NO_FINDINGS, type PermissionFindings } from "./types.ts";

// Each view takes a few thousand; a proxy in front stays below this.
const VIEW_GAS_MAX = 200_000;
// Most owners of an account, and session keys: more is unheard of.
const LIST_MAX = 50;

/** An owner that is a passkey has no address. */
const PASSKEY_BYTES = 64;

const views = {
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

/** No request for an account without code. */
export async function readAccountControl(
  query: WalletQuery,
  account: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  const { kind, implementation } = account;
  if (kind === null || kind === "eoa") return NO_FINDINGS;
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

function joinControl(parts: readonly PermissionFindings[]): PermissionFindings {
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
  { permissions, warnings, isComplete }: PermissionFindings,
): PermissionFindings {
  return {
    isComplete,
    permissions: [
      createPermission("account-code", wallet, implementation ?? wallet, null, { controlsAll: null }),
      ...permissions.map((one) =>
        one.contract === wallet && one.controlsAll === false ? { ...one, controlsAll: null } : one,
      ),
    ],
    warnings: [
      `${at.chain.name}: the account's own code is not known and could let others act; what they can take is not known.`,
      ...warnings,
    ],
  };
}

async function readDelegated(
  query: WalletQuery,
  account: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  const { delegate } = account;
  if (delegate === null) return NO_FINDINGS;
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
): PermissionFindings {
  const controlsAll = known === undefined ? true : hasKeys ? null : false;
  const revoke = revocations.delegate(at.chain.chainId);
  return {
    isComplete: true,
    permissions: [createPermission("delegate", wallet, delegate, revoke, { controlsAll })],
    warnings: keepPresent(
      known !== undefined &&
        hasKeys &&
        `${at.chain.name}: the delegate ${known.name} can let further keys act for the account; not all of them can be listed, and what they can take is not known.`,
    ),
  };
}

/** `owner()` of many accounts, the signer of ours, the indexed owners of Coinbase's, and the entry point of ERC-4337. */
async function readOwners(
  { at, wallet }: WalletQuery,
  { kind }: AccountFacts,
  spenders: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  const { owner, signer, next, entryPoint } = await readGroups(at, signal, {
    owner: views.owner(wallet),
    signer: views.signer(wallet),
    next: views.nextOwnerIndex(wallet),
    entryPoint: views.entryPoint(wallet),
  });
  // The owner of a contract that is not an account may do what its code says, which is often nothing to its tokens.
  const ownerControls = kind === "contract" ? null : true;
  const single = new Map([
    [owner, ownerControls],
    [signer, true],
  ]);
  const indexed = await readIndexedOwners({ at, wallet }, next ?? 0n, spenders, signal);
  // The published ones act only on what the owner has signed; another one may do as it likes.
  const isStrange = entryPoint !== null && findEntryPointVersion(entryPoint) === null;
  return {
    ...indexed,
    permissions: [
      ...[...single].flatMap(([address, controlsAll]) =>
        address === null ? [] : [createPermission("owner", wallet, address, null, { controlsAll })],
      ),
      ...indexed.permissions,
      ...keepPresent(
        entryPoint && createPermission("entry-point", wallet, entryPoint, null, { controlsAll: isStrange }),
      ),
    ],
  };
}

/** An owner that is a passkey is only counted. */
async function readIndexedOwners(
  { at, wallet }: WalletQuery,
  count: bigint,
  { byAddress }: Pick<ChainSpenders, "byAddress">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
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
      const isLast = owners.length + passkeys === 1;
      const revoke = isLast ? null : revocations.ownerAtIndex(wallet, BigInt(index), encoded);
      return createPermission("owner", wallet, owner, revoke, {
        controlsAll: findManager(owner) ? null : true,
      });
    }),
    warnings: keepPresent(
      passkeys > 0 &&
        `${name}: ${passkeys} owners of the account are passkeys, which have no address and are not listed.`,
      !isComplete && `${name}: not all owners of the account were read.`,
      ...owners
        .flatMap(({ owner }) => findManager(owner) ?? [])
        .map(
          (manager) =>
            `${name}: the owner ${manager.name} lets others spend within limits; what they can take is not known.`,
        ),
    ),
  };
}

const SESSION_KEY_UPDATED = hashEvent(findAbiEvent(policyAccountAbi, "SessionKeyUpdated"));

/** Our own smart account: its session keys are found by its logs, and read live. */
async function readPolicyAccount(query: WalletQuery, signal: AbortSignal): Promise<PermissionFindings> {
  const { at, wallet } = query;
  const module = await readGroups(at, signal, views.policyModule(wallet));
  if (module === null) return NO_FINDINGS;
  const [keys, guardian] = await Promise.all([
    readSessionKeys(query, signal),
    readGroups(at, signal, views.guardianOf(module, [wallet])),
  ]);
  return {
    ...keys,
    permissions: [
      ...keys.permissions,
      ...keepPresent(
        guardian && createPermission("guardian", wallet, guardian, revocations.guardian(wallet)),
      ),
    ],
  };
}

async function readSessionKeys(
  { at, wallet }: WalletQuery,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  const { name } = at.chain;
  const filter = { topics: [[SESSION_KEY_UPDATED]], contracts: [wallet] };
  try {
    const { logs, fromBlock } = await searchRecentLogs(
      at,
      (range, stop) => at.logs({ ...range, ...filter }, stop),
      signal,
    );
    const found = [...new Set(logs.toReversed().flatMap((log) => topicToAddress(log.topics[1]) ?? []))];
    const keys = found.slice(0, LIST_MAX);
    const isComplete = found.length === keys.length;
    const read = await readEach(at, signal, keys, (key) => views.sessionKeys(wallet, [key]));
    return {
      isComplete,
      permissions: read.flatMap(([key, words]) => {
        const [expiresAt, active] = words ?? [];
        const isLive = active === 1n && expiresAt !== undefined && expiresAt >= BigInt(at.block.timestamp);
        const revoke = revocations.sessionKey(wallet, key);
        return isLive ? [createPermission("session-key", wallet, key, revoke, { expiresAt })] : [];
      }),
      warnings: keepPresent(
        `${name}: session keys are found by logs since block ${fromBlock}.`,
        !isComplete && `${name}: only the newest ${LIST_MAX} session keys were read.`,
      ),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return { permissions: [], warnings: [`${name}: session keys could not be searched.`], isComplete: false };
  }
}
