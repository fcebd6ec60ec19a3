// Finality by depth: what "finalized" and "safe" mean on a chain without validators.

const FINAL_TAGS = new Set<unknown>(["finalized", "safe"]);
const RANGE_KEYS = ["fromBlock", "toBlock"] as const;

/** Replaces the two tags by the block `depth` below the head, as a block parameter or as a bound of a log filter. */
export function resolveFinalTags(
  params: readonly unknown[],
  head: bigint,
  depth: number,
): readonly unknown[] {
  const final = head > BigInt(depth) ? head - BigInt(depth) : 0n;
  const resolve = (value: unknown) => (FINAL_TAGS.has(value) ? `0x${final.toString(16)}` : value);
  return params.map((param) => {
    if (typeof param !== "object" || param === null || !RANGE_KEYS.some((key) => key in param))
      return resolve(param);
    const filter: Record<string, unknown> = { ...param };
    for (const key of RANGE_KEYS) if (key in filter) filter[key] = resolve(filter[key]);
    return filter;
  });
}
