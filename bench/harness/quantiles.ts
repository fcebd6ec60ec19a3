// How long answers took: the one in the middle, and the one that only a hundredth took longer than.

export type Quantiles = { readonly medianMs: number; readonly p99Ms: number };

export function quantilesOf(tookMs: readonly number[]): Quantiles {
  const sorted = Float64Array.from(tookMs).sort();
  const at = (part: number) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
  return { medianMs: at(0.5), p99Ms: at(0.99) };
}
