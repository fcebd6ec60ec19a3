// The services that keep names of chains: the registries of ENS and Basenames, and the spelling in which a name is looked up.

import type { ChainInfo } from "../../chain/chains/chain-info.ts";
import { CHAINS } from "../../chain/chains/chains.ts";
import { decodeAddress } from "../../lib/abi/return-data.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import { defineRead } from "../contract-reads/reads.ts";

export type NameService = NonNullable<ChainInfo["nameService"]> & { readonly chainId: number };

const NAME_SERVICES: readonly NameService[] = CHAINS.flatMap(({ chainId, nameService }) =>
  nameService ? [{ chainId, ...nameService }] : [],
);

/** Undefined for a chain without names. */
export function findNameService(chainId: number): NameService | undefined {
  return NAME_SERVICES.find((service) => service.chainId === chainId);
}

/** On Ethereum the names under base.eth are only a pointer to a server; their records are on Base. */
export function selectNameService(name: string): NameService {
  const own = NAME_SERVICES.find(({ suffix }) => suffix !== undefined && name.endsWith(suffix));
  const rest = NAME_SERVICES.find(({ suffix }) => suffix === undefined);
  return assertDefined(own ?? rest, "the service of names");
}

// Anyone may set a resolver of their own.
export const RESOLVER_GAS_MAX = 300_000;

export const resolverOf = defineRead("function resolver(bytes32)", decodeAddress);
export const addressOf = defineRead("function addr(bytes32)", decodeAddress, RESOLVER_GAS_MAX);

// As long as DNS allows; each label costs a hash.
export const NAME_BYTES_MAX = 255;

/** Lower-case letters, digits and hyphens, without the mark of an encoded label (`xn--`): always normalized. */
const PLAIN = /^(?!..--)[a-z0-9-]+(\.(?!..--)[a-z0-9-]+)*$/;

/**
 * Normalizes by ENSIP-15; null for a text that is not a name: any other spelling could look like someone else's name.
 */
export async function normalizeName(text: string): Promise<string | null> {
  if (Buffer.byteLength(text) > NAME_BYTES_MAX) return null;
  if (PLAIN.test(text)) return text;
  // Only now: its tables of characters take longer to load than all the calls, and few names need them.
  const { normalize } = await import("./normalize.ts");
  try {
    const normalized = normalize(text);
    return Buffer.byteLength(normalized) <= NAME_BYTES_MAX ? normalized : null;
  } catch {
    return null;
  }
}
