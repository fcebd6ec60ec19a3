// Which blocks are still part of the chain: each is read once, and again only after a reorg.
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, SettlementLookup, TimedBlock } from "../settlement/lookup.ts";

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
