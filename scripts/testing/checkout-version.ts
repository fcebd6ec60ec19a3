// Checks a version of Sextant out of the history into a temporary folder, ready to run.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

type VersionCheckout = { readonly folder: string; remove(): void };

type Lockfile = { readonly packages: Readonly<Record<string, { version?: string; dev?: boolean }>> };

type Manifest = { readonly name: string; readonly workspaces?: readonly string[] };

const WORKSPACE_SCOPE = "@sextant";

// For an install from a registry, if the packages of that version differ from ours.
const INSTALL_MS_MAX = 300_000;

/** Null if the history lacks the commit: a shallow clone, or no repository. */
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

/** Whether all production dependencies of that version are installed here, in the same versions. */
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

/** Links each package by itself: the workspaces must be the folder's own, not those of this checkout. */
function linkPackages(folder: string): void {
  const ours = resolve("node_modules");
  const theirs = join(folder, "node_modules");
  mkdirSync(theirs);
  for (const name of readdirSync(ours)) {
    if (name !== WORKSPACE_SCOPE) symlinkSync(join(ours, name), join(theirs, name));
  }
  mkdirSync(join(theirs, WORKSPACE_SCOPE));
  for (const workspace of listWorkspaces(folder)) {
    const { name } = readManifest(workspace);
    if (!name.startsWith(`${WORKSPACE_SCOPE}/`))
      throw new Error(`${workspace} is not a package of ${WORKSPACE_SCOPE}`);
    symlinkSync(workspace, join(theirs, name));
  }
}

/** Folders of the workspaces that its package.json names, one by one or as `folder/*`. */
function listWorkspaces(folder: string): string[] {
  return (readManifest(folder).workspaces ?? []).flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [join(folder, pattern)];
    const parent = join(folder, pattern.slice(0, -2));
    return readdirSync(parent).map((name) => join(parent, name));
  });
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
