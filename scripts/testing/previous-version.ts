// The commit of the version that landed last: upgrades begin there, and a landing tests what has changed since.
import { readFileSync } from "node:fs";

const FILE = "tests/upgrade/previous-version.json";

export function readPreviousVersion(): string {
  const { commit } = JSON.parse(readFileSync(FILE, "utf8")) as { commit: string };
  return commit;
}
