// The two versions of a comparison: another commit, checked out for it, and this checkout as it is.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkOutVersion } from "../../scripts/testing/checkout-version.ts";
import { readPreviousVersion } from "../../scripts/testing/previous-version.ts";
import { logProgress } from "../harness/progress.ts";

export type VersionName = "before" | "now";
export type Version = { readonly name: VersionName; readonly folder: string };
export type Versions = Readonly<Record<VersionName, Version>>;

const HERE = fileURLToPath(new URL("../..", import.meta.url));

/** Both take the same part of a slow drift of the machine, such as its temperature or a neighbour. */
export const TURNS: readonly VersionName[] = ["before", "now", "now", "before"];

/** `--against` without a commit means the version that landed last, `--profile` without a folder the part of that name. */
export function completeFlags(args: readonly string[]): string[] {
  return args.flatMap((argument, at) => {
    const next = args[at + 1];
    if (next !== undefined && !next.startsWith("-")) return [argument];
    if (argument === "--against") return [argument, readPreviousVersion()];
    return argument === "--profile" ? ["--part", "profile"] : [argument];
  });
}

/** Checks `commit` out, and removes it again however the work ends. */
export async function withVersions<T>(commit: string, work: (versions: Versions) => Promise<T>): Promise<T> {
  const full = resolveCommit(commit);
  logProgress(`checking out ${full.slice(0, 8)}`);
  const checkout = checkOutVersion(full);
  if (checkout === null) throw new Error(`the history lacks ${commit}; run git fetch --unshallow`);
  try {
    return await work({
      before: { name: "before", folder: checkout.folder },
      now: { name: "now", folder: HERE },
    });
  } finally {
    checkout.remove();
  }
}

function resolveCommit(name: string): string {
  try {
    return execFileSync("git", ["rev-parse", "--verify", `${name}^{commit}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch (error) {
    throw new Error(`there is no commit ${name}; --against takes what git names a commit by`, {
      cause: error,
    });
  }
}
