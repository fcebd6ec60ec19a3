// Where chains keep names: the registries of ENS and Basenames, and the spelling in which a name is looked up.
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";

export type NameService = {
  readonly chainId: number;
  /** As people call it. */
  readonly title: string;
  readonly registry: Hex;
  /** The parent of the records by address. */
  readonly reverse: string;
  /** A contract that has newer records by address than the registry (ENSIP-19); absent where the registry has all. */
  readonly reverseRegistrar?: Hex;
};

const ENS: NameService = {
  chainId: 1,
  title: "ENS on Ethereum",
  registry: "0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e",
  reverse: "addr.reverse",
};

const BASENAMES: NameService = {
  chainId: 8453,
  title: "Basenames on Base",
  registry: "0xb94704422c2a1e396835a571837aa5ae53285a95",
  // The number is that of the chain as a type of coin (ENSIP-11).
  reverse: "80002105.reverse",
  // ENS' L2ReverseRegistrar, at the same address on all rollups; Basenames sets new primary names there since August 2025.
  reverseRegistrar: "0x0000000000d8e504002cc26e3ec46d81971c1664",
};

const NAME_SERVICES: readonly NameService[] = [ENS, BASENAMES];

/** Undefined for a chain without names. */
export function findNameService(chainId: number): NameService | undefined {
  return NAME_SERVICES.find((service) => service.chainId === chainId);
}

/** On Ethereum the names under base.eth are only a pointer to a server; their records are on Base. */
export function selectNameService(name: string): NameService {
  return name.endsWith(".base.eth") ? BASENAMES : ENS;
}

export const resolverOf = createCallEncoder("function resolver(bytes32) view returns (address)");
export const addressOf = createCallEncoder("function addr(bytes32) view returns (address)");

// Anyone may set a resolver of their own.
export const RESOLVER_GAS_MAX = 300_000;
// As long as DNS allows; each label costs a hash.
export const NAME_BYTES_MAX = 255;

/** Lower-case letters, digits and hyphens, without the mark of an encoded label (`xn--`): always normalized. */
const PLAIN = /^(?!..--)[a-z0-9-]+(\.(?!..--)[a-z0-9-]+)*$/;

/** By ENSIP-15; null for what is no name: any other spelling could look like someone else's name. */
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
