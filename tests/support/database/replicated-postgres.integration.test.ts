// The replicated cluster of the tests replicates, delays, and survives the loss of its primary.
// A tool of tests, not a rule of the product: integration and chaos tests use it.
import { expect, it, onTestFinished } from "vitest";
import { startReplicatedPostgres } from "./replicated-postgres.ts";
import type { ReplicatedServer } from "./replicated-server.ts";

async function start(options: Parameters<typeof startReplicatedPostgres>[0]) {
  const cluster = await startReplicatedPostgres(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

async function readMarks(server: ReplicatedServer): Promise<number[]> {
  const rows = await server.query<{ n: number }>("SELECT n FROM marks ORDER BY n");
  return rows.map(({ n }) => n);
}

it("shows the primary's rows on its replicas, on a delayed one later", async () => {
  const cluster = await start({ replicas: [{}, { applyDelayMs: 1_000 }] });
  const [quick, late] = cluster.replicas;
  if (!quick || !late) throw new Error("two replicas");
  await cluster.primary.query("CREATE TABLE marks (n integer)");
  await cluster.catchUp();
  const writtenMs = Date.now();
  await cluster.primary.query("INSERT INTO marks VALUES (1)");
  const [{ lsn } = { lsn: "" }] = await cluster.primary.query<{ lsn: string }>(
    "SELECT pg_current_wal_lsn()::text AS lsn",
  );
  await quick.waitForReplay(lsn);
  expect(await readMarks(quick)).toEqual([1]);
  await expect(quick.query("INSERT INTO marks VALUES (2)")).rejects.toMatchObject({ code: "25006" });
  await late.waitForReplay(lsn);
  expect(Date.now() - writtenMs).toBeGreaterThanOrEqual(1_000);
  expect(await readMarks(late)).toEqual([1]);
});

it("keeps what a synchronous primary acknowledged, and others follow the promoted replica", async () => {
  const cluster = await start({ replicas: [{}, {}], synchronous: true });
  const [first, second] = cluster.replicas;
  if (!first || !second) throw new Error("two replicas");
  await cluster.primary.query("CREATE TABLE marks (n integer)");
  await cluster.primary.query("INSERT INTO marks VALUES (1)");
  await cluster.primary.kill();
  await cluster.failOverTo(first);
  await first.query("INSERT INTO marks VALUES (2)");
  await cluster.catchUp();
  expect(await readMarks(second)).toEqual([1, 2]);
  await second.restart();
  expect(await readMarks(second)).toEqual([1, 2]);
});

it("loses what a stalled replica did not receive", async () => {
  const cluster = await start({ replicas: [{}] });
  const [replica] = cluster.replicas;
  if (!replica) throw new Error("one replica");
  await cluster.primary.query("CREATE TABLE marks (n integer)");
  await cluster.catchUp();
  await replica.stall();
  await cluster.primary.query("INSERT INTO marks VALUES (1)");
  await cluster.primary.kill();
  await cluster.failOverTo(replica);
  expect(await readMarks(replica)).toEqual([]);
});

it("brings a primary that was stopped back as a replica of the promoted one", async () => {
  const cluster = await start({ replicas: [{}] });
  const [replica] = cluster.replicas;
  if (!replica) throw new Error("one replica");
  await cluster.primary.query("CREATE TABLE marks (n integer)");
  await cluster.primary.stop();
  await cluster.failOverTo(replica);
  await cluster.primary.demote();
  await replica.query("INSERT INTO marks VALUES (1)");
  const [{ lsn } = { lsn: "" }] = await replica.query<{ lsn: string }>(
    "SELECT pg_current_wal_lsn()::text AS lsn",
  );
  await cluster.primary.waitForReplay(lsn);
  expect(await readMarks(cluster.primary)).toEqual([1]);
});
