// Installs the packages of a folder that has its own lockfile, unless they are there.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

/** Packages of other projects with hundreds of megabytes, which nothing else needs, in a folder of their own. */
export function installPackages(folder: string, what: string): void {
  if (hasCurrentPackages(folder)) return;
  process.stdout.write(`Installing ${what} …\n`);
  const args = ["ci", "--ignore-scripts", "--workspaces=false"];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error(`the packages of ${folder} could not be installed`);
}

function hasCurrentPackages(folder: string): boolean {
  // npm writes this file into node_modules at the end of an install.
  const installed = `${folder}/node_modules/.package-lock.json`;
  return (
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}/package-lock.json`).mtimeMs
  );
}
