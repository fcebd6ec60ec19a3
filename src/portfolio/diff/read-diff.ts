// Reads a wallet at two blocks of each chain and compares the two: both by the same sources, so that only the chain differs.
import { Fault } from "../../lib/fault.ts";
import type { SnapshotReader } from "../snapshot.ts";
import type { PortfolioSnapshot } from "../snapshot-types.ts";
import type { PortfolioChain } from "../types.ts";
import { applyDiff } from "./apply-diff.ts";
import { diffFigures, type FiguresDiff } from "./diff-snapshots.ts";
import { extractFigures } from "./figures.ts";
import type { DiffRequest } from "./query.ts";

/** One of the two snapshots. */
type DiffSide = {
  readonly timestamp: string;
  readonly blocks: readonly { readonly chain: string; readonly number: number }[];
  /** What could not be known on this side. */
  readonly warnings: readonly string[];
};

export type PortfolioDiff = FiguresDiff & {
  readonly address: string;
  readonly from: DiffSide;
  readonly to: DiffSide;
  /** The source of the balances of both. */
  readonly provider: string;
};

type DiffServices = {
  readonly snapshots: SnapshotReader;
  readonly chains: ReadonlyMap<string, PortfolioChain>;
};

/** Rejects as a snapshot of either block does. */
export async function readDiff(
  { snapshots, chains }: DiffServices,
  { wallet, slugs, from, to }: DiffRequest,
  signal: AbortSignal,
): Promise<PortfolioDiff> {
  const end = to ?? (await readNewestBlocks(chains, slugs, signal));
  // The other read is of no use once one has failed.
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const read = (blocks: ReadonlyMap<string, number>) =>
    snapshots.read({ wallet, slugs, blocks }, stop).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  const [before, after] = await Promise.all([read(from), read(end)]);
  const [old, now] = [extractFigures(before), extractFigures(after)];
  const diff = diffFigures(old, now);
  // A difference that does not lead from one to the other must not be sold.
  if (JSON.stringify(applyDiff(old, { ...diff, timestamp: now.timestamp })) !== JSON.stringify(now)) {
    throw new Fault("INTERNAL", "The difference does not lead from one snapshot to the other.");
  }
  return {
    address: wallet,
    from: describeSide(before, from),
    to: describeSide(after, end),
    ...diff,
    provider: after.provider,
  };
}

async function readNewestBlocks(
  chains: ReadonlyMap<string, PortfolioChain>,
  slugs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const numbers = slugs.map(async (slug) => {
    const chain = chains.get(slug);
    if (chain === undefined) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
    try {
      return [slug, (await chain.pin(signal)).block.number] as const;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Fault("PROVIDER_FAILED", `The newest block of ${chain.chain.name} could not be read.`, {
        cause,
      });
    }
  });
  return new Map(await Promise.all(numbers));
}

function describeSide(
  { timestamp, chains, summary }: PortfolioSnapshot,
  blocks: ReadonlyMap<string, number>,
): DiffSide {
  return {
    timestamp,
    blocks: chains.flatMap((chain) => {
      const number = blocks.get(chain);
      return number === undefined ? [] : [{ chain, number }];
    }),
    warnings: summary.warnings,
  };
}
