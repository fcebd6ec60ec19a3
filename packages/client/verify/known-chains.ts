// The chains that responses name by a slug: a response must not call another chain by it.

const KNOWN: ReadonlyMap<string, string> = new Map([
  ["base", "eip155:8453"],
  ["ethereum", "eip155:1"],
  ["arbitrum", "eip155:42161"],
  ["optimism", "eip155:10"],
  ["polygon", "eip155:137"],
  ["base-sepolia", "eip155:84532"],
  ["local", "eip155:31337"],
]);

/** Null for a chain that the table does not have. */
export function findKnownSlug(chainId: string): string | null {
  return [...KNOWN].find(([, known]) => known === chainId)?.[0] ?? null;
}

/** Null for a slug that the table does not have. */
export function findKnownChainId(slug: string): string | null {
  return KNOWN.get(slug) ?? null;
}
