// Reads a wallet at two times and compares the two: both by the same sources, so that only the chain differs.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { DiffSide, PortfolioDiff } from "../../schema/portfolio/diff.ts";
import type { SnapshotBlock } from "../../schema/portfolio/snapshot.ts";
import { withBlockHash } from "../block-hashes.ts";
import { checkBlocks, checkFreely, type FreeReads } from "../free-reads.ts";
import { readPinnedChains } from "../read-pinned-chains.ts";
import type { SnapshotQuery, SnapshotReader } from "../snapshot.ts";
import { NEWEST_BLOCKS_MS_MAX } from "../time-budgets.ts";
import type { PinnedChain, PortfolioChain } from "../types.ts";
import { applyDiff } from "./apply-diff.ts";
import { diffFigures, type FiguresDiff } from "./diff-snapshots.ts";
import { extractFigures, leaveOutChains, type SnapshotFigures, type StoredSnapshots } from "./figures.ts";
import { type DiffRequest, requireForward } from "./query.ts";

type DiffServices = {
  readonly snapshots: SnapshotReader;
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly clock: Clock;
  /** Null if the service stores none. */
  readonly storedSnapshots: StoredSnapshots | null;
};

/** A side with its figures. */
type ReadSide = {
  readonly side: DiffSide;
  readonly figures: SnapshotFigures;
  readonly provider: string | null;
  /** Slugs of chains that could not be read. */
  readonly failed: readonly string[];
};

/** The start of a difference. */
type DiffStart = {
  readonly slugs: readonly string[];
  /** Blocks by slug; without a chain whose block is not known. */
  readonly blocks: ReadonlyMap<string, number>;
  /** Read without vendors, as the end then is. */
  readonly asOf: boolean;
  /** Null for one that is still to be read. */
  readonly stored: ReadSide | null;
};

/** Rejects as a snapshot of either block does, and with NOT_FOUND for an unknown id. */
export async function readDiff(
  services: DiffServices,
  request: DiffRequest,
  signal: AbortSignal,
  newestBlocksMsMax: number = NEWEST_BLOCKS_MS_MAX,
): Promise<PortfolioDiff> {
  const { wallet, to, partial = false } = request;
  const start = await findStart(services, request);
  if (to !== null) requireForward(start.blocks, to);
  const newest = { partial, signal, msMax: newestBlocksMsMax };
  const end = to ?? (start.asOf ? await readNewestBlocks(services.chains, start, newest) : null);
  // Without those whose newest block could not be read.
  const slugs = end === null ? start.slugs : start.slugs.filter((slug) => end.has(slug));
  // The other read is of no use once one has failed.
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const stopOthers = (error: unknown) => {
    failed.abort(error);
    throw error;
  };
  const readAsOf = (blocks: ReadonlyMap<string, number>) =>
    readSide(services, { wallet, slugs, blocks, partial }, stop).catch(stopOthers);
  const [before, after] = await Promise.all([
    start.stored ?? readAsOf(start.blocks),
    end === null ? readPresent(services, { wallet, partial }, start, signal) : readAsOf(end),
  ]);
  return joinSides(request, start.slugs, before, after);
}

/** A chain that one end lacks is left out of both. */
function joinSides(
  { wallet, warning }: DiffRequest,
  slugs: readonly string[],
  before: ReadSide,
  after: ReadSide,
): PortfolioDiff {
  const isRead = (slug: string) =>
    [before, after].every(({ figures, failed }) => {
      return !failed.includes(slug) && figures.chains.some(({ chain }) => chain === slug);
    });
  const failed = slugs.filter((slug) => !isRead(slug));
  if (failed.length === slugs.length) {
    throw new Fault("PROVIDER_FAILED", "No chain could be read at both ends.");
  }
  const known = { slugs, failed: new Set(failed) };
  const [first, last] = [leaveOutChains(before.figures, known), leaveOutChains(after.figures, known)];
  const diff = diffFigures(first, last);
  requireLeadsTo(first, diff, last);
  const lacks = failed.map((slug) => `${slug} could not be read at both ends and is left out.`);
  const to = { ...after.side, warnings: [warning ?? [], lacks, after.side.warnings].flat() };
  return {
    address: wallet,
    from: before.side,
    to,
    ...diff,
    provider: after.provider ?? "rpc",
    ...(failed.length > 0 && { failedChains: failed }),
  };
}

/** Rejects like `readDiff`, as far as that can be known before a price is named. */
export async function checkDiff(
  services: DiffServices & { readonly freeReads: FreeReads },
  request: DiffRequest,
  client: string,
): Promise<void> {
  const { from, to } = request;
  if (typeof from === "string") {
    await checkFreely({ ...services, client }, async () => {
      const { blocks } = await findStart(services, request);
      if (to !== null) requireForward(blocks, to);
    });
  }
  const sides = [typeof from === "string" ? null : from, to].filter((blocks) => blocks !== null);
  await checkBlocks(services, sides, client);
}

