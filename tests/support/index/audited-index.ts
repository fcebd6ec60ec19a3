// A simulated chain, indexed, with everything needed to audit it.

import { type DeployedChain, startDeployedChain } from "@sextant/simulator/deployed-chain";
import { runSimulator } from "@sextant/simulator/simulator";
import { expect, inject } from "vitest";
import { type RunAuditOptions, runAudit } from "../../../src/audit/run.ts";
import { tableAudits } from "../../../src/audit/tables/all-tables.ts";
import type { Rpc } from "../../../src/chain/rpc/types.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { FAKE_ACCOUNT_BEHAVIOURS, fakeAccountCode } from "../chain/fake-policy-account.ts";
import { connectionTo, formatConnectionUrl } from "../database/test-database.ts";
import { createTestRpc } from "../nodes/test-rpc.ts";
import { silentLog } from "../quiet-log.ts";
import { startTestIndex, toDeployment } from "./test-index.ts";

export type AuditedIndex = {
  readonly chain: DeployedChain["chain"];
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

// Enough that every table has rows.
const STEPS = 400;

export const FAKE_ACCOUNT_KINDS = Object.keys(
  FAKE_ACCOUNT_BEHAVIOURS,
) as (keyof typeof FAKE_ACCOUNT_BEHAVIOURS)[];

export async function openAuditedIndex(seed: number): Promise<AuditedIndex> {
  const stage = await startDeployedChain();
  const { chain, world } = stage;
  const deployment = toDeployment(stage.deployment);
  for (const [offset, behaviour] of FAKE_ACCOUNT_KINDS.entries()) {
    const data = fakeAccountCode(behaviour, world.actors.agent.address, 2_000_000_000 + offset);
    await world.actors.agent.send({ data });
  }
  await runSimulator({ world, seed, steps: STEPS });
  const index = await startTestIndex({ urls: [chain.rpcUrl], deployment });
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  const head = Number(block.number);
  await index.waitUntilIndexed({ number: head, hash: String(block.hash) });
  await index.stopIndexing();
  const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 20_000 } });
  const { database } = index;

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
    chain,
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
      await index.close();
      await chain.stop();
    },
  };
}

/** A test database as DATABASE_URL names it. */
export function databaseUrlOf({ target }: Database): string {
  return formatConnectionUrl(connectionTo(inject("postgres"), target.database));
}
