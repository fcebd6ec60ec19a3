// A copy of an indexed chain, with everything needed to audit it.
import { expect, inject } from "vitest";
import { type RunAuditOptions, runAudit } from "../../../src/audit/run.ts";
import { tableAudits } from "../../../src/audit/tables/all-tables.ts";
import type { Rpc } from "../../../src/chain/rpc/types.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { connectionTo, createTestDatabase, formatConnectionUrl } from "../database/test-database.ts";
import { createTestRpc } from "../nodes/test-rpc.ts";
import { silentLog } from "../quiet-log.ts";
import { openTestConnection } from "./empty-index.ts";
import type { SimulatedHistory } from "./simulated-history.ts";

export type AuditedIndex = {
  /** The node of a chain that others read too. */
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly database: Database;
  readonly rpc: Rpc;
  readonly head: number;
  /** Audits everything at the head by default. */
  audit(options?: Partial<RunAuditOptions>): ReturnType<typeof runAudit>;
  /** The differences of one table, as "key column". */
  auditTable(table: string, options?: Partial<RunAuditOptions>): Promise<string[]>;
  close(): Promise<void>;
};

export async function openAuditedIndex(history: SimulatedHistory): Promise<AuditedIndex> {
  const { rpcUrl, deployment, head, template } = history;
  const place = await createTestDatabase({ template });
  const database = await openTestConnection(place.connection);
  const { rpc } = createTestRpc([rpcUrl], { limits: { requestTimeoutMs: 20_000 } });

  const audit = (options: Partial<RunAuditOptions> = {}) => {
    const stop = new AbortController().signal;
    return runAudit({
      database,
      deployment,
      rpc,
      block: head,
      sample: null,
      log: silentLog,
      stop,
      ...options,
    });
  };
  return {
    rpcUrl,
    deployment,
    database,
    rpc,
    head,
    audit,
    async auditTable(name, options = {}) {
      const { results } = await audit({
        audits: tableAudits.filter(({ table }) => table.name === name),
        ...options,
      });
      const [result] = results;
      if (!result) throw new Error(`there is no table ${name}`);
      expect(result.differences).toBe(result.firstDifferences.length);
      return result.firstDifferences.map(({ key, column }) => `${key} ${column}`);
    },
    async close() {
      rpc.close();
      await database.close();
      await place.drop();
    },
  };
}

/** A test database as DATABASE_URL names it. */
export function databaseUrlOf({ target }: Database): string {
  return formatConnectionUrl(connectionTo(inject("postgres"), target.database));
}
