// Finds the kind of account that a wallet is on one chain: by its code if that proves it, else by what the contract says.

import { dataOrigin } from "../../chain/chain-data.ts";
import { readDataFile } from "../../chain/data-file.ts";
import { decodeAddress, decodeByteString, decodeWord, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ShapeType, shape } from "../../lib/json-shape.ts";
import type { PortfolioAccount } from "../../schema/portfolio/snapshot.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, joinReads, type Reads, toAddressArray } from "../contract-reads/reads.ts";
import { ACCOUNT_MS_MAX, runWithinBudget } from "../time-budgets.ts";
import type { WalletQuery } from "../types.ts";

export type AccountFacts = Omit<PortfolioAccount, "chain" | "chainId">;

type AccountResult = { readonly account: AccountFacts; readonly warnings: readonly string[] };

export const UNKNOWN_ACCOUNT: AccountFacts = {
  kind: null,
  proven: false,
  delegate: null,
  implementation: null,
  version: null,
  owners: null,
  threshold: null,
  entryPoint: null,
};

// Each of the views takes a few thousand; a proxy in front and a long list of owners stay below this.
const VIEW_GAS_MAX = 150_000;
// The bundle returns at most 2,048 bytes for a call: 62 words behind offset and length.
const OWNERS_MAX = 60;
const VERSION_BYTES_MAX = 32;

const views = {
  masterCopy: defineRead("function masterCopy()", decodeAddress, VIEW_GAS_MAX),
  version: defineRead("function VERSION()", decodeVersion, VIEW_GAS_MAX),
  threshold: defineRead("function getThreshold()", decodeWord, VIEW_GAS_MAX),
  owners: defineRead("function getOwners()", (data) => data, VIEW_GAS_MAX),
  entryPoint: defineRead("function entryPoint()", decodeAddress, VIEW_GAS_MAX),
};

/**
 * One request, a second one for a wallet with code, and alongside it a third for Coinbase's proxy. A failure leaves the
 * kind unknown.
 */
export async function readAccount(
  query: WalletQuery,
  signal: AbortSignal,
  budgetMs: number = ACCOUNT_MS_MAX,
): Promise<AccountResult> {
  const outcome = await runWithinBudget((stop) => readKind(query, stop), budgetMs, signal);
  if ("value" in outcome) return { account: outcome.value, warnings: [] };
  const warning = `The kind of the account is unknown on ${query.at.chain.name}: its code could not be read.`;
  return { account: UNKNOWN_ACCOUNT, warnings: [warning] };
}

async function readKind({ at, wallet }: WalletQuery, signal: AbortSignal): Promise<AccountFacts> {
  const code = await at.code(wallet, signal);
  if (code === "0x") return { ...UNKNOWN_ACCOUNT, kind: "eoa", proven: true };
  const [{ safe, named }, implementation] = await Promise.all([
    readGroups(at, signal, { safe: declareSafe(wallet, code), named: views.entryPoint(wallet) }),
    code === COINBASE_PROXY_CODE ? readImplementation({ at, wallet }, signal) : null,
  ]);
  const known = { ...UNKNOWN_ACCOUNT, entryPoint: named && findEntryPointVersion(named) ? named : null };
  const delegate = findDelegate(code);
  if (delegate !== null) return { ...known, kind: "delegated", proven: true, delegate };
  if (implementation !== null && COINBASE_IMPLEMENTATIONS.includes(implementation)) {
    return { ...known, kind: "smart-account", proven: true, implementation };
  }
  if (safe !== null) return { ...known, ...safe };
  // Any contract can name an entry point; what it does with a user operation is its own affair.
  return known.entryPoint === null
    ? { ...known, kind: "contract", proven: true, implementation }
    : { ...known, kind: "smart-account", implementation };
}

export const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn;

/** The code that a proxy runs, as ERC-1967 stores it in the account itself; null if none is set. */
export async function readImplementation(
  { at, wallet }: WalletQuery,
  signal: AbortSignal,
): Promise<Hex | null> {
  return toStoredAddress(await at.storage(wallet, IMPLEMENTATION_SLOT, signal));
}

