// Follows settled payments until they are final: by block while they wait, with full evidence once the block is final.
import type { Hex } from "../../lib/hex.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { wantedOf } from "../settlement/find-transfer.ts";
import type { BlockId, SettlementChain } from "../settlement/lookup.ts";
import { createBlockWatch } from "./block-watch.ts";
import type { LedgerRow } from "./row.ts";
import type { RowRunner, RowTask } from "./row-runner.ts";
import type { OpenBlock, OpenPayments, Proven } from "./unfinished-payments.ts";

export type FinalityOptions = {
  readonly open: OpenPayments;
  readonly chain: SettlementChain;
  readonly limits: GateLimits;
  /** For a row whose transfer is not, or not provably, in its block; told which blocks are final. */
  readonly restore: (isFinal: (block: BlockId) => boolean) => RowTask;
};

export function createFinality({
  open,
  chain,
  limits,
  restore,
}: FinalityOptions): (runner: RowRunner, signal?: AbortSignal) => Promise<void> {
  const check = createBlockWatch(chain);

  /** Rows of final blocks, split by whether the logs of their block prove the transfer. */
  async function prove(blocks: readonly OpenBlock[], signal: AbortSignal | undefined) {
    const rowsOf = new Map<Hex, LedgerRow[]>(blocks.map(({ hash }) => [hash, []]));
    for (const row of await open.inBlocks(blocks)) if (row.block) rowsOf.get(row.block.hash)?.push(row);
    const groups = blocks.map((block) => ({ block, rows: rowsOf.get(block.hash) ?? [] }));
    const queries = groups.map((group) => ({ block: group.block, wanted: group.rows.map(wantedOf) }));
    const transactions = await chain.readTransfers(queries, signal);
    const proven: Proven[] = [];
    const unproven: LedgerRow[] = [];
    for (const [i, group] of groups.entries()) {
      for (const [j, row] of group.rows.entries()) {
        const transaction = transactions[i]?.[j] ?? null;
        if (transaction === null) unproven.push(row);
        else proven.push({ payer: row.payer, nonce: row.nonce, transaction, block: group.block });
      }
    }
    return { proven, unproven };
  }

  return async (runner, signal) => {
    const blocks = await open.blocks();
    if (blocks.length === 0) return;
    const final = await chain.finalized(signal);
    const { held, gone } = await check([...blocks, final], signal);
    const undone = blocks.filter(({ hash }) => gone.has(hash));
    for (const group of groupsOf(undone, limits.sweepRows)) {
      await runner.run(
        await open.inBlocks(group),
        restore(() => false),
      );
    }
    // Final is what lies at or below the final block, on the branch of that block.
    const isFinal = ({ number, hash }: BlockId) =>
      held.has(final.hash) && held.has(hash) && number <= final.number;
    for (const group of groupsOf(blocks.filter(isFinal), limits.sweepRows)) {
      if (signal?.aborted) return;
      const { proven, unproven } = await prove(group, signal);
      if (proven.length > 0) runner.count("final", await open.finish(proven));
      await runner.run(unproven, restore(isFinal));
    }
  };
}

/** Blocks that are read together: as many as hold about so many rows. */
function groupsOf(blocks: readonly OpenBlock[], rowsMax: number): readonly (readonly OpenBlock[])[] {
  const groups: OpenBlock[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    if (rows >= rowsMax) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(block);
    rows += block.rows;
  }
  return groups;
}
