// Chains that could not be read, in a response that may lack them: named, counted in no total, and every total of all unknown.
import type { ChainConfig } from "../types.ts";

type FailedChains = {
  /** The chains of the request, in its order. */
  readonly slugs: readonly string[];
  readonly failed: readonly ChainConfig[];
};

type Summary = {
  readonly chains: readonly { readonly chain: string }[];
  readonly warnings: readonly string[];
};

/** The parts of a response that are unknown because of a chain. */
type UnknownParts<S extends Summary> = {
  /** As a sentence names them. */
  readonly what: string;
  readonly ofChain: Omit<S["chains"][number], "chain">;
  readonly totals: Partial<S>;
};

/** A total that lacks a chain would look like a smaller wallet. */
export function addFailedChains<S extends Summary, Response extends { readonly summary: S }>(
  response: Response & { readonly summary: S },
  { slugs, failed }: FailedChains,
  { what, ofChain, totals }: UnknownParts<S>,
): Response {
  if (failed.length === 0) return response;
  const { summary } = response;
  const read = new Map(summary.chains.map((each) => [each.chain, each]));
  const warnings = failed.map(({ name }) => `${name} could not be read and is missing: ${what} are unknown.`);
  return {
    ...response,
    chains: slugs,
    summary: {
      ...summary,
      ...totals,
      chains: slugs.map((chain) => read.get(chain) ?? { chain, ...ofChain }),
      warnings: [...warnings, ...summary.warnings],
    },
    failedChains: failed.map(({ slug }) => slug),
  };
}
