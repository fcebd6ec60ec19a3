// The address that a name leads to, read from the registry and its resolver on the chain; no server is ever asked.
import { namehash } from "viem";
import { decodeBoolean } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { defineRead } from "../contract-reads/reads.ts";
import type { PinnedChain } from "../types.ts";
import { addressOf, type NameService, RESOLVER_GAS_MAX, resolverOf } from "./name-services.ts";

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
