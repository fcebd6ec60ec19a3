// Names in ENS and Basenames as their contracts on the chain have them: the address of a name, and the name of a wallet.
import { namehash } from "viem";
import type { ChainInfo } from "../../chain/chains/chain-info.ts";
import { CHAINS } from "../../chain/chains/chains.ts";
import { decodeAddress, decodeBoolean, decodeByteString } from "../../lib/abi/return-data.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { type ContractFunction, defineRead } from "../contract-reads/reads.ts";
import { ACCOUNT_MS_MAX, runWithinBudget } from "../time-budgets.ts";
import type { PinnedChain, WalletQuery } from "../types.ts";

export type NameService = NonNullable<ChainInfo["nameService"]> & { readonly chainId: number };

const NAME_SERVICES: readonly NameService[] = CHAINS.flatMap(({ chainId, nameService }) =>
  nameService ? [{ chainId, ...nameService }] : [],
);

/** On Ethereum the names under base.eth are only a pointer to a server; their records are on Base. */
export function selectNameService(name: string): NameService {
  const own = NAME_SERVICES.find(({ suffix }) => suffix !== undefined && name.endsWith(suffix));
  const rest = NAME_SERVICES.find(({ suffix }) => suffix === undefined);
  return assertDefined(own ?? rest, "the service of names");
}

// Anyone may set a resolver of their own.
const RESOLVER_GAS_MAX = 300_000;

const resolverOf = defineRead("function resolver(bytes32)", decodeAddress);
const addressOf = defineRead("function addr(bytes32)", decodeAddress, RESOLVER_GAS_MAX);

// As long as DNS allows; each label costs a hash.
const NAME_BYTES_MAX = 255;

/** Lower-case letters, digits and hyphens, without the mark of an encoded label (`xn--`): always normalized. */
const PLAIN = /^(?!..--)[a-z0-9-]+(\.(?!..--)[a-z0-9-]+)*$/;

/**
 * Normalizes by ENSIP-15; null for a text that is not a name: any other spelling could look like someone else's name.
 */
export async function normalizeName(text: string): Promise<string | null> {
  if (Buffer.byteLength(text) > NAME_BYTES_MAX) return null;
  if (PLAIN.test(text)) return text;
  // Only now: its tables of characters take longer to load than all the calls, and few names need them.
  const { normalize } = await import("viem/ens");
  try {
    const normalized = normalize(text);
    return Buffer.byteLength(normalized) <= NAME_BYTES_MAX ? normalized : null;
  } catch {
    return null;
  }
}

/**
 * The reason why a name leads to no address: `offchain` may have one, which only someone else's server or a wildcard
 * knows.
 */
type NoAddress = "unregistered" | "empty" | "offchain";

export type FoundAddress = { readonly address: Hex } | { readonly missing: NoAddress };

const supportsInterface = defineRead("function supportsInterface(bytes4)", decodeBoolean, RESOLVER_GAS_MAX);
// ENSIP-10: resolve(bytes,bytes), by which resolvers handle subnames and point to servers (EIP-3668).
const EXTENDED_RESOLVER = "0x9061b923";

/** Two requests: the resolvers of the name and its parents, then what the nearest of them says. */
export async function findAddress(
  at: PinnedChain,
  { registry }: NameService,
  name: string,
  signal: AbortSignal,
): Promise<FoundAddress> {
  const nodes = listNodes(name);
  const resolvers = await readGroups(
    at,
    signal,
    nodes.map((node) => resolverOf(registry, [node])),
  );
  const nearest = resolvers.find((resolver) => resolver !== null) ?? null;
  if (nearest === null) return { missing: "unregistered" };
  const { record, isExtended } = await readGroups(at, signal, {
    record: addressOf(nearest, [nodes[0]]),
    isExtended: supportsInterface(nearest, [EXTENDED_RESOLVER]),
  });
  // The resolver of a parent speaks for the name only as a wildcard, whatever it returns here.
  const address = resolvers[0] === null ? null : record;
  if (address !== null) return { address };
  if (isExtended) return { missing: "offchain" };
  return { missing: resolvers[0] === null ? "unregistered" : "empty" };
}

/** The hashes of the name and of each parent, the name first. */
function listNodes(name: string): readonly Hex[] {
  const labels = name.split(".");
  return labels.map((_, index) => namehash(labels.slice(index).join(".")));
}

const name = defineRead("function name(bytes32)", decodeName, RESOLVER_GAS_MAX);
const nameForAddr = defineRead("function nameForAddr(address)", decodeName, RESOLVER_GAS_MAX);

type NameResult = { readonly name: string | null; readonly warnings: readonly string[] };

/**
 * At most four requests one after another, alongside the balances, and two more if the newer of two records does not
 * lead back; a name that cannot be verified is null.
 */
export async function readName(
  query: WalletQuery,
  signal: AbortSignal,
  budgetMs: number = ACCOUNT_MS_MAX,
): Promise<NameResult> {
  const service = NAME_SERVICES.find(({ chainId }) => chainId === query.at.chain.chainId);
  if (service === undefined) return { name: null, warnings: [] };
  const outcome = await runWithinBudget((stop) => readVerified(query, service, stop), budgetMs, signal);
  if ("value" in outcome) return { name: outcome.value, warnings: [] };
  return {
    name: null,
    warnings: [`The name of the wallet is unknown on ${query.at.chain.name}: it could not be read.`],
  };
}

async function readVerified(
  query: WalletQuery,
  service: NameService,
  signal: AbortSignal,
): Promise<string | null> {
  const { at, wallet } = query;
  const { registry, reverse, reverseRegistrar } = service;
  const node = namehash(`${wallet.slice(2)}.${reverse}`);
  const { resolver, claimed } = await readGroups(at, signal, {
    resolver: resolverOf(registry, [node]),
    claimed: reverseRegistrar === undefined ? null : nameForAddr(reverseRegistrar, [wallet]),
  });
  if (claimed !== null && (await leadsBack(query, registry, claimed, signal))) return claimed;
  const older = await readRecord(at, resolver, name, node, signal);
  // The newer record has been checked already.
  if (older === null || older === claimed) return null;
  return (await leadsBack(query, registry, older, signal)) ? older : null;
}

async function leadsBack(
  { at, wallet }: WalletQuery,
  registry: Hex,
  claimed: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await normalizeName(claimed)) !== claimed) return false;
  const node = namehash(claimed);
  const resolver = await readGroups(at, signal, resolverOf(registry, [node]));
  return (await readRecord(at, resolver, addressOf, node, signal)) === wallet;
}

/** Null without a resolver, and when that reverts: a lookup outside of the chain (CCIP-Read) is never followed. */
async function readRecord<T>(
  at: PinnedChain,
  target: Hex | null,
  record: ContractFunction<T>,
  node: Hex,
  signal: AbortSignal,
): Promise<T | null> {
  return target === null ? null : readGroups(at, signal, record(target, [node]));
}

function decodeName(result: Hex | null): string | null {
  const bytes = decodeByteString(result, NAME_BYTES_MAX);
  const text = bytes?.toString("utf8") ?? "";
  // Invalid bytes would not survive the round trip.
  return text !== "" && bytes?.equals(Buffer.from(text, "utf8")) ? text : null;
}
