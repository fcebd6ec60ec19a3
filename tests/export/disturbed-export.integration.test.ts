// Disturbances of an export and its folder: each ends in the same bytes, or in an error that says what to do.
// Main covers a part: src/export/folder.test.ts (files and manifest).
import { cpSync, rmSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Manifest, readManifest } from "../../src/export/manifest.ts";
import { createRebuildOptions } from "../../src/indexer/rebuild.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { assertDefined } from "../../src/lib/assert-defined.ts";
import { Secret } from "../../src/lib/secret.ts";
import { rebuildRows } from "../../src/store/index/rebuild.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder, findFastFolder } from "../support/test-folder.ts";
import {
  type ExportChoice,
  exportInto as exportHistory,
  hashesOf,
  hashFiles,
  listFiles,
  openSharedIndex,
} from "./exported-folder.ts";

const STEP = 16;
// Three ranges: one before a disturbance, one that it meets, and one after it. More of them only cost time.
const RANGES = 3;
const LAST = STEP * RANGES - 1;

/** The beginning of the history. */
const exportInto = (folder: string, database: Database, choice: ExportChoice = {}) =>
  exportHistory(folder, database, { to: LAST, ...choice });

let index: Awaited<ReturnType<typeof openSharedIndex>>;
let whole: Manifest;
/** Hashes of all files of an export that nothing disturbed. */
let expected: Readonly<Record<string, string>>;
/** Has the folders of exports with one and two ranges, to copy. */
let prepared: string;

beforeAll(async () => {
  index = await openSharedIndex();
  prepared = await mkdtemp(join(findFastFolder(), "sextant-export-"));
  const folder = join(prepared, "whole");
  for (const ranges of [1, 2]) {
    await exportInto(folder, index.database, { step: STEP, to: STEP * ranges - 1 });
    cpSync(folder, join(prepared, String(ranges)), { recursive: true });
  }
  whole = await exportInto(folder, index.database);
  expected = await hashFiles(folder);
  const rangesOf = (name: string) => whole.files.filter(({ table }) => table === name).length;
  expect([rangesOf("logs"), rangesOf("blocks")]).toEqual([RANGES, RANGES]);
  // Rows with versions in several ranges.
  expect(new Set(whole.files.map(({ table }) => table)).size).toBeGreaterThan(8);
  expect(rangesOf("agents")).toBeGreaterThan(1);
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  await index?.close();
  if (prepared) await rm(prepared, { recursive: true });
});

/** A folder into which the first ranges were exported. */
async function createFolderWith(ranges: 1 | 2): Promise<string> {
  const folder = await createTestFolder();
  cpSync(join(prepared, String(ranges)), folder, { recursive: true });
  return folder;
}

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
  it("the second one from the same database is rejected, and does not disturb the first", async () => {
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

  it("the one from another database that lists its files later is rejected", async () => {
    const [folder, elsewhere] = [await createTestFolder(), await createFolderWith(2)];
    const overtaken = exportInto(folder, index.database, {
      step: STEP,
      // The act of another process in the meantime.
      beforeListing: () => cpSync(elsewhere, folder, { recursive: true }),
    });
    await expect(overtaken).rejects.toThrow("manifest.json has changed since this run began");
    await exportInto(folder, index.database);
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("files that one from another database deletes as left over are not listed", async () => {
    const folder = await createFolderWith(1);
    const first = await readManifest(folder);
    const robbed = exportInto(folder, index.database, {
      // A run from another database begins like this: none of these files is in the manifest yet.
      beforeListing: ({ from, to }) => {
        for (const { table } of whole.files)
          rmSync(join(folder, table, `${from}-${to + 1}.parquet`), { force: true });
      },
    });
    await expect(robbed).rejects.toMatchObject({ code: "DATABASE_BUSY", message: /was deleted/ });
    expect(await readManifest(folder)).toEqual(first);
    await exportInto(folder, index.database);
    expect(await hashFiles(folder)).toEqual(expected);
  });

  it("the one that another database has overtaken gives no file its name", async () => {
    const [folder, elsewhere] = [await createFolderWith(1), await createFolderWith(2)];
    const before = await listFiles(folder);
    const overtaken = exportInto(
      folder,
      beforeRanges(async () => cpSync(join(elsewhere, "manifest.json"), join(folder, "manifest.json"))),
    );
    await expect(overtaken).rejects.toMatchObject({ code: "DATABASE_BUSY" });
    expect(await listFiles(folder)).toEqual(before);
  });

  it("the one that begins deletes nothing that another database has listed since it read the manifest", async () => {
    const [folder, elsewhere] = [await createFolderWith(1), await createFolderWith(2)];
    const late = exportInto(
      folder,
      beforeComparing(() => cpSync(elsewhere, folder, { recursive: true })),
    );
    await expect(late).rejects.toMatchObject({ code: "DATABASE_BUSY" });
    expect(await hashFiles(folder)).toMatchObject(await hashFiles(elsewhere));
  });

  it("the second one from another schema of the same database is rejected", async () => {
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

describe("what the disk does to an export", () => {
  it.each([
    ["a file", () => whole.files.find(({ table, from }) => table === "logs" && from >= 2 * STEP)?.path ?? ""],
    ["the manifest", () => "manifest.json"],
  ])("a disk full in the middle of %s leaves what is listed, and nothing half written", async (_, path) => {
    const folder = await createFolderWith(1);
    const first = assertDefined(await readManifest(folder), "the manifest");
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

  it("a file that cannot be written is named with its path", async () => {
    const folder = await createFolderWith(1);
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
  it("a range with many logs ends early, at the same block in every run", async () => {
    const [once, often] = [await createTestFolder(), await createTestFolder()];
    const cut = { step: 1_000, logsPerRange: 16, wholeRanges: true, to: STEP * 5 - 1 };
    const manifest = await exportInto(once, index.database, cut);
    const logs = manifest.files.filter(({ table }) => table === "logs");
    expect(logs.length).toBeGreaterThan(3);
    for (const { rows, from, to } of logs) {
      expect(rows).toBeGreaterThanOrEqual(16);
      expect(to - from).toBeLessThan(1_000);
    }
    // The last block of a range brings it to the limit.
    expect(Math.min(...logs.map(({ rows }) => rows))).toBeLessThan(24);
    await exportInto(often, index.database, { ...cut, to: logs[2]?.to ?? 0 });
    expect(hashesOf(await exportInto(often, index.database, cut))).toEqual(hashesOf(manifest));
  });
});

describe("an index whose rows are rebuilt meanwhile", () => {
  it("an export gives the same bytes", async () => {
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
