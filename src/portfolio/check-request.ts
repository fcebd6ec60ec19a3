// Checks what a request names before its price: blocks and stored snapshots, from what is known, or by reads that are limited.
import { Fault, type FaultCode } from "../lib/fault.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { FreeReads } from "./free-reads.ts";
import type { PortfolioChain } from "./types.ts";

type CheckServices = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly freeReads: FreeReads;
};

/** Rejects like the paid read of these blocks, as far as `checkFreely` can know it. A chain's blocks are checked in turn. */
export async function checkBlocks(
  { chains, freeReads }: CheckServices,
  /** Blocks by slug; those of one chain in ascending order, so that the first often proves the others. */
  blocks: readonly ReadonlyMap<string, number>[],
  client: string,
): Promise<void> {
  const checkChain = async (slug: string, chain: PortfolioChain) => {
    for (const each of blocks) {
      const number = each.get(slug);
      if (number === undefined || chain.canPin(number)) continue;
      await checkFreely({ freeReads, client }, (signal) => chain.pin(signal, number));
    }
  };
  await Promise.all([...chains].map(([slug, chain]) => checkChain(slug, chain)));
}

// As long as a client surely waits for a price; a healthy node needs a tenth of it.
const CHECK_MS_MAX = 3_000;

/** Errors that are the request's fault. */
const REQUEST_FAULTS: ReadonlySet<FaultCode> = new Set(["INPUT_INVALID", "STATE_UNAVAILABLE", "NOT_FOUND"]);

/**
 * Rejects if the check finds the request at fault. Outages, the end of the time and the limits of free reads do not
 * count: the paid read checks again and charges nothing.
 */
export async function checkFreely(
  { freeReads, client }: { readonly freeReads: FreeReads; readonly client: string },
  check: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_MS_MAX);
  try {
    await untilAborted(
      freeReads.run(client, () => check(signal)),
      signal,
    );
  } catch (error) {
    if (error instanceof Fault && REQUEST_FAULTS.has(error.code)) throw error;
  }
}
