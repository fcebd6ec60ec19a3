// Follows settled payments until they are final: by block while they wait, with full evidence once the block is final.
import type { Hex } from "../../lib/hex.ts";
import type { GateLimits } from "../paywall/limits.ts";
import { expectedTransferFor } from "../settlement/find-transfer.ts";
import type { BlockId, SettlementLookup, TimedBlock } from "../settlement/lookup.ts";
import type { LedgerRow } from "./row.ts";
import type { ReconcileRunner, ReconcileTask } from "./row-runner.ts";
import type { ProvenTransfer, UnfinishedBlock, UnfinishedPayments } from "./unfinished-payments.ts";

// Which blocks are still part of the chain: each is read once, and again only after a reorg.

export type CanonicalCheck = { readonly canonical: ReadonlySet<Hex>; readonly orphaned: ReadonlySet<Hex> };

/**
 * A block that was found below a head is part of the chain for as long as that head is. So one read, of that head,
 * checks every block that is known already, however many wait for finality.
 */
export function createCanonicalBlockCheck(
  chain: SettlementLookup,
): (blocks: readonly BlockId[], signal?: AbortSignal) => Promise<CanonicalCheck> {
  let anchor: TimedBlock | null = null;
  let known: ReadonlySet<Hex> = new Set();
  return async (blocks, signal) => {
    const unread = blocks.filter(({ hash }) => !known.has(hash));
    let compared = await chain.compareBlocks(anchor === null ? unread : [anchor, ...unread], signal);
    let before = known;
    if (anchor !== null && !compared.canonical.has(anchor.hash)) {
      // A reorg, or a node that is behind: nothing that was known can be relied on.
      compared = await chain.compareBlocks(blocks, signal);
      before = new Set();
    }
    const held = new Set(
      blocks.map(({ hash }) => hash).filter((hash) => before.has(hash) || compared.canonical.has(hash)),
    );
    [anchor, known] = [compared.head, held];
    return { canonical: held, orphaned: compared.orphaned };
  };
}

export type PaymentFinalityOptions = {
  readonly unfinished: UnfinishedPayments;
  readonly chain: SettlementLookup;
  readonly limits: GateLimits;
  /** For a row whose transfer is not, or not provably, in its block; told which blocks are final. */
  readonly repair: (isFinal: (block: BlockId) => boolean) => ReconcileTask;
};

export function createFinalityFollower({
  unfinished: open,
  chain,
  limits,
  repair: restore,
}: PaymentFinalityOptions): (runner: ReconcileRunner, signal?: AbortSignal) => Promise<void> {
  const check = createCanonicalBlockCheck(chain);

  /** Rows of final blocks, split by whether the logs of their block prove the transfer. */
  async function prove(blocks: readonly UnfinishedBlock[], signal: AbortSignal | undefined) {
    const rowsOf = new Map<Hex, LedgerRow[]>(blocks.map(({ hash }) => [hash, []]));
    for (const row of await open.listInBlocks(blocks)) if (row.block) rowsOf.get(row.block.hash)?.push(row);
    const groups = blocks.map((block) => ({ block, rows: rowsOf.get(block.hash) ?? [] }));
    const queries = groups.map((group) => ({
      block: group.block,
      transfers: group.rows.map(expectedTransferFor),
    }));
    const transactions = await chain.findTransfersInBlocks(queries, signal);
    const proven: ProvenTransfer[] = [];
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
    const blocks = await open.listBlocks();
    if (blocks.length === 0) return;
    const final = await chain.readFinalizedBlock(signal);
    const { canonical: held, orphaned: gone } = await check([...blocks, final], signal);
    const undone = blocks.filter(({ hash }) => gone.has(hash));
    for (const group of groupsOf(undone, limits.reconcileBatchRows)) {
      await runner.run(
        await open.listInBlocks(group),
        restore(() => false),
      );
    }
    // Final is what lies at or below the final block, on the branch of that block.
    const isFinal = ({ number, hash }: BlockId) =>
      held.has(final.hash) && held.has(hash) && number <= final.number;
    for (const group of groupsOf(blocks.filter(isFinal), limits.reconcileBatchRows)) {
      if (signal?.aborted) return;
      const { proven, unproven } = await prove(group, signal);
      if (proven.length > 0) runner.count("final", await open.markFinal(proven));
      await runner.run(unproven, restore(isFinal));
    }
  };
}

/** Blocks that are read together: as many as hold about so many rows. */
function groupsOf(
  blocks: readonly UnfinishedBlock[],
  rowsMax: number,
): readonly (readonly UnfinishedBlock[])[] {
  const groups: UnfinishedBlock[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    if (rows >= rowsMax) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(block);
    rows += block.paymentCount;
  }
  return groups;
}
