// The index that others are compared with: it reads the finished chain from an honest node.
import { startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import type { IndexerStage } from "./indexer-stage.ts";

/** The default of the local chain. */
export const FINALITY = 32;

export type CleanIndex = {
  readonly head: { readonly number: number; readonly hash: string };
  readonly finalized: number;
  /** Digest of the tables up to the finalized block. */
  readonly digest: Readonly<Record<string, string>>;
};

export async function digestCleanIndex(
  stage: Pick<IndexerStage, "chain" | "deployment" | "head">,
): Promise<CleanIndex> {
  const head = await stage.head();
  const finalized = head.number - FINALITY;
  const index = await startTestIndex({ urls: [stage.chain.rpcUrl], deployment: stage.deployment });
  try {
    await index.waitUntilIndexed(head);
    return { head, finalized, digest: await index.digest(finalized) };
  } finally {
    await index.close();
  }
}

export type LogPosition = { readonly block: number; readonly logIndex: number };

/** A log in the middle of the final history. */
export async function pickFinalLog({ database }: Pick<TestIndex, "database">): Promise<LogPosition> {
  const { rows } = await database.query<{ block_number: string; log_index: number }>(
    "select block_number, log_index from logs where block_number <= (select finalized_block from checkpoint)",
  );
  const chosen = rows[Math.floor(rows.length / 2)];
  if (!chosen) throw new Error("nothing final was indexed");
  return { block: Number(chosen.block_number), logIndex: chosen.log_index };
}
