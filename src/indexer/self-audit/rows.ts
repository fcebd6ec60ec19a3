// Self-audit of rows: compares a few random rows with the contracts.
import { readAuditedBlock } from "../../audit/block.ts";
import { createAuditReads } from "../../audit/reads.ts";
import { tableAudits } from "../../audit/tables/all-tables.ts";
import { compareRows, type RowDifference } from "../../audit/tables/compare-rows.ts";
import type { TableAudit } from "../../audit/tables/define-audit.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import { Fault } from "../../lib/fault.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import type { Row } from "../../schema/table.ts";
import { readRandomRowsAsOf } from "../../store/index/as-of.ts";
import { type Checkpoint, readBlocksDescending, readCheckpoint } from "../../store/index/checkpoint.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { AuditCheck } from "./schedule.ts";

type RowAuditOptions = {
  readonly rpc: Rpc;
  readonly database: Database;
  readonly deployment: Deployment;
  readonly random: () => number;
};

// One or two calls each, in one batch: cheaper than a single log query at most vendors.
const ROWS_MAX = 10;
// Enough to see that something is wrong; `sextant audit` shows all of it.
const DIFFERENCES_MAX = 5;

// Pruning nodes keep the state of 128 blocks or more; the margin is for the time that a sample takes.
const STATE_DEPTH = 100;

type Sample = { readonly checked: number; readonly differences: readonly RowDifference[] };

/**
 * The newest final block, and a later one if nodes may have pruned its state (on an L2 it is hundreds of blocks old).
 */
export function sampledBlocks({ block, finalized }: Checkpoint): readonly number[] {
  const recent = block.number - STATE_DEPTH;
  return recent > finalized ? [finalized, recent] : [finalized];
}

/** Reports a differing row until the process ends: a repair restarts the indexer anyway. */
export function createRowAudit(options: RowAuditOptions): AuditCheck {
  const { database, deployment, random } = options;
  const candidates = tableAudits.filter(({ views }) =>
    views.some(({ addressColumn }) => addressColumn === null),
  );
  const differing = new Map<string, string>();

  return async (signal) => {
    const audit = pickRandom(candidates, random);
    const checkpoint = await readCheckpoint(database);
    if (!audit || !checkpoint || checkpoint.finalized < deployment.startBlock) return null;
    for (const block of sampledBlocks(checkpoint)) {
      const sample = await compareAt(options, audit, block, signal);
      if (sample === null) continue;
      for (const { key, column } of sample.differences.slice(0, DIFFERENCES_MAX)) {
        const text = `${column} of ${key} in ${audit.table.name} is not what the contract says`;
        if (differing.size < DIFFERENCES_MAX) differing.set(`${audit.table.name} ${key} ${column}`, text);
      }
      return {
        checked: sample.checked,
        differences: [...differing.values()].map((text) => ({ block: null, text })),
      };
    }
    return "not compared";
  };
}

function pickRandom<T>(list: readonly T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)];
}

/** Null if no responding node has the state. */
async function compareAt(
  options: RowAuditOptions,
  audit: TableAudit,
  block: number,
  signal: AbortSignal,
): Promise<Sample | null> {
  const { rpc, database, random } = options;
  const [before] = await readBlocksDescending(database, block, 1);
  const rows = await readRandomRowsAsOf(database, audit.table, { block, limit: ROWS_MAX });
  const providers = rpc.providers().map((_, index) => index);
  const first = pickRandom(providers, random) ?? 0;
  let differences: readonly RowDifference[] | null = null;
  // One node may be wrong: the index differs only if every responding node says so.
  for (const provider of [first, ...providers.filter((each) => each !== first)]) {
    const others = await compareOn(options, provider, audit, rows, block, signal);
    if (others === null) continue;
    differences = (differences ?? others).filter((each) => others.some((other) => isSame(each, other)));
    if (differences.length === 0) break;
  }
  if (differences === null) return null;
  if (differences.length > 0) {
    // A block that is not final may have been replaced since the rows were read.
    const [after] = await readBlocksDescending(database, block, 1);
    if (after?.hash !== before?.hash) return null;
  }
  return { checked: rows.length, differences };
}

/** Null if the node has no state of that block, or does not respond. */
async function compareOn(
  { rpc, database, deployment }: RowAuditOptions,
  only: number,
  audit: TableAudit,
  rows: readonly Row[],
  number: number,
  signal: AbortSignal,
): Promise<readonly RowDifference[] | null> {
  try {
    return await rpc.pinned(
      async (node) => {
        const block = await readAuditedBlock(node, database, number, signal);
        const reads = createAuditReads({ rpc: node, session: database, deployment, block, signal });
        const { differences, allUnknown } = await compareRows(audit, rows, reads);
        return allUnknown ? null : differences;
      },
      { only, attemptsMax: 1, signal },
    );
  } catch (error) {
    if (error instanceof RpcError) return null;
    if (error instanceof Fault && error.code === "BLOCK_MISSING") return null;
    throw error;
  }
}

function isSame(a: RowDifference, b: RowDifference): boolean {
  return a.key === b.key && a.column === b.column && a.expected === b.expected;
}
