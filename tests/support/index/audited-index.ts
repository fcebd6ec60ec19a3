// An economy on a local chain, indexed, with everything that auditing it takes.

import { openStage, type Stage } from "@sextant/simulator/deployed-chain";
import { playEconomy } from "@sextant/simulator/simulator";
import { expect, inject } from "vitest";
import { type AuditOptions, runAudit } from "../../../src/audit/run.ts";
import { audits } from "../../../src/audit/tables/all-tables.ts";
import type { Rpc } from "../../../src/chain/rpc/types.ts";
import type { Deployment } from "../../../src/protocol/deployment.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { PRETENDERS, pretenderCode } from "../chain/fake-policy-account.ts";
import { connectionUrl } from "../database/connection-url.ts";
import { connectionTo } from "../database/test-database.ts";
import { createTestRpc } from "../nodes/test-rpc.ts";
import { quiet } from "../quiet-log.ts";
import { deploymentOf, startTestIndex } from "./test-index.ts";

export type AuditedIndex = {
  readonly chain: Stage["chain"];
  readonly deployment: Deployment;
  readonly database: Database;
  readonly rpc: Rpc;
  readonly head: number;
  /** Audits everything at the head, unless told otherwise. */
  audit(options?: Partial<AuditOptions>): ReturnType<typeof runAudit>;
  /** What the audit of one table tells, shortened to what is wrong where. */
  told(table: string, options?: Partial<AuditOptions>): Promise<string[]>;
  close(): Promise<void>;
};

// Enough that every table has rows.
const STEPS = 400;

export const pretenders = Object.keys(PRETENDERS) as (keyof typeof PRETENDERS)[];

export async function openAuditedIndex(seed: number): Promise<AuditedIndex> {
  const stage = await openStage();
  const { chain, world } = stage;
  const deployment = deploymentOf(stage.deployment);
  for (const [place, behaviour] of pretenders.entries()) {
    const data = pretenderCode(behaviour, world.actors.agent.address, 2_000_000_000 + place);
    await world.actors.agent.send({ data });
  }
  await playEconomy({ world, seed, steps: STEPS });
  const index = await startTestIndex({ urls: [chain.rpcUrl], deployment });
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  const head = Number(block.number);
  await index.reach({ number: head, hash: String(block.hash) });
  await index.stopIndexing();
  const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 20_000 } });
  const { database } = index;

  const audit = (options: Partial<AuditOptions> = {}) => {
    const stop = new AbortController().signal;
    return runAudit({ database, deployment, rpc, block: head, sample: null, log: quiet, stop, ...options });
  };
  return {
    chain,
    deployment,
    database,
    rpc,
    head,
    audit,
    async told(name, options = {}) {
      const { results } = await audit({
        audits: audits.filter(({ table }) => table.name === name),
        ...options,
      });
      const [result] = results;
      if (!result) throw new Error(`there is no table ${name}`);
      expect(result.differences).toBe(result.first.length);
      return result.first.map(({ key, column }) => `${key} ${column}`);
    },
    async close() {
      rpc.close();
      await index.close();
      await chain.stop();
    },
  };
}

/** A test database as DATABASE_URL names it. */
export function urlOf({ place }: Database): string {
  return connectionUrl(connectionTo(inject("postgres"), place.database));
}
