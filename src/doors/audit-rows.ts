// The other part of the indexer's own audit: a few rows, drawn at random, against what the contracts say of them.
import type { Rpc } from "../chain/rpc/call.ts";
import { RpcError } from "../chain/rpc/failure.ts";
import type { AuditCheck } from "../indexing/self-audit.ts";
import { Fault } from "../kit/fault.ts";
import { audits } from "../protocol/audits/audits.ts";
import { compareRows, type Difference } from "../protocol/audits/compare-rows.ts";
import type { TableAudit } from "../protocol/audits/table-audit.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { Row } from "../schema/table.ts";
import { randomRowsAsOf } from "../store/as-of.ts";
import { readCheckpoint } from "../store/chain-position.ts";
import type { Database } from "../store/database.ts";
import { readAuditedBlock } from "./audit-block.ts";
import { auditReads } from "./audit-reads.ts";

export type RowAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly deployment: Deployment;
  readonly random: () => number;
};

// A call or two each, in one batch: less than a single log query costs at most vendors.
const ROWS_MAX = 10;
// Enough to see that something is wrong; `sextant audit` shows all of it.
const DIFFERENCES_MAX = 5;

/** A row found to differ is reported until the process ends: after a repair the indexer is started again anyway. */
export function createRowAudit({ rpc, database, deployment, random }: RowAuditOptions): AuditCheck {
  const candidates = audits.filter(({ views }) => views.some(({ account }) => account === null));
  const differing = new Map<string, string>();
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];

  return async (signal) => {
    const audit = pick(candidates);
    const checkpoint = await readCheckpoint(database);
    if (!audit || !checkpoint || checkpoint.finalized < deployment.startBlock) return null;
    const block = checkpoint.finalized;
    const rows = await randomRowsAsOf(database, audit.table, { block, limit: ROWS_MAX });
    const providers = rpc.providers().map((_, index) => index);
    const first = pick(providers) ?? 0;
    const compare = (provider: number) => compareOn(provider, audit, rows, block, signal);
    let differences = await compare(first);
    if (differences === null) return null;
    // One node may be wrong: the index differs where every node that responds says so.
    for (const provider of providers.filter((each) => each !== first)) {
      if (differences.length === 0) break;
      const others = await compare(provider);
      if (others) differences = differences.filter((each) => others.some((other) => isSame(each, other)));
    }
    for (const { key, column } of differences.slice(0, DIFFERENCES_MAX)) {
      const text = `${column} of ${key} in ${audit.table.name} is not what the contract says`;
      if (differing.size < DIFFERENCES_MAX) differing.set(`${audit.table.name} ${key} ${column}`, text);
    }
    return {
      checked: rows.length,
      differences: [...differing.values()].map((text) => ({ block: null, text })),
    };
  };

  /** Null where the node has no state of that block, or does not respond. */
  async function compareOn(
    only: number,
    audit: TableAudit,
    rows: readonly Row[],
    number: number,
    signal: AbortSignal,
  ): Promise<readonly Difference[] | null> {
    try {
      return await rpc.pinned(
        async (node) => {
          const block = await readAuditedBlock(node, database, number, signal);
          const reads = auditReads({ rpc: node, session: database, deployment, block, signal });
          return (await compareRows(audit, rows, reads)).differences;
        },
        { only, attemptsMax: 1, signal },
      );
    } catch (error) {
      if (error instanceof RpcError) return null;
      if (error instanceof Fault && error.code === "BLOCK_MISSING") return null;
      throw error;
    }
  }
}

function isSame(a: Difference, b: Difference): boolean {
  return a.key === b.key && a.column === b.column && a.expected === b.expected;
}
