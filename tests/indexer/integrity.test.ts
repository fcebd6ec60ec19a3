// GET /integrity over a real index: reorgs and audits are recorded, survive a restart, and the lag is that to the chain.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readIndexerStatus, writeIndexerStatus } from "../../src/store/index/checkpoint.ts";
import { type AuditRecord, insertAudit } from "../../src/store/index/integrity.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { openTestDatabase, startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { type IndexerStage, openIndexerStage } from "./indexer-stage.ts";

const MINUTE = 60_000;

type Integrity = {
  readonly indexed: { readonly block_number: string; readonly block_hash: string };
  readonly finalized_block: string;
  readonly chain: { readonly block_number: string; readonly seen_at: string } | null;
  readonly lag: { readonly blocks: string | null };
  readonly rows: { readonly is_current: boolean; readonly declaration_hash: string };
  readonly deployment: { readonly contracts: object; readonly start_block: string };
  readonly reorgs: {
    readonly count: string;
    readonly deepest: string | null;
    readonly last: readonly Readonly<Record<string, string>>[];
  };
  readonly audits: { readonly latest: readonly Readonly<Record<string, string | null>>[] };
};

async function openIntegrity(index: Pick<TestIndex, "database">) {
  const api = await startTestApi(index.database);
  return {
    async read(): Promise<Integrity> {
      const response = await fetch(`${api.url}/integrity`);
      expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-cache"]);
      return (await response.json()) as Integrity;
    },
    close: api.close,
  };
}

describe("an index that meets reorgs", () => {
  let stage: IndexerStage;
  beforeAll(async () => {
    stage = await openIndexerStage(91);
    await stage.runSteps(40);
  }, MINUTE);
  afterAll(() => stage?.chain.stop());

  it(
    "records each reorg with its depth, and keeps reorgs and audits over a restart",
    async () => {
      const options = { urls: [stage.chain.rpcUrl], deployment: stage.deployment, auditMs: 10 };
      const first = await startTestIndex(options);
      await first.waitUntilIndexed(await stage.head());
      const integrity = await openIntegrity(first);
      expect((await integrity.read()).reorgs).toEqual({ count: "0", deepest: null, last: [] });
      const abandoned = [await stage.head()];
      await stage.chain.reorg(6, { replay: "none", blocks: 8 });
      await first.waitUntilIndexed(await stage.head());
      abandoned.push(await stage.head());
      await stage.chain.reorg(2, { replay: "none", blocks: 3 });
      await first.waitUntilIndexed(await stage.head());
      await expect
        .poll(async () => (await integrity.read()).audits.latest.map(({ kind }) => kind), { timeout: MINUTE })
        .toEqual(["blocks", "rows"]);
      await writeIndexerStatus(first.database, first.status.report());
      const { reorgs, audits, chain, indexed, lag, rows, deployment } = await integrity.read();
      await integrity.close();
      expect(Number(reorgs.count)).toBe(first.status.report().reorgs);
      expect(reorgs.count).toBe("2");
      expect(reorgs.deepest).toBe("6");
      expect(reorgs.last.map(({ depth }) => depth)).toEqual(["2", "6"]);
      expect(reorgs.last.map(({ abandoned_hash }) => abandoned_hash)).toEqual(
        abandoned.map(({ hash }) => hash).reverse(),
      );
      for (const { ancestor_block, abandoned_block, depth } of reorgs.last)
        expect(Number(abandoned_block) - Number(ancestor_block)).toBe(Number(depth));
      const head = await stage.head();
      expect([indexed.block_hash, chain?.block_number, lag.blocks]).toEqual([
        head.hash,
        String(head.number),
        "0",
      ]);
      expect(Math.abs(Date.parse(chain?.seen_at ?? "") - Date.now())).toBeLessThan(MINUTE);
      expect(rows.is_current).toBe(true);
      expect(deployment.contracts).toEqual(stage.deployment.contracts);
      expect(audits.latest.map(({ source, kind, differences }) => [source, kind, differences])).toEqual([
        ["self", "blocks", "0"],
        ["self", "rows", "0"],
      ]);
      const kept = await first.keepAsTemplate();
      const second = await startTestIndex({ ...options, auditMs: 0, template: kept.name });
      await second.waitUntilIndexed(head);
      await stage.chain.reorg(3, { replay: "none", blocks: 4 });
      await second.waitUntilIndexed(await stage.head());
      const continued = await openIntegrity(second);
      const later = await continued.read();
      await continued.close();
      expect(later.reorgs.count).toBe("3");
      expect(later.reorgs.deepest).toBe("6");
      expect(Number(later.audits.latest[0]?.checked_total)).toBeGreaterThanOrEqual(
        Number(audits.latest[0]?.checked_total),
      );
      await second.close();
      await kept.drop();
    },
    3 * MINUTE,
  );
});

describe("the store of audits and heads", () => {
  const audit: AuditRecord = {
    source: "command",
    kind: "tables",
    block: 5,
    checked: 10,
    differences: 0,
    firstDifference: null,
    version: "1.0.0",
  };

  it("keeps the newest audits of each kind, and the sum of all", async () => {
    const { database, drop } = await openTestDatabase();
    const insert = (each: AuditRecord) => database.transaction((session) => insertAudit(session, each));
    // At once: none is lost.
    await Promise.all(Array.from({ length: 8 }, () => insert(audit)));
    for (let sent = 8; sent < 210; sent += 1) await insert(audit);
    await insert({
      ...audit,
      source: "self",
      kind: "rows",
      differences: 1,
      firstDifference: "x".repeat(5_000),
    });
    const { rows } = await database.query<Record<string, string>>(
      "select source, count(*) as kept, max(checked_total) as total, max(length(first_difference)) as length from audits group by source order by source",
    );
    expect(rows.map(({ source, kept, total }) => [source, Number(kept), Number(total)])).toEqual([
      ["command", 200, 2_100],
      ["self", 1, 10],
    ]);
    expect(Number(rows[1]?.length)).toBe(1_000);
    await drop();
  });

  it("keeps the head of the chain while the next process has not seen it", async () => {
    const { database, drop } = await openTestDatabase();
    const head = { number: 7, hash: "0x01", timestamp: 9 };
    await writeIndexerStatus(database, { phase: "live", head, headSeenAt: 11 });
    await writeIndexerStatus(database, { phase: "backfill", head: null, headSeenAt: null });
    expect((await readIndexerStatus(database))?.report).toEqual({ phase: "backfill", head, headSeenAt: 11 });
    await writeIndexerStatus(database, { phase: "live", head: { ...head, number: 8 }, headSeenAt: 12 });
    expect((await readIndexerStatus(database))?.report).toMatchObject({
      head: { number: 8 },
      headSeenAt: 12,
    });
    await drop();
  });
});
