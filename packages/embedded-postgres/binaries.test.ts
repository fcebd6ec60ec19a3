// The programs run from wherever they can: in place, or from a copy with its library links made by us.
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { type BinariesPackage, findBinariesPackage, installBinaries } from "./binaries.ts";
import { chooseServerAccount, type ServerAccount } from "./server-account.ts";

const run = promisify(execFile);
const log = createLog({ level: "silent", terminal: false, name: "test" });
let shipped: BinariesPackage;
let account: ServerAccount;

beforeAll(async () => {
  shipped = await findBinariesPackage();
  account = await chooseServerAccount("/nonexistent/data");
});

/** The package as npm leaves it when install scripts do not run: without the links to its libraries. */
async function packageWithoutLinks(folder: string): Promise<BinariesPackage> {
  const copy = join(folder, "package");
  await mkdir(copy);
  await run("cp", ["-r", join(shipped.folder, "native"), copy]);
  await run("find", [join(copy, "native"), "-type", "l", "-delete"]);
  return { folder: copy, version: shipped.version };
}

describe("the PostgreSQL programs", () => {
  it("are copied and linked when the install script did not run, once", async () => {
    const folder = await createTestFolder();
    const bare = await packageWithoutLinks(folder);
    const [program, same] = await Promise.all([
      installBinaries(bare, folder, account, log),
      installBinaries(bare, folder, account, log),
    ]);
    expect(program).toEqual(same);
    expect(program.postgres).toBe(join(folder, `postgresql-${shipped.version}`, "bin", "postgres"));
    expect(program.major).toBe("18");
    expect((await run(program.postgres, ["--version"])).stdout).toContain("PostgreSQL) 18.");
    expect((await stat(program.postgres)).mode & 0o022).toBe(0);
    const before = (await stat(program.postgres)).mtimeMs;
    await installBinaries(bare, folder, account, log);
    expect((await stat(program.postgres)).mtimeMs).toBe(before);
    expect((await readdir(folder)).filter((name) => name.includes(".new-"))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    "are copied when the server's account can not enter node_modules",
    async () => {
      const folder = await createTestFolder();
      const hidden = await packageWithoutLinks(folder);
      await chmod(hidden.folder, 0o700);
      const program = await installBinaries(hidden, folder, account, log);
      const { stdout } = await run(program.initdb, ["--version"], { ...account });
      expect(stdout).toContain("18.");
    },
  );

  it("are copied again when the copy was damaged", async () => {
    const folder = await createTestFolder();
    const bare = await packageWithoutLinks(folder);
    const damaged = join(folder, `postgresql-${shipped.version}`, "bin");
    await mkdir(damaged, { recursive: true });
    await writeFile(join(damaged, "postgres"), "");
    const program = await installBinaries(bare, folder, account, log);
    expect((await readFile(program.postgres)).length).toBeGreaterThan(1_000_000);
  });

  it("say how to go on when the package for this system is not installed", async () => {
    await expect(findBinariesPackage("plan9-vax")).rejects.toMatchObject({
      code: "DATABASE_START_FAILED",
      message: expect.stringMatching(/plan9-vax.*--omit=optional.*DATABASE_URL/),
    });
  });
});
