// A copy of the working tree in a temporary folder, with the installed packages linked.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

type RepositoryCopy = { readonly root: string; remove(): void };

export function copyRepository(source = process.cwd()): RepositoryCopy {
  const root = mkdtempSync(join(tmpdir(), "sextant-new-event-"));
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: source,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of new Set(listed.split("\n"))) {
    if (!file || !existsSync(join(source, file))) continue;
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(source, file), join(root, file));
  }
  linkPackages(resolve(source, "node_modules"), join(root, "node_modules"));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** The workspaces must be those of the copy, so their scope is linked entry by entry. */
function linkPackages(from: string, to: string): void {
  mkdirSync(join(to, "@sextant"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== "@sextant" && !name.startsWith(".vite")) symlinkSync(join(from, name), join(to, name));
  }
  for (const name of readdirSync(join(from, "@sextant"))) {
    const folder = name === "contracts" ? name : join("packages", name);
    symlinkSync(join("../..", folder), join(to, "@sextant", name));
  }
}
