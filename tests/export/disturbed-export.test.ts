// What can happen to an export and its folder: each ends in the same bytes, or in an error that says what to do.
import { cpSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Manifest, readManifest } from "../../src/export/manifest.ts";
import { createRebuildOptions } from "../../src/indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { Secret } from "../../src/lib/secret.ts";
import { rebuildRows } from "../../src/store/index/rebuild.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder, findFastFolder } from "../support/test-folder.ts";
import { exportInto, hashesOf, hashFiles, listFiles, openSharedIndex } from "./exported-folder.ts";

const STEP = 100;

let index: Awaited<ReturnType<typeof openSharedIndex>>;
let whole: Manifest;
/** Hashes of all files of an export that nothing disturbed. */
let expected: Readonly<Record<string, string>>;

beforeAll(async () => {
  index = await openSharedIndex();
  const folder = await mkdtemp(join(findFastFolder(), "sextant-export-"));
  whole = await exportInto(folder, index.database, { step: STEP });
  expected = await hashFiles(folder);
  await rm(folder, { recursive: true });
}, SHARED_HISTORY_MS_MAX);

afterAll(() => index?.close());

/** The name under which this process writes a file. */
const partial = (path: string) => `${path}.${hostname().replaceAll(".", "-")}-${process.pid}.partial`;

/** The index, with something that happens before a run looks for its next range. */
const beforeRanges = (happen: () => Promise<void>): Database => ({
  ...index.database,
  query: async (statement) => {
    await happen();
    return index.database.query(statement);
  },
});

/** The same once, before a run compares the chain: it has read the manifest by then. */
const beforeComparing = (happen: () => void): Database => ({
  ...index.database,
  connect: async (purpose, options) => {
    const client = await index.database.connect(purpose, options);
    const { query } = client;
    let isDone = false;
    return Object.assign(client, {
      query: (...given: readonly unknown[]) => {
        const { text = "" } = given[0] as { readonly text?: string };
        if (!isDone && text.includes("log_count > 0")) {
          isDone = true;
          happen();
        }
        return Reflect.apply(query, client, given);
      },
    });
  },
});

