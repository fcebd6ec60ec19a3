// Follows settled payments until they are final: by block while they wait, by the logs of the block once it is final.

import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { BlockId, BlockSummary } from "../../schema/chain-log.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { SettlementLookup } from "../settlement/onchain.ts";
import { expectedTransferFor } from "../settlement/settle.ts";
import type { LedgerRow } from "./row.ts";
import type {
  ProvenTransfer,
  ReconcileRunner,
  ReconcileTask,
  UnfinishedBlock,
  UnfinishedPayments,
} from "./unfinished-payments.ts";

type CanonicalCheck = { readonly canonical: ReadonlySet<Hex>; readonly orphaned: ReadonlySet<Hex> };

/**
 * Finds which blocks are still part of the chain. A block below a head stays part of it as long as that head does, so
 * reading that head checks every known block at once, however many wait for finality.
 */
function createCanonicalBlockCheck(
  lookup: SettlementLookup,
): (blocks: readonly BlockId[], signal?: AbortSignal) => Promise<CanonicalCheck> {
  let anchor: BlockSummary | null = null;
  let known: ReadonlySet<Hex> = new Set();
  return async (blocks, signal) => {
    const unread = blocks.filter(({ hash }) => !known.has(hash));
    let compared = await lookup.compareBlocks(anchor === null ? unread : [anchor, ...unread], signal);
    let before = known;
    if (anchor !== null && !compared.canonical.has(anchor.hash)) {
      // A reorg, or a node that is behind: forget what was known.
      compared = await lookup.compareBlocks(blocks, signal);
      before = new Set();
    }
    const canonical = new Set(
      blocks.map(({ hash }) => hash).filter((hash) => before.has(hash) || compared.canonical.has(hash)),
    );
    [anchor, known] = [compared.head, canonical];
    return { canonical, orphaned: compared.orphaned };
  };
}

export type FinalityFollower = (runner: ReconcileRunner, signal?: AbortSignal) => Promise<void>;

type PaymentFinalityOptions = {
  readonly unfinished: UnfinishedPayments;
  readonly lookup: SettlementLookup;
  readonly limits: GateLimits;
  /** For a row whose transfer is not, or not provably, in its block. */
  readonly repair: (isFinal: (block: BlockId) => boolean) => ReconcileTask;
};

export function createFinalityFollower(options: PaymentFinalityOptions): FinalityFollower {
  const { unfinished, lookup, limits, repair } = options;
  const findCanonical = createCanonicalBlockCheck(lookup);

  /** Rows of final blocks, split by whether the logs of their block prove the transfer. */
  async function proveTransfers(blocks: readonly UnfinishedBlock[], signal: AbortSignal | undefined) {
    const rowsOf = groupBy(await unfinished.listInBlocks(blocks), ({ block }) => block?.hash);
    const groups = blocks.map((block) => ({ block, rows: rowsOf.get(block.hash) ?? [] }));
    const queries = groups.map((group) => ({
      block: group.block,
      transfers: group.rows.map(expectedTransferFor),
    }));
    const transactions = await lookup.findTransfersInBlocks(queries, signal);
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
    const blocks = await unfinished.listBlocks();
    if (blocks.length === 0) return;
    const final = await lookup.readFinalizedBlock(signal);
    const { canonical, orphaned } = await findCanonical([...blocks, final], signal);
    const undone = blocks.filter(({ hash }) => orphaned.has(hash));
    const isNeverFinal = () => false;
    for (const group of groupsOf(undone, limits.reconcileBatchRows)) {
      await runner.run(await unfinished.listInBlocks(group), repair(isNeverFinal));
    }
    // A block is final at or below the final block, on the branch of that block.
    const isFinal = ({ number, hash }: BlockId) =>
      canonical.has(final.hash) && canonical.has(hash) && number <= final.number;
    for (const group of groupsOf(blocks.filter(isFinal), limits.reconcileBatchRows)) {
      if (signal?.aborted) return;
      const { proven, unproven } = await proveTransfers(group, signal);
      if (proven.length > 0) runner.count("final", await unfinished.markFinal(proven));
      await runner.run(unproven, repair(isFinal));
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
