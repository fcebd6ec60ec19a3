// The audited block: one that is indexed and that the node has too.
import { readHeader } from "../chain/headers.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { BlockSummary } from "../schema/chain-log.ts";
import { type Checkpoint, readBlocksDescending, readCheckpoint } from "../store/index/checkpoint.ts";
import { claimSchema } from "../store/index/prepare.ts";
import { type RowDeclaration, readRowTablesState } from "../store/index/row-tables.ts";
import type { Session } from "../store/postgres/session.ts";

/** Rejects an empty schema, an index of another deployment, and rows of another version. */
export async function assertAuditable(
  database: Pick<Session, "query">,
  deployment: Deployment,
  declaration: RowDeclaration,
): Promise<void> {
  // Check this before the claim: an audit must not claim an empty schema.
  if (!(await readCheckpoint(database))) throw nothingIndexed();
  await claimSchema(database, deployment);
  if ((await readRowTablesState(database, declaration)) !== "current") {
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      "The rows are of another version of Sextant; run `sextant rebuild` first.",
    );
  }
}

/** The last indexed block. */
export async function readIndexedPosition(session: Session, { startBlock }: Deployment): Promise<Checkpoint> {
  const position = await readCheckpoint(session);
  if (position && position.block.number >= startBlock) return position;
  throw nothingIndexed();
}

function nothingIndexed(): Fault {
  return new Fault(
    "INDEX_EMPTY",
    "The database holds no block of this deployment yet; run `sextant indexer` first.",
  );
}

/** Defaults to the newest block that is final for the index: its state does not change during the audit. */
export function chooseAuditBlock(
  wanted: number | null,
  { startBlock }: Deployment,
  position: Checkpoint,
): number {
  const indexed = position.block.number;
  if (wanted === null) return position.finalized > startBlock ? position.finalized : indexed;
  if (wanted >= startBlock && wanted <= indexed) return wanted;
  throw new Fault(
    "USAGE_INVALID",
    `--block must be from ${startBlock}, where the deployment begins, to ${indexed}, which is the last block indexed; it is ${wanted}.`,
  );
}

/** Reads the block from the node; throws when the node is not on the indexed chain. */
export async function readAuditedBlock(
  rpc: Rpc,
  session: Pick<Session, "query">,
  number: number,
  signal: AbortSignal,
): Promise<BlockSummary> {
  const header = await readHeader(rpc, number, { signal });
  // Final empty blocks are not stored; the newest stored block below stands in for them.
  const [stored] = await readBlocksDescending(session, number, 1);
  const nodeHeader = stored ? await readHeader(rpc, stored.number, { signal }) : header;
  if (stored && stored.hash !== nodeHeader.hash) {
    throw new Fault(
      "BLOCK_MISSING",
      `The node has another block ${stored.number} than the one that was indexed; audit a block that is final, or wait until the indexer has followed the node.`,
    );
  }
  return { number, hash: header.hash, timestamp: header.timestamp };
}
