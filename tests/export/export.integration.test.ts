// Exported files: the same bytes from every installation, only added to, and never trusted when half written.
// Main covers a part: src/export/*.test.ts (files, types, manifest), publication.test.ts, the command in tests/indexer/installation-commands.test.ts.
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../../src/export/manifest.ts";
import { rowDeclaration } from "../../src/protocol/domains.ts";
import { readCheckpoint } from "../../src/store/index/checkpoint.ts";
import { recordRowTables } from "../../src/store/index/row-tables.ts";
import { type IndexerStage, openIndexerStage } from "../indexer/indexer-stage.ts";
import { formatConnectionUrl } from "../support/database/test-database.ts";
import { startTestIndex, type TestIndex } from "../support/index/test-index.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { createTestFolder, findFastFolder } from "../support/test-folder.ts";
import { exportInto, hashesOf, openDuckdb } from "./exported-folder.ts";

let stage: IndexerStage;
/** Followed the chain through reorgs. */
let live: TestIndex;
let finalized: number;
/** Exported again and again while blocks came and were undone. */
let during: string;
/** Exported in one run when the chain stood still. */
let whole: string;
let manifest: Manifest;

const STEP = 20;
const PAUSE_MS = 20;

beforeAll(async () => {
  stage = await openIndexerStage(448, { finalityDepth: 8 });
  const { chain, deployment } = stage;
  live = await startTestIndex({ urls: [chain.rpcUrl, chain.wsUrl], deployment });
  await stage.runSteps(30);
  await live.waitUntilIndexed(await stage.head());
  during = await mkdtemp(join(findFastFolder(), "sextant-export-"));
  const changes = new AbortController();
  const exported = exportUntil(changes.signal);
  await chain.reorg(5, { replay: "all", blocks: 5 });
  await stage.runSteps(10);
  await live.waitUntilIndexed(await stage.head());
  await chain.reorg(6, { replay: "none", blocks: 7 });
  await stage.runSteps(10);
  await live.waitUntilIndexed(await stage.head());
  changes.abort();
  await exported;
  await live.stopIndexing();
  finalized = (await readCheckpoint(live.database))?.finalized ?? 0;
  whole = await mkdtemp(join(findFastFolder(), "sextant-export-"));
  manifest = await exportInto(whole, live.database, { step: STEP });
  // Several ranges of many tables.
  expect(manifest.files.filter(({ table }) => table === "logs").length).toBeGreaterThan(2);
  expect(manifest.files.length).toBeGreaterThan(40);
});

afterAll(async () => {
  await live?.close();
  await stage?.chain.stop();
  for (const folder of [during, whole]) if (folder) await rm(folder, { recursive: true, force: true });
});

async function exportUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await exportInto(during, live.database, { step: STEP, wholeRanges: true });
    await sleep(PAUSE_MS);
  }
}

/** A folder with everything exported. */
async function copyWhole(): Promise<string> {
  const folder = await createTestFolder();
  await cp(whole, folder, { recursive: true });
  return folder;
}

