// The audit put together: a snapshot of the database and a node at the same block, table by table.
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { FOLD_VERSION, tables } from "../protocol/domains.ts";
import { countLogs } from "../store/index/log-lookup.ts";
import type { Database } from "../store/postgres/database.ts";
import { chooseBlock, indexedPosition, readAuditedBlock, refuseUnfit } from "./block.ts";
import { auditReads } from "./reads.ts";
import type { AuditReport } from "./report.ts";
import { auditTable, type TableResult } from "./table.ts";
import { audits } from "./tables/all-tables.ts";
import type { TableAudit } from "./tables/define-audit.ts";

export type AuditOptions = {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly rpc: Rpc;
  /** Null for the newest one that is final. */
  readonly block: number | null;
  /** Null for every row. */
  readonly sample: number | null;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** All of them by default. */
  readonly audits?: readonly TableAudit[];
};

const PROGRESS_MS = 2_000;
// One statement over the largest table of a slow server; an operator who waits longer would rather be told.
const STATEMENT_MS_MAX = 3_600_000;
// Between two pages a node may be out of order for a while without the snapshot being lost.
const IDLE_MS_MAX = 1_800_000;

export async function runAudit(options: AuditOptions): Promise<AuditReport> {
  let activity = "Beginning the audit";
  const telling = setInterval(() => options.log.info(activity), PROGRESS_MS);
  const progress = (next: string) => {
    activity = next;
  };
  try {
    return await auditSnapshot(options, progress);
  } catch (error) {
    if (!options.stop.aborted) throw error;
    throw new Fault("SHUTTING_DOWN", "The audit was interrupted before it was complete.", { cause: error });
  } finally {
    clearInterval(telling);
  }
}

async function auditSnapshot(
  options: AuditOptions,
  progress: (activity: string) => void,
): Promise<AuditReport> {
  const { database, deployment, rpc, sample, stop: signal } = options;
  await refuseUnfit(database, deployment, { tables, foldVersion: FOLD_VERSION });
  return database.transaction(
    async (session) => {
      await session.query(`set local idle_in_transaction_session_timeout to ${IDLE_MS_MAX}`);
      const position = await indexedPosition(session, deployment);
      const number = chooseBlock(options.block, deployment, position);
      const block = await readAuditedBlock(rpc, session, number, signal);
      const reads = auditReads({ rpc, session, deployment, block, signal });
      progress("Counting the stored events");
      const logCounts = await countLogs(session, Object.values(deployment.contracts), number);
      const results: TableResult[] = [];
      for (const audit of options.audits ?? audits) {
        signal.throwIfAborted();
        results.push(
          await auditTable(audit, {
            session,
            reads,
            logCounts,
            position,
            block: number,
            sample,
            signal,
            progress,
          }),
        );
      }
      return { network: deployment.network, block, indexed: position.block.number, results };
    },
    { isolation: "repeatable read", access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}
