// Runs an audit: compares a snapshot of the database with a node at the same block, table by table.
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { rowDeclaration } from "../protocol/domains.ts";
import { countLogsByEvent } from "../store/index/raw-logs.ts";
import type { Database } from "../store/postgres/database.ts";
import { assertAuditable, chooseAuditBlock, readAuditedBlock, readIndexedPosition } from "./block.ts";
import { createAuditReads } from "./reads.ts";
import type { AuditReport } from "./report.ts";
import { auditTable, type TableAuditResult } from "./table.ts";
import { tableAudits } from "./tables/all-tables.ts";
import type { TableAudit } from "./tables/define-audit.ts";

export type RunAuditOptions = {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly rpc: Rpc;
  /** Null for the newest final block. */
  readonly block: number | null;
  /** Null for every row. */
  readonly sample: number | null;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** All audits by default. */
  readonly audits?: readonly TableAudit[];
};

const PROGRESS_MS = 2_000;
// Enough for one statement over the largest table of a slow server.
const STATEMENT_MS_MAX = 3_600_000;
// Keeps the snapshot while a node is down between two pages.
const IDLE_MS_MAX = 1_800_000;

export async function runAudit(options: RunAuditOptions): Promise<AuditReport> {
  const { log } = options;
  let activity = "starting";
  const timer = setInterval(
    () => log.info({ component: "audit", event: "audit_progress", activity }, "Auditing"),
    PROGRESS_MS,
  );
  const progress = (next: string) => {
    activity = next;
  };
  try {
    return await auditSnapshot(options, progress);
  } catch (error) {
    if (!options.stop.aborted) throw error;
    throw new Fault("SHUTTING_DOWN", "The audit was interrupted before it was complete.", { cause: error });
  } finally {
    clearInterval(timer);
  }
}

async function auditSnapshot(
  options: RunAuditOptions,
  progress: (activity: string) => void,
): Promise<AuditReport> {
  const { database, deployment, rpc, sample, stop: signal } = options;
  await assertAuditable(database, deployment, rowDeclaration);
  return database.transaction(
    async (session) => {
      await session.query(`set local idle_in_transaction_session_timeout to ${IDLE_MS_MAX}`);
      const position = await readIndexedPosition(session, deployment);
      const number = chooseAuditBlock(options.block, deployment, position);
      const block = await readAuditedBlock(rpc, session, number, signal);
      const reads = createAuditReads({ rpc, session, deployment, block, signal });
      progress("counting stored events");
      const logCounts = await countLogsByEvent(session, Object.values(deployment.contracts), number);
      const shared = { session, reads, logCounts, position, block: number, sample, signal };
      const results: TableAuditResult[] = [];
      for (const audit of options.audits ?? tableAudits) {
        signal.throwIfAborted();
        results.push(await auditTable(audit, { ...shared, onProgress: progress }));
      }
      return { network: deployment.network, block, indexed: position.block.number, results };
    },
    { isolation: "repeatable read", access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}
