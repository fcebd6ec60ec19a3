// The programs run in place, or from a copy whose library links we create.
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTestFolder, findFastFolder } from "../../tests/support/test-folder.ts";
import { type BinariesPackage, findBinariesPackage, installBinaries } from "./binaries.ts";
import { chooseServerAccount, type ServerAccount } from "./server-account.ts";
import { silentLogger as log } from "./testing/silent-log.ts";

const run = promisify(execFile);
let installed: BinariesPackage;
/** The package as npm installs it without install scripts: the links to its libraries are missing. */
let bare: BinariesPackage;
let account: ServerAccount;

beforeAll(async () => {
  installed = await findBinariesPackage();
  account = await chooseServerAccount("/nonexistent/data");
  const folder = await mkdtemp(join(findFastFolder(), "sextant-package-"));
  await chmod(folder, 0o755);
  await run("cp", ["-r", join(installed.folder, "native"), folder]);
  await run("find", [join(folder, "native"), "-type", "l", "-delete"]);
  bare = { folder, version: installed.version };
});
afterAll(async () => {
  if (bare) await rm(bare.folder, { recursive: true, force: true });
});

describe("installBinaries", () => {
  it("copies and links the programs once when the install script did not run", async () => {
    const folder = await createTestFolder();
    const lines: object[] = [];
    const listening = { ...log, info: (fields: object) => void lines.push(fields) };
    const [binaries, same] = await Promise.all([
      installBinaries(bare, folder, account, listening),
      installBinaries(bare, folder, account, listening),
    ]);
    // Found by one of them or both, as the ordinary case, without the loader's error.
    const reason = "the install script has not linked the libraries";
    const copying = expect.objectContaining({ event: "copying_binaries", reason });
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toEqual(copying);
    expect(binaries).toEqual(same);
    expect(binaries.postgres).toBe(join(folder, `postgresql-${installed.version}`, "bin", "postgres"));
    expect(binaries.major).toBe("18");
    expect((await run(binaries.postgres, ["--version"])).stdout).toContain("PostgreSQL) 18.");
    expect((await stat(binaries.postgres)).mode & 0o022).toBe(0);
    const before = (await stat(binaries.postgres)).mtimeMs;
    await installBinaries(bare, folder, account, log);
    expect((await stat(binaries.postgres)).mtimeMs).toBe(before);
    expect((await readdir(folder)).filter((name) => name.includes(".new-"))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    "copies the programs when the server's account cannot enter node_modules",
    async () => {
      const folder = await createTestFolder();
      await chmod(bare.folder, 0o700);
      onTestFinished(() => chmod(bare.folder, 0o755));
      const binaries = await installBinaries(bare, folder, account, log);
      const { stdout } = await run(binaries.initdb, ["--version"], { ...account });
      expect(stdout).toContain("18.");
    },
  );

  it("replaces a damaged copy", async () => {
    const folder = await createTestFolder();
    const damaged = join(folder, `postgresql-${installed.version}`, "bin");
    await mkdir(damaged, { recursive: true });
    await writeFile(join(damaged, "postgres"), "");
    const binaries = await installBinaries(bare, folder, account, log);
    expect((await readFile(binaries.postgres)).length).toBeGreaterThan(1_000_000);
  });
});

describe("findBinariesPackage", () => {
  it("explains what to do when the package for this system is not installed", async () => {
    await expect(findBinariesPackage("plan9-vax")).rejects.toMatchObject({
      code: "DATABASE_START_FAILED",
      message: expect.stringMatching(/plan9-vax.*--omit=optional.*DATABASE_URL/),
    });
  });
});
