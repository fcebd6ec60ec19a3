// Reads a wallet at two times and compares the two: both by the same sources, so that only the chain differs.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { SnapshotQuery, SnapshotReader } from "../snapshot.ts";
import type { PortfolioSnapshot } from "../snapshot-types.ts";
import type { PortfolioChain } from "../types.ts";
import { applyDiff } from "./apply-diff.ts";
import { diffFigures, type FiguresDiff } from "./diff-snapshots.ts";
import { extractFigures, type SnapshotFigures } from "./figures.ts";
import type { DiffRequest } from "./query.ts";
import type { StoredSnapshots } from "./stored-snapshots.ts";

/** One of the two snapshots. */
type DiffSide = {
  readonly timestamp: string;
  /** The stored snapshot that it is; null where it was read as of blocks. */
  readonly snapshotId: string | null;
  /** Empty for a stored snapshot, and for one of now that is compared with it. */
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
  /** Null where the service stores none. */
  readonly storedSnapshots: StoredSnapshots | null;
};

/** A side with its figures. */
type ReadSide = {
  readonly side: DiffSide;
  readonly figures: SnapshotFigures;
  readonly provider: string | null;
};

/** Rejects as a snapshot of either block does, and with NOT_FOUND for an unknown id. */
export async function readDiff(
  services: DiffServices,
  { wallet, from, to, ...request }: DiffRequest,
  signal: AbortSignal,
): Promise<PortfolioDiff> {
  const stored = typeof from === "string" ? await loadSide(services, wallet, from, to) : null;
  const slugs = stored?.figures.chains.map(({ chain }) => chain) ?? request.slugs ?? [];
  if (stored !== null) requireStoredChains(slugs, request.slugs ?? slugs);
  // A stored snapshot has what vendors knew. They know no past block, so that its other side is read like itself.
  const end = to ?? (stored === null ? await readNewestBlocks(services.chains, slugs, signal) : null);
  // The other read is of no use once one has failed.
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const read = (blocks: ReadonlyMap<string, number> | null) =>
    readSide(services, { wallet, slugs, ...(blocks && { blocks }) }, stop).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  const start = typeof from === "string" ? stored : read(from);
  const [before, after] = await Promise.all([start, read(end)]);
  if (before === null) throw new Fault("INTERNAL", "The difference has no start.");
  const diff = diffFigures(before.figures, after.figures);
  requireLeadsTo(before.figures, diff, after.figures);
  return { address: wallet, from: before.side, to: after.side, ...diff, provider: after.provider ?? "rpc" };
}

/** A difference that does not lead from one to the other must not be sold. */
function requireLeadsTo(before: SnapshotFigures, diff: FiguresDiff, after: SnapshotFigures): void {
  const reached = applyDiff(before, { ...diff, timestamp: after.timestamp });
  if (JSON.stringify(reached) === JSON.stringify(after)) return;
  throw new Fault("INTERNAL", "The difference does not lead from one snapshot to the other.");
}

function requireStoredChains(stored: readonly string[], requested: readonly string[]): void {
  if (stored.length === requested.length && stored.every((slug) => requested.includes(slug))) return;
  throw new Fault(
    "INPUT_INVALID",
    `The stored snapshot is of ${stored.join(", ")}, and so must the request be.`,
  );
}

async function loadSide(
  { storedSnapshots }: DiffServices,
  wallet: Hex,
  snapshotId: string,
  to: DiffRequest["to"],
): Promise<ReadSide> {
  if (storedSnapshots === null) throw new Fault("NOT_FOUND", "This service stores no snapshots.");
  const figures = await storedSnapshots.load(wallet, snapshotId);
  const { timestamp } = figures;
  const warnings = [NOT_REPEATED, ...(to === null ? [] : [OTHER_SOURCES])];
  return { side: { timestamp, snapshotId, blocks: [], warnings }, figures, provider: null };
}

const NOT_REPEATED = "The warnings of the stored snapshot are not repeated here.";
const OTHER_SOURCES =
  "The stored snapshot may have balances and prices of vendors, which know no past block: what only they know seems to be gone.";

async function readSide(
  { snapshots }: DiffServices,
  query: SnapshotQuery,
  signal: AbortSignal,
): Promise<ReadSide> {
  const snapshot = await snapshots.read(query, signal);
  return {
    side: describeSide(snapshot, query.blocks),
    figures: extractFigures(snapshot),
    provider: snapshot.provider,
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
  blocks: SnapshotQuery["blocks"],
): DiffSide {
  return {
    timestamp,
    snapshotId: null,
    blocks: chains.flatMap((chain) => {
      const number = blocks?.get(chain);
      return number === undefined ? [] : [{ chain, number }];
    }),
    warnings: summary.warnings,
  };
}
