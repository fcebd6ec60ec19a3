// A version of Sextant from the history, in a folder of its own and ready to run.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export type VersionCheckout = { readonly folder: string; remove(): void };

type Lockfile = { readonly packages: Readonly<Record<string, { version?: string; dev?: boolean }>> };

// Installing from a registry, where its packages differ from ours.
const INSTALL_MS_MAX = 300_000;

/** Null where the history does not hold the commit: a shallow clone, or no repository at all. */
export function checkOutVersion(commit: string): VersionCheckout | null {
  if (spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`]).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "sextant-version-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, "version.tar");
    execFileSync("git", ["archive", "--format=tar", `--output=${archive}`, commit]);
    execFileSync("tar", ["-xf", archive, "-C", folder]);
    rmSync(archive);
    if (isInstalledHere(folder)) linkPackages(folder);
    else {
      const install = ["ci", "--omit=dev", "--no-audit", "--no-fund"];
      execFileSync("npm", install, { cwd: folder, stdio: "inherit", timeout: INSTALL_MS_MAX });
    }
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether all that the version needs in production is installed here, each in the version that it names. */
function isInstalledHere(folder: string): boolean {
  const ours = packagesOf(".");
  return Object.entries(packagesOf(folder)).every(
    ([path, { version, dev }]) =>
      !path.startsWith("node_modules/") || dev === true || ours[path]?.version === version,
  );
}

function packagesOf(folder: string): Lockfile["packages"] {
  return (JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as Lockfile).packages;
}

/** Each package by itself: the workspace must be the folder's own, not the one of this checkout. */
function linkPackages(folder: string): void {
  const ours = resolve("node_modules");
  const theirs = join(folder, "node_modules");
  mkdirSync(join(theirs, "@sextant"), { recursive: true });
  for (const name of readdirSync(ours)) {
    if (name !== "@sextant") symlinkSync(join(ours, name), join(theirs, name));
  }
  symlinkSync(join(folder, "contracts"), join(theirs, "@sextant", "contracts"));
}