describe("two exports into one folder", () => {
  it("from one database: the second is rejected, and the first is not disturbed", async () => {
    const folder = await createTestFolder();
    const runs = [1, 2].map(() => exportInto(folder, index.database, { step: STEP }));
    const ended = await Promise.allSettled(runs);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const failed = ended.find((each) => each.status === "rejected");
    expect(String(failed?.reason)).toContain(
      `Another process exports into ${folder}; wait until it is done.`,
    );
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("from two databases: the later one to list its files is rejected", async () => {
    const [folder, elsewhere] = [await createTestFolder(), await createTestFolder()];
    await exportInto(elsewhere, index.database, { step: STEP, to: STEP * 2 - 1 });
    const overtaken = exportInto(folder, index.database, {
      step: STEP,
      // What another process does meanwhile.
      beforeListing: () => cpSync(elsewhere, folder, { recursive: true }),
    });
    await expect(overtaken).rejects.toThrow("manifest.json has changed since this run began");
    await exportInto(folder, index.database);
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("from two databases: what one deletes as left over, the other does not list", async () => {
    const folder = await createTestFolder();
    const first = await exportInto(folder, index.database, { step: STEP, to: STEP - 1 });
    const robbed = exportInto(folder, index.database, {
      // What a run from another database does when it begins: none of these files is in the manifest yet.
      beforeListing: ({ from, to }) => {
        for (const { table } of whole.files)
          rmSync(join(folder, table, `${from}-${to}.parquet`), { force: true });
      },
    });
    await expect(robbed).rejects.toMatchObject({ code: "DATABASE_BUSY", message: /was deleted/ });
    expect(await readManifest(folder)).toEqual(first);
    await exportInto(folder, index.database);
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("from two databases: the overtaken one gives no file its name", async () => {
    const [folder, elsewhere] = [await createTestFolder(), await createTestFolder()];
    await exportInto(elsewhere, index.database, { step: STEP, to: STEP * 2 - 1 });
    await exportInto(folder, index.database, { step: STEP, to: STEP - 1 });
    const before = await listFiles(folder);
    const overtaken = exportInto(
      folder,
      beforeRanges(async () => cpSync(join(elsewhere, "manifest.json"), join(folder, "manifest.json"))),
    );
    await expect(overtaken).rejects.toMatchObject({ code: "DATABASE_BUSY" });
    expect(await listFiles(folder)).toEqual(before);
  });

  it("from two databases: one that begins deletes nothing that was listed since it looked", async () => {
    const [folder, elsewhere] = [await createTestFolder(), await createTestFolder()];
    await exportInto(elsewhere, index.database, { step: STEP, to: STEP * 2 - 1 });
    await exportInto(folder, index.database, { step: STEP, to: STEP - 1 });
    const late = exportInto(
      folder,
      beforeComparing(() => cpSync(elsewhere, folder, { recursive: true })),
    );
    await expect(late).rejects.toMatchObject({ code: "DATABASE_BUSY" });
    expect(await hashFiles(folder)).toMatchObject(await hashFiles(elsewhere));
  });

  it("from two schemas of one database: the second is rejected", async () => {
    const folder = await createTestFolder();
    const settings = { poolMax: 1, log: silentLog, applicationName: "test", schema: "other" };
    const other = await openDatabase({ connection: { url: new Secret(index.url) }, ...settings });
    let second: unknown = null;
    const first = beforeRanges(async () => {
      second ??= await exportInto(folder, other).catch((error: unknown) => error);
    });
    await exportInto(folder, first, { step: STEP });
    expect(second).toMatchObject({ code: "DATABASE_BUSY" });
    await other.close();
  });
});

describe("a disk", () => {
  it.each([
    ["a file", () => whole.files.find(({ table, from }) => table === "logs" && from >= 2 * STEP)?.path ?? ""],
    ["the manifest", () => "manifest.json"],
  ])("that is full in the middle of %s leaves what is listed, and nothing half written", async (_, path) => {
    const folder = await createTestFolder();
    const first = await exportInto(folder, index.database, { step: STEP, to: STEP - 1 });
    // Writes to this device fail as on a full disk. A run deletes what is left over before its first range.
    const fill = () => symlinkSync("/dev/full", join(folder, partial(path())));
    let ranges = 0;
    const full = exportInto(folder, index.database, {
      beforeListing: () => {
        ranges += 1;
        if (ranges === 1) fill();
      },
    });
    await expect(full).rejects.toMatchObject({ code: "ENOSPC", syscall: "write" });
    expect((await listFiles(folder)).filter((name) => name.endsWith(".partial"))).toEqual([]);
    expect(await hashFiles(folder)).toMatchObject(hashesOf(first));
    await exportInto(folder, index.database);
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("that cannot be written is named with the path", async () => {
    const folder = await createTestFolder();
    await exportInto(folder, index.database, { step: STEP, to: STEP - 1 });
    const obstacle = join(folder, partial("manifest.json"));
    const blocked = exportInto(folder, index.database, {
      beforeListing: () => cpSync(join(folder, "logs"), obstacle, { recursive: true }),
    });
    await expect(blocked).rejects.toMatchObject({ code: "EISDIR", path: obstacle });
    await rm(obstacle, { recursive: true });
    expect((await exportInto(folder, index.database)).files).toEqual(whole.files);
  });
});

describe("ranges", () => {
  it("end early where they have many logs, at the same blocks in every run", async () => {
    const [once, often] = [await createTestFolder(), await createTestFolder()];
    const cut = { step: 1_000, logsPerRange: 80, wholeRanges: true };
    const manifest = await exportInto(once, index.database, cut);
    const logs = manifest.files.filter(({ table }) => table === "logs");
    expect(logs.length).toBeGreaterThan(3);
    for (const { rows, from, to } of logs) {
      expect(rows).toBeGreaterThanOrEqual(80);
      expect(to - from).toBeLessThan(1_000);
    }
    // The last block of a range brings it to the limit.
    expect(Math.min(...logs.map(({ rows }) => rows))).toBeLessThan(100);
    await exportInto(often, index.database, { ...cut, to: logs[2]?.to ?? 0 });
    expect(hashesOf(await exportInto(often, index.database, cut))).toEqual(hashesOf(manifest));
  });
});

describe("an index whose rows are rebuilt meanwhile", () => {
  it("gives the same bytes", async () => {
    const { database, deployment } = index;
    const lock = await acquireLock(database, INDEXER_LOCK, { waitMs: 10_000 });
    if (!lock) throw new Error("another process indexes this database");
    const { signal } = new AbortController();
    const options = createRebuildOptions(deployment, { schema: database.schema, log: silentLog, signal });
    const folder = await createTestFolder();
    let isExporting = true;
    const exported = exportInto(folder, database, { step: STEP }).finally(() => {
      isExporting = false;
    });
    do expect(await rebuildRows(lock, options)).toBeGreaterThan(100);
    while (isExporting);
    await exported;
    await lock.release();
    expect(await hashFiles(folder)).toEqual(expected);
  });
});