/** Loads a stored snapshot for its chains once; 1 if it is not stored, so that it is compared with nothing. */
export async function countDiffChains(
  { storedSnapshots, freeReads }: Pick<DiffServices, "storedSnapshots"> & { readonly freeReads: FreeReads },
  { wallet, slugs, from }: DiffRequest,
  client: string,
): Promise<number> {
  if (slugs !== null) return slugs.length;
  if (typeof from !== "string") return from.size;
  if (storedSnapshots === null) return 1;
  const known = storedSnapshots.knownChainCount(wallet, from);
  if (known !== undefined) return known;
  try {
    // Nothing is paid yet, and a large snapshot takes some of a second to decode.
    const { figures } = await freeReads.run(client, () => storedSnapshots.load(wallet, from));
    return figures.chains.length;
  } catch (error) {
    if (error instanceof Fault && error.code === "NOT_FOUND") return 1;
    throw error;
  }
}

async function findStart(services: DiffServices, request: DiffRequest): Promise<DiffStart> {
  const { wallet, from, to } = request;
  if (typeof from !== "string") {
    return { slugs: request.slugs ?? [], blocks: from, asOf: true, stored: null };
  }
  if (services.storedSnapshots === null) throw new Fault("NOT_FOUND", "This service stores no snapshots.");
  const { figures, blocks, asOf } = await services.storedSnapshots.load(wallet, from);
  const slugs = figures.chains.map(({ chain }) => chain);
  requireStoredChains(slugs, request.slugs ?? slugs);
  // Vendors know no past block: what they knew can be compared with the present only.
  const warnings = [NOT_REPEATED, ...(asOf || to === null ? [] : [OTHER_SOURCES])];
  const side = { timestamp: figures.timestamp, snapshotId: from, blocks: toDiffBlocks(blocks), warnings };
  return {
    slugs,
    blocks: new Map(blocks.map(({ chain, number }) => [chain, number])),
    asOf,
    stored: { side, figures, provider: null, failed: [] },
  };
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

const NOT_REPEATED = "The warnings of the stored snapshot are not repeated here.";
const OTHER_SOURCES =
  "The stored snapshot may have balances and prices of vendors, which know no past block: what only they know seems to be gone.";

async function readSide(
  { snapshots }: DiffServices,
  query: SnapshotQuery,
  signal: AbortSignal,
): Promise<ReadSide> {
  const snapshot = await snapshots.read({ ...query, figuresOnly: true }, signal);
  const { timestamp, blocks, summary, provider } = snapshot;
  return {
    side: { timestamp, snapshotId: null, blocks: toDiffBlocks(blocks), warnings: summary.warnings },
    figures: extractFigures(snapshot),
    provider,
    failed: snapshot.failedChains ?? [],
  };
}

// Together longer than equal requests share a snapshot.
const BEHIND_PAUSE_MS = 2_000;
const BEHIND_ATTEMPTS_MAX = 4;

/**
 * Reads the start's blocks or later ones: a node that lags, or a snapshot shared with another request, may be behind
 * it.
 */
async function readPresent(
  services: DiffServices,
  query: Pick<SnapshotQuery, "wallet" | "partial">,
  start: DiffStart,
  signal: AbortSignal,
): Promise<ReadSide> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await readSide(services, { ...query, slugs: start.slugs }, signal);
    const behind = read.side.blocks.find(({ chain, number }) => number < (start.blocks.get(chain) ?? 0));
    if (behind === undefined) return read;
    if (attempt === BEHIND_ATTEMPTS_MAX) {
      const { chain, number } = behind;
      throw new Fault(
        "PROVIDER_FAILED",
        `The nodes of ${chain} are at block ${number}, before block ${start.blocks.get(chain)} of the stored snapshot.`,
      );
    }
    await services.clock.sleep(BEHIND_PAUSE_MS, signal);
  }
}

/**
 * No earlier than the start: the node that is asked may be behind the one that has it. Leaves out chains that cannot be
 * read, if that is allowed.
 */
async function readNewestBlocks(
  chains: ReadonlyMap<string, PortfolioChain>,
  { slugs, blocks }: DiffStart,
  options: { readonly partial: boolean; readonly signal: AbortSignal; readonly msMax: number },
): Promise<ReadonlyMap<string, number>> {
  const { partial, signal, msMax } = options;
  const failure = (name: string) => `The newest block of ${name} could not be read.`;
  const read = async ({ chain, block }: PinnedChain) =>
    [chain.slug, Math.max(block.number, blocks.get(chain.slug) ?? 0)] as const;
  // A stored snapshot may have chains that are no longer served.
  const served = slugs.filter((slug) => chains.has(slug));
  const newest = await readPinnedChains(
    { chains, readMsMax: msMax },
    { slugs: partial && served.length > 0 ? served : slugs, failure, partial, read },
    signal,
  );
  return new Map(newest.read);
}

function toDiffBlocks(blocks: readonly SnapshotBlock[]): DiffSide["blocks"] {
  return blocks.map(({ chain, number, hash }) => withBlockHash({ chain, number }, hash));
}