/** A call uses the last 20 bytes of what is stored, whatever stands before them. */
export function toStoredAddress(word: bigint): Hex | null {
  return wordToAddress(BigInt.asUintN(160, word));
}

// EIP-7702: these three bytes, then the address of the delegate, and nothing else.
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

export function findDelegate(code: Hex): Hex | null {
  return DELEGATION.test(code) ? `0x${code.slice(-40)}` : null;
}

/** Null for what does not respond like a Safe. */
function declareSafe(wallet: Hex, code: Hex): Reads<Partial<AccountFacts> | null> {
  const group = {
    masterCopy: views.masterCopy(wallet),
    claimed: views.version(wallet),
    threshold: views.threshold(wallet),
    ownersData: views.owners(wallet),
  };
  return joinReads(group).map(({ masterCopy, claimed, threshold, ownersData }) => {
    const owners = toAddressArray(OWNERS_MAX)(ownersData);
    if (threshold === null || threshold === 0n || threshold > BigInt(Number.MAX_SAFE_INTEGER)) return null;
    if (owners !== null && BigInt(owners.length) < threshold) return null;
    // The proxy itself responds to this, with the address of the code that it runs.
    const implementation = isSafeProxy(code) ? masterCopy : null;
    const published = implementation && findSafeVersion(implementation);
    if (!published && claimed === null) return null;
    // A Safe of hundreds of owners cannot list them within the gas of a view, and is still one.
    if (!published && !ownersData) return null;
    return {
      kind: "safe",
      proven: Boolean(published),
      implementation,
      version: published || claimed,
      owners,
      threshold: Number(threshold),
    };
  });
}

/** Behind the code that runs, a proxy has only the compiler's metadata. */
function isSafeProxy(code: Hex): boolean {
  return SAFE_PROXY_CODES.some((known) => code.startsWith(known));
}

/** A number such as 1.4.1: the text is the contract's own, and any other is not repeated. */
function decodeVersion(returnData: Hex | null): string | null {
  const text = decodeByteString(returnData, VERSION_BYTES_MAX)?.toString("latin1") ?? "";
  return /^[0-9]{1,3}(\.[0-9]{1,3}){2}(\+L2)?$/.test(text) ? text : null;
}

/**
 * All code that a proxy of Safe can run; the compiler's metadata follows. It returns its singleton, from its first storage
 * slot, for masterCopy(), and runs the singleton for everything else.
 */
export const SAFE_PROXY_CODES: readonly Hex[] = [
  // 1.1.1 to 1.4.1
  "0x608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fe",
  // 1.5.0
  "0x608060405260005463a619486e60003560e01c14156024578060601b606c5260206060f35b3660008037600080366000845af43d6000803e806040573d6000fd5b3d6000f3fe",
];

const versions = shape.object({
  ...dataOrigin,
  data: shape.list(shape.object({ version: shape.text, address: shape.address }), ({ address }) => address),
});
const FILE = "accounts.json";
const { safeSingletons, coinbaseImplementations, entryPoints } = shape.object({
  safeSingletons: versions,
  coinbaseImplementations: versions,
  entryPoints: versions,
})(readDataFile(FILE), `chain-data/${FILE}: `);

function findSafeVersion(singleton: Hex): string | null {
  return findVersion(safeSingletons, singleton);
}

/** All code of a Coinbase Smart Wallet: it runs the implementation that its ERC-1967 slot names. */
export const COINBASE_PROXY_CODE: Hex =
  "0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3";

/** Coinbase Smart Wallet, at the same addresses on every chain; their owners are listed by index. */
export const COINBASE_IMPLEMENTATIONS: readonly Hex[] = coinbaseImplementations.data.map(
  ({ address }) => address,
);

export function findEntryPointVersion(address: Hex): string | null {
  return findVersion(entryPoints, address);
}

function findVersion({ data }: ShapeType<typeof versions>, address: Hex): string | null {
  return data.find((known) => known.address === address)?.version ?? null;
}
