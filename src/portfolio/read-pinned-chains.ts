// Reads something of a wallet on all chains at the same time, each at one block; if one fails, all do unless allowed.
import { Deadline } from "../lib/deadline.ts";
import { Fault, type FaultCode } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { rpcHoldingsProvider } from "./providers/rpc/provider.ts";
import { CHAIN_MS_MAX } from "./time-budgets.ts";
import type { ChainConfig, HoldingsProvider, PinnedBlock, PinnedChain, PortfolioChain } from "./types.ts";

type ChainsOptions = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly readMsMax?: number;
};

type ChainsQuery<T> = {
  /** Distinct, in the order of the results. */
  readonly slugs: readonly string[];
  /** The block of every chain by its slug; absent for the newest ones. */
  readonly blocks?: ReadonlyMap<string, number> | undefined;
  /** The message if the chain of this name cannot be read. */
  failure(chainName: string): string;
  /** Whether a chain that fails is left out, as long as another one can be read. */
  readonly partial?: boolean | undefined;
  /** The wallet that is read; absent if only blocks are. */
  readonly wallet?: Hex;
  read(at: PinnedChain, signal: AbortSignal): Promise<T>;
};

/** The results, and the chains that could not be read; those only if the query allows it. */
type ReadChains<T> = { readonly read: readonly T[]; readonly failed: readonly ChainConfig[] };

/**
 * Rejects with PROVIDER_FAILED when a chain cannot be read in full, with INPUT_INVALID or STATE_UNAVAILABLE for a block
 * that it cannot be read at, or with the signal's reason.
 */
export async function readPinnedChains<T>(
  { chains, readMsMax = CHAIN_MS_MAX }: ChainsOptions,
  { slugs, blocks, wallet, failure, partial = false, read }: ChainsQuery<T>,
  signal: AbortSignal,
): Promise<ReadChains<T>> {
  const found = slugs.map((slug) => findChain(chains, slug));
  const deadline = new Deadline(readMsMax, signal);
  const abort = deadline.signal;
  const readChain = async (chain: PortfolioChain) => {
    try {
      return await read(await chain.pin(abort, blocks?.get(chain.chain.slug), wallet), abort);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Fault && BLOCK_FAULTS.has(cause.code)) throw cause;
      throw new Fault("PROVIDER_FAILED", failure(chain.chain.name), { cause });
    }
  };
  try {
    const read = partial
      ? await settleChains(found, readChain)
      : { read: await Promise.all(found.map(readChain)), failed: [] };
    deadline.end();
    return read;
  } catch (error) {
    // The reads of all other chains stop when one fails.
    deadline.end(error);
    throw error;
  }
}

/** Rejects if no chain could be read, and for what the request is to blame for. */
async function settleChains<T>(
  chains: readonly PortfolioChain[],
  readChain: (chain: PortfolioChain) => Promise<T>,
): Promise<ReadChains<T>> {
  const failed: ChainConfig[] = [];
  let failure: unknown;
  const settle = async (access: PortfolioChain): Promise<readonly T[]> => {
    try {
      return [await readChain(access)];
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "PROVIDER_FAILED") throw error;
      failure = error;
      failed.push(access.chain);
      return [];
    }
  };
  const read = (await Promise.all(chains.map(settle))).flat();
  if (read.length === 0) throw failure;
  return { read, failed };
}

/** Errors that are the request's fault, and not a chain's. */
const BLOCK_FAULTS: ReadonlySet<FaultCode> = new Set(["INPUT_INVALID", "STATE_UNAVAILABLE"]);

function findChain(chains: ReadonlyMap<string, PortfolioChain>, slug: string): PortfolioChain {
  const chain = chains.get(slug);
  if (!chain) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
  return chain;
}

/** A node, if the provider knows the present only. */
export function selectProvider(
  provider: HoldingsProvider,
  blocks: ReadonlyMap<string, number> | undefined,
): HoldingsProvider {
  return blocks && provider.presentOnly ? rpcHoldingsProvider : provider;
}

/** As of blocks the time is the chain's, so that the same blocks have the same response at any time. */
export function newestBlockMs(chains: readonly { readonly block: PinnedBlock }[]): number {
  return Math.max(...chains.map(({ block }) => block.timestamp)) * 1_000;
}

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
