// Reads something of a wallet on all requested chains at the same time, each at one block; if one chain fails, all fail.
import { setMaxListeners } from "node:events";
import { Fault, type FaultCode } from "../lib/fault.ts";
import { rpcHoldingsProvider } from "./providers/rpc/provider.ts";
import { CHAIN_MS_MAX } from "./time-budgets.ts";
import type { HoldingsProvider, PinnedBlock, PinnedChain, PortfolioChain } from "./types.ts";

type ChainsOptions = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly readMsMax?: number;
};

type ChainsQuery<T> = {
  /** Distinct, in the order of the results. */
  readonly slugs: readonly string[];
  /** The block of every chain by its slug; absent for the newest ones. */
  readonly blocks?: ReadonlyMap<string, number> | undefined;
  /** What is read, in the plural, for the message of a failure. */
  readonly what: string;
  read(at: PinnedChain, signal: AbortSignal): Promise<T>;
};

/**
 * Rejects with PROVIDER_FAILED when a chain cannot be read in full, with INPUT_INVALID or STATE_UNAVAILABLE for a block
 * that it cannot be read at, or with the signal's reason.
 */
export async function readPinnedChains<T>(
  { chains, readMsMax = CHAIN_MS_MAX }: ChainsOptions,
  { slugs, blocks, what, read }: ChainsQuery<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const found = slugs.map((slug) => findChain(chains, slug));
  // Stops the reads of all other chains when one fails.
  const failed = new AbortController();
  const abort = AbortSignal.any([signal, failed.signal, AbortSignal.timeout(readMsMax)]);
  // Every request of every chain adds a listener.
  setMaxListeners(0, abort);
  const readChain = async (chain: PortfolioChain) => {
    try {
      return await read(await chain.pin(abort, blocks?.get(chain.chain.slug)), abort);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Fault && BLOCK_FAULTS.has(cause.code)) throw cause;
      const message = `The ${what} on ${chain.chain.name} could not be read in full.`;
      throw new Fault("PROVIDER_FAILED", message, { cause });
    }
  };
  try {
    return await Promise.all(found.map(readChain));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/** What the request is to blame for, and not a chain. */
const BLOCK_FAULTS: ReadonlySet<FaultCode> = new Set(["INPUT_INVALID", "STATE_UNAVAILABLE"]);

function findChain(chains: ReadonlyMap<string, PortfolioChain>, slug: string): PortfolioChain {
  const chain = chains.get(slug);
  if (!chain) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
  return chain;
}

/** A node where the provider knows the present only. */
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
