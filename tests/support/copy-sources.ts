// Copies sources of this checkout to a folder: what other tests build next to them may go while it is read.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Takes the files of the paths that git tracks, or would track. */
export function copySources(checkout: string, paths: readonly string[], folder: string): void {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
  const listed = execFileSync("git", args, { cwd: checkout, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  for (const file of new Set(listed.split("\0"))) {
    if (file === "" || !existsSync(join(checkout, file))) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(checkout, file), join(folder, file));
  }
}
