// A wallet's snapshot: all its chains read at the same time, then valued together; one chain that fails fails the whole.
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
  /** Distinct, in the order of the answer. */
  readonly slugs: readonly string[];
};

export type SnapshotReader = {
  /** Rejects with PROVIDER_FAILED when a chain can not be read in full, or with the signal's reason. */
  read(question: SnapshotQuery, signal: AbortSignal): Promise<PortfolioSnapshot>;
};

export type SnapshotReaderOptions = ChainReaderOptions & {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  readonly readMsMax?: number;
};

// A chain that hangs has failed, and is named as long as the asker still waits: paid work has 25 seconds.
const READ_MS_MAX = 20_000;

export function createSnapshotReader(needs: SnapshotReaderOptions): SnapshotReader {
  return {
    async read({ wallet, slugs }, signal) {
      const ports = slugs.map((slug) => portOf(needs.chains, slug));
      const takenAtMs = needs.clock.nowMs();
      const others = new AbortController();
      const late = AbortSignal.timeout(needs.readMsMax ?? READ_MS_MAX);
      const either = AbortSignal.any([signal, others.signal, late]);
      // Every request of every chain listens to it.
      setMaxListeners(0, either);
      const read = async (port: PortfolioChain) => {
        try {
          return await readChainData(needs, port, wallet, either);
        } catch (cause) {
          signal.throwIfAborted();
          throw new Fault(
            "PROVIDER_FAILED",
            `The balances on ${port.chain.name} could not be read in full.`,
            { cause },
          );
        }
      };
      try {
        const chains = await Promise.all(ports.map(read));
        return valueSnapshot({ wallet, takenAtMs, provider: needs.provider.name, chains });
      } catch (error) {
        others.abort(error);
        throw error;
      }
    },
  };
}

function portOf(chains: ReadonlyMap<string, PortfolioChain>, slug: string): PortfolioChain {
  const port = chains.get(slug);
  if (!port) throw new Fault("INPUT_INVALID", `There is no chain ${slug} here.`);
  return port;
}
