// An export that is killed at any moment, or whose files reach a limit, goes on to the same bytes.
// Fast tests of the same rules: export.integration.test.ts, disturbed-export.integration.test.ts.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { verifyExport } from "../../src/export/verify-export.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { bundleProgram } from "../support/process/bundle-program.ts";
import { startSextant } from "../support/process/sextant-process.ts";
import { chooseSeed, seededRandom } from "../support/seeded-random.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { exportInto, hashFiles, listFiles, openSharedIndex } from "./exported-folder.ts";

const STEP = 25;
// The first calls make the folder and the manifest; a range has some two hundred, and ends with the manifest again.
const FIRST_CALLS = [1, 3, 5];
const CALLS_PER_RANGE = 250;
// In one file per table.
const WHOLE_HISTORY = 1_000_000;
// The unit of POSIX.
const BYTES_PER_LIMIT_BLOCK = 512;
const KILLS_IN_CALLS = 7;
const KILLS_BY_TIME = 4;
const MS_OF_SOME_RANGES = 400;
const MINUTE = 60_000;

const KILLER = fileURLToPath(new URL("./kill-at-call-child.ts", import.meta.url));

let index: Awaited<ReturnType<typeof openSharedIndex>>;

beforeAll(async () => {
  index = await openSharedIndex();
}, SHARED_HISTORY_MS_MAX);

afterAll(() => index?.close());

it("exports the same bytes after kills as without", { timeout: 10 * MINUTE }, async () => {
  const seed = chooseSeed();
  const random = seededRandom(seed);
  const { start, folder, expected } = await openStage(STEP);
  const met = new Set<string>();
  const later = Array.from({ length: KILLS_IN_CALLS }, () => 1 + Math.floor(random() * CALLS_PER_RANGE));
  for (const call of [...FIRST_CALLS, ...later]) {
    const { code, err } = await start({ killAt: call }).ended;
    expect(code, `seed ${seed}, call ${call}: ${err}`).toBeNull();
    met.add(/killed in (\w+)/.exec(err)?.[1] ?? "");
    await expectListedToBeWhole(folder);
  }
  expect(met.size, `seed ${seed}: ${[...met]}`).toBeGreaterThan(2);

  let killed = 0;
  for (let round = 0; round < KILLS_BY_TIME; round += 1) {
    const running = start();
    await running.waitForOutput(/range_exported/).catch(() => undefined);
    await sleep(random() * MS_OF_SOME_RANGES);
    running.child.kill("SIGKILL");
    const { code, err } = await running.ended;
    expect([null, 0], `seed ${seed}, round ${round}: ${err}`).toContain(code);
    await expectListedToBeWhole(folder);
    if (code === null) killed += 1;
    else {
      // It was faster than the kill: begin once more.
      expect(await hashFiles(folder)).toEqual(expected);
      await rm(folder, { recursive: true });
    }
  }
  expect(killed, `seed ${seed}`).toBeGreaterThan(0);
  expect(await start().ended).toMatchObject({ code: 0 });
  expect(await hashFiles(folder)).toEqual(expected);
});

it("says which file became too large, and continues once there is room", {
  timeout: 2 * MINUTE,
}, async () => {
  const { start, folder, expected, manifest } = await openStage(WHOLE_HISTORY);
  const largest = Math.max(...manifest.files.map(({ bytes }) => bytes));
  const listing = Buffer.byteLength(JSON.stringify(manifest, null, 2));
  expect(largest).toBeGreaterThan(listing * 1.2);
  const blocks = Math.floor((largest + listing) / 2 / BYTES_PER_LIMIT_BLOCK);
  const limited = await start({ before: `ulimit -f ${blocks}` }).ended;
  expect(limited).toMatchObject({ code: 74 });
  expect(limited.err).toContain("The result could not be written: EFBIG: file too large");
  expect((await listFiles(folder)).filter((path) => path.endsWith(".partial"))).toEqual([]);
  await expectListedToBeWhole(folder);
  expect(await start().ended).toMatchObject({ code: 0 });
  expect(await hashFiles(folder)).toEqual(expected);
});

async function openStage(step: number) {
  const undisturbed = await createTestFolder();
  const manifest = await exportInto(undisturbed, index.database, { step });
  const folder = join(await createTestFolder(), "exported");
  return {
    folder,
    manifest,
    expected: await hashFiles(undisturbed),
    /** `killAt` is the call to the file system in which it kills itself. */
    start: ({ killAt, before }: { readonly killAt?: number; readonly before?: string } = {}) =>
      startSextant(["export", "--parquet", folder, "--step", String(step)], {
        environment: { DATABASE_URL: index.url, KILL_IN: folder, KILL_AT: String(killAt) },
        node: killAt === undefined ? [] : ["--import", bundleProgram(KILLER)],
        ...(before === undefined ? {} : { before }),
      }),
  };
}

/** Files that a killed run had not listed yet may be left. */
async function expectListedToBeWhole(folder: string): Promise<void> {
  if (!(await listFiles(folder)).includes("manifest.json")) return;
  const { differences } = await verifyExport(folder, new AbortController().signal);
  expect(differences.filter((each) => !each.endsWith("is not in the manifest."))).toEqual([]);
}