describe("an export", () => {
  it("exports the same bytes with or without reorgs, in one run or several", async () => {
    const [often, other] = [await createTestFolder(), await createTestFolder()];
    expect(manifest.to).toBe(finalized + 1);

    const middle = Math.floor(finalized / STEP / 2) * STEP - 1;
    const first = await exportInto(often, live.database, { step: STEP, to: middle });
    const second = await exportInto(often, live.database);
    expect(second.files.slice(0, first.files.length)).toEqual(first.files);
    expect(second).toEqual(manifest);

    const { chain, deployment } = stage;
    const clean = await startTestIndex({ urls: [chain.rpcUrl], deployment });
    onTestFinished(() => clean.close());
    await clean.waitUntilIndexed(await stage.head());
    const elsewhere = await exportInto(other, clean.database, { step: STEP, to: finalized });
    expect(hashesOf(elsewhere)).toEqual(hashesOf(manifest));
    for (const path of ["views.sql", ...Object.keys(hashesOf(manifest))])
      expect(await readFile(join(other, path)), path).toEqual(await readFile(join(whole, path)));
  });

  it("exports the same bytes while blocks are undone", async () => {
    const { files } = await exportInto(during, live.database, { to: finalized });
    expect(files).toEqual(manifest.files);
  });

  it("adds nothing when nothing is new, and only whole steps on request", async () => {
    const folder = await createTestFolder();
    const steps = await exportInto(folder, live.database, { step: STEP, wholeRanges: true });
    expect(steps.to % STEP).toBe(0);
    expect(finalized + 1 - steps.to).toBeLessThan(STEP);
    expect(await exportInto(folder, live.database, { wholeRanges: true })).toEqual(steps);
  });

  it("replaces what a killed run has left, and keeps what others put next to it", async () => {
    const folder = await createTestFolder();
    const { files } = await exportInto(folder, live.database, { step: STEP, to: STEP * 2 - 1 });
    await writeFile(join(folder, "logs/40-55.parquet"), "not listed yet");
    await writeFile(join(folder, "logs/40-60.parquet.host-7.partial"), "half");
    await writeFile(join(folder, "manifest.json.host-7.partial"), "{");
    await writeFile(join(folder, "logs/notes.txt"), "mine");
    await exportInto(folder, live.database, { to: STEP * 2 - 1 });
    const listed = files.filter(({ table }) => table === "logs").map(({ path }) => path.slice(5));
    expect((await readdir(join(folder, "logs"))).sort()).toEqual([...listed, "notes.txt"].sort());
    expect((await readdir(folder)).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  it("exports nothing validly: every view exists and is empty", async () => {
    const folder = await createTestFolder();
    await exportInto(folder, live.database, { to: stage.deployment.startBlock });
    const query = await openDuckdb(folder);
    expect(await query("select * from receipts")).toEqual([]);
    expect(await query("select block_number, args from logs")).toEqual([]);
  });
});

describe("a rejected export", () => {
  it("rejects the export of a block that is not final", async () => {
    const folder = await createTestFolder();
    await expect(exportInto(folder, live.database, { to: finalized + 1 })).rejects.toThrow(
      `Block ${finalized + 1} is not final yet: the index has final blocks up to ${finalized}`,
    );
  });

  it("rejects a folder of something else, other folds, another chain or another step", async () => {
    const foreign = await createTestFolder();
    await mkdir(join(foreign, "logs"));
    await expect(exportInto(foreign, live.database)).rejects.toThrow("has other files and no manifest.json");

    const folder = await copyWhole();
    await expect(exportInto(folder, live.database, { step: 7 })).rejects.toThrow("was begun with --step 20");
    const change = async (fields: object) =>
      writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, ...fields }));
    await change({ foldVersion: "0123456789abcdef" });
    await expect(exportInto(folder, live.database)).rejects.toThrow(
      "by another version (folds 0123456789abcdef",
    );
    await change({ deployment: { ...manifest.deployment, fingerprint: "00", chainId: 5 } });
    await expect(exportInto(folder, live.database)).rejects.toThrow("another deployment (chain 5, 00)");
    await change({ lastLogBlock: { number: manifest.lastLogBlock?.number, hash: `0x${"ab".repeat(32)}` } });
    await expect(exportInto(folder, live.database)).rejects.toThrow("has blocks of another chain");
    await change({ files: [{ ...manifest.files[0], path: "../elsewhere" }] });
    await expect(exportInto(folder, live.database)).rejects.toThrow("file 0 has another path");
    await writeFile(join(folder, "manifest.json"), "{");
    await expect(exportInto(folder, live.database)).rejects.toThrow("is not JSON");
  });

  it("rejects rows that another version has made", async () => {
    const folder = await createTestFolder();
    const declaration = { ...rowDeclaration, foldVersion: "new", equivalentFoldVersions: [] };
    await expect(exportInto(folder, live.database, { declaration })).rejects.toThrow(
      "made by another version",
    );
    // A version that makes the same rows continues in the same folder.
    await exportInto(folder, live.database, { step: STEP, to: STEP - 1 });
    const same = { ...declaration, equivalentFoldVersions: [rowDeclaration.foldVersion] };
    await live.database.transaction((session) => recordRowTables(session, same));
    onTestFinished(() => live.database.transaction((session) => recordRowTables(session, rowDeclaration)));
    expect((await exportInto(folder, live.database, { declaration: same })).to).toBe(finalized + 1);
  });

  it("rejects a folder in which a listed file is gone or cut", async () => {
    const folder = await copyWhole();
    const path = manifest.files[0]?.path ?? "";
    await truncate(join(folder, path), 10);
    await expect(exportInto(folder, live.database)).rejects.toThrow(`${path} has 10 bytes instead of`);
    await rm(join(folder, path));
    await expect(exportInto(folder, live.database)).rejects.toThrow(`${path} is missing`);
  });
});

describe("the command", () => {
  const run = (args: readonly string[]) =>
    runSextantInProcess(["export", ...args], {
      DATABASE_URL: formatConnectionUrl(live.place.connection),
      SEXTANT_LOG_LEVEL: "warn",
    });

  it("exports by the command, and verifies what it exported", async () => {
    const folder = await createTestFolder();
    const done = await run(["--parquet", folder, "--to", "finalized", "--step", String(STEP)]);
    expect(done).toMatchObject({ code: 0, err: expect.stringMatching(/^Using the database .*\.\n$/) });
    expect(done.out).toMatch(
      new RegExp(`^Added \\d+ files with [\\d,]+ rows to .*, which now has blocks \\d+ to ${finalized}\\.`),
    );
    expect(await run(["--parquet", folder, "--verify"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^All \d+ files of .* are as exported: [\d,]+ bytes\.\n$/),
    });
    const [name = ""] = await readdir(join(folder, "logs"));
    const path = join(folder, "logs", name);
    const bytes = await readFile(path);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    await writeFile(path, bytes);
    await writeFile(join(folder, "logs/1-2.parquet"), "");
    const damaged = await run(["--parquet", folder, "--verify"]);
    expect(damaged).toMatchObject({
      code: 1,
      out: `logs/${name} has another content than when it was exported.\nlogs/1-2.parquet is not in the manifest.\n`,
    });
    await appendFile(path, "x");
    expect((await run(["--parquet", folder, "--verify"])).out).toContain(
      `logs/${name} has ${bytes.length + 1} bytes`,
    );
  });

  it.each([
    [[], 64, "Give either --parquet DIR or --publication NAME"],
    [["--parquet", "/tmp/x", "--publication", "p"], 64, "Give either"],
    [["--parquet", "/tmp/x", "--to", "latest"], 64, "--to must be a whole number"],
    [["--parquet", "/tmp/x", "--step", "0"], 64, "--step must be a whole number of at least 1"],
    [["--parquet", "/dev/null/x"], 74, "The result could not be written: "],
    [["--publication", "Robert'); drop"], 65, "The name of a publication must be"],
  ])("%j exits with %i", async (args, code, message) => {
    const { err, ...rest } = await run(args);
    expect(rest).toMatchObject({ code, out: "" });
    expect(err).toContain(message);
  });
});
