// Reads all requested chains of a wallet concurrently and values them together; if one chain fails, all fail.
import { setMaxListeners } from "node:events";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { type ChainReaderOptions, readChainData } from "./read-chain-data.ts";
import type { PortfolioSnapshot } from "./snapshot-types.ts";
import type { PortfolioChain } from "./types.ts";
import { valueSnapshot } from "./valuation/value-snapshot.ts";

export type SnapshotQuery = {
  readonly wallet: Hex;
  /** Distinct, in the order of the response. */
  readonly slugs: readonly string[];
};

export type SnapshotReader = {
  /** Rejects with PROVIDER_FAILED when a chain cannot be read in full, or with the signal's reason. */
  read(query: SnapshotQuery, signal: AbortSignal): Promise<PortfolioSnapshot>;
};

export type SnapshotReaderOptions = ChainReaderOptions & {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  readonly readMsMax?: number;
};

// Below the 25 seconds that paid work has, so that the error can still name the chain that hangs.
const READ_MS_MAX = 20_000;

export function createSnapshotReader(options: SnapshotReaderOptions): SnapshotReader {
  return {
    async read({ wallet, slugs }, signal) {
      const chains = slugs.map((slug) => findChain(options.chains, slug));
      const takenAtMs = options.clock.nowMs();
      // Stops the reads of all other chains when one fails.
      const failed = new AbortController();
      const deadline = AbortSignal.timeout(options.readMsMax ?? READ_MS_MAX);
      const abort = AbortSignal.any([signal, failed.signal, deadline]);
      // Every request of every chain adds a listener.
      setMaxListeners(0, abort);
      const readChain = async (chain: PortfolioChain) => {
        try {
          return await readChainData(options, chain, wallet, abort);
        } catch (cause) {
          signal.throwIfAborted();
          const message = `The balances on ${chain.chain.name} could not be read in full.`;
          throw new Fault("PROVIDER_FAILED", message, { cause });
        }
      };
      try {
        const data = await Promise.all(chains.map(readChain));
        return valueSnapshot({ wallet, takenAtMs, provider: options.provider.name, chains: data });
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    },
  };
}

function findChain(chains: ReadonlyMap<string, PortfolioChain>, slug: string): PortfolioChain {
  const chain = chains.get(slug);
  if (!chain) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
  return chain;
}
