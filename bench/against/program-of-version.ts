// The `sextant` of a version as its users start it: compiled, if that version is published as a package.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundlePrograms } from "../../scripts/server-package/bundle.ts";
import { logProgress } from "../harness/progress.ts";
import type { Version } from "./versions.ts";

export type ProgramOfVersion = Version & {
  /** Arguments of Node, before those of the command. */
  readonly program: readonly string[];
};

const RUN_MAIN = "import(process.argv[1]).then(({ main }) => main(process))";

export async function prepareProgram(version: Version): Promise<ProgramOfVersion> {
  const { name, folder } = version;
  if (!existsSync(join(folder, "scripts/server-package/bundle.ts"))) {
    return { ...version, program: [join(folder, "bin/sextant.mjs")] };
  }
  logProgress(`compiling the version ${name}`);
  // Modules outside the bundle are found from here.
  const compiled = join(folder, "node_modules", `.compiled-${name}`);
  rmSync(compiled, { recursive: true, force: true });
  await bundlePrograms({
    entries: { main: join(folder, "src/cli/main.ts") },
    folder: compiled,
    sourceUrl: (path) => JSON.stringify(pathToFileURL(path).href),
  });
  return { ...version, program: ["--input-type=commonjs", "--eval", RUN_MAIN, join(compiled, "main.js")] };
}
