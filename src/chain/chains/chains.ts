// The chains Sextant knows, by slug and by id.
import { assertDefined } from "../../lib/assert-defined.ts";
import { shape } from "../../lib/json-shape.ts";
import { readDataFile } from "../data-file.ts";
import { type ChainInfo, chainInfo } from "./chain-info.ts";

const FILE = "chains.json";

/** In the order in which responses list them. */
export const CHAINS: readonly ChainInfo[] = shape.list(chainInfo, ({ chainId }) => chainId)(
  readDataFile(FILE),
  `chain-data/${FILE}: `,
);

/** Chains that the portfolio service can be configured for. */
export const PORTFOLIO_CHAINS: readonly ChainInfo[] = CHAINS.filter(({ mainnet }) => mainnet);

export function findChainBySlug(slug: string): ChainInfo | null {
  return CHAINS.find((chain) => chain.slug === slug) ?? null;
}

export function findChainById(chainId: number): ChainInfo | null {
  return CHAINS.find((chain) => chain.chainId === chainId) ?? null;
}

/** The embedded chain of a local run. */
export const localChain: ChainInfo = assertDefined(findChainBySlug("local") ?? undefined, "the local chain");

/** The assumptions about a chain that is not among them. */
export const UNKNOWN_CHAIN_DEFAULTS = {
  finalityDepth: 64,
  finalityDepthMin: 8,
  blockTimeMs: 2_000,
  logsBloom: "complete",
} as const;
