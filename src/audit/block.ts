// The block of an audit: one that is indexed, and that the node has too.
import { readHeader } from "../chain/headers.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { type Checkpoint, readBlocksDescending, readCheckpoint } from "../store/index/checkpoint.ts";
import { claimSchema } from "../store/index/prepare.ts";
import { type RowDeclaration, readRowTablesState } from "../store/index/row-tables.ts";
import type { Session } from "../store/postgres/session.ts";

export type AuditedBlock = {
  readonly number: number;
  readonly hash: `0x${string}`;
  /** Unix seconds. */
  readonly timestamp: number;
};

/** Refuses a schema that holds nothing, or an index of another deployment, or rows of another version. */
export async function assertAuditable(
  database: Pick<Session, "query">,
  deployment: Deployment,
  declaration: RowDeclaration,
): Promise<void> {
  // Before the claim: an audit must not make an empty schema its own.
  if (!(await readCheckpoint(database))) throw nothingIndexed();
  await claimSchema(database, deployment);
  if ((await readRowTablesState(database, declaration)) !== "current") {
    throw new Fault(
      "DATABASE_INCOMPATIBLE",
      "The rows were made by another version of Sextant; run `sextant rebuild` first.",
    );
  }
}

/** How far the index has come. */
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

/** By default the newest block that is final for the index: its state does not change while it is read. */
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

/** The node's block of that number, when the node is on the chain that was indexed. */
export async function readAuditedBlock(
  rpc: Rpc,
  session: Pick<Session, "query">,
  number: number,
  signal: AbortSignal,
): Promise<AuditedBlock> {
  const header = await readHeader(rpc, number, { signal });
  // Blocks that are final and empty are not kept: the newest one below that is kept speaks for them.
  const [stored] = await readBlocksDescending(session, number, 1);
  const theirs = stored ? await readHeader(rpc, stored.number, { signal }) : header;
  if (stored && stored.hash !== theirs.hash) {
    throw new Fault(
      "BLOCK_MISSING",
      `The node has another block ${stored.number} than the one that was indexed; audit a block that is final, or wait until the indexer has followed the node.`,
    );
  }
  return { number, hash: header.hash, timestamp: header.timestamp };
}
