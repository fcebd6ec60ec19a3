// Builds what browsers run: each entry, a module or a sheet, becomes one text without imports.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type * as Esbuild from "esbuild";

const built = new Map<string, readonly string[]>();

/**
 * Waits for the build, which takes some milliseconds once for the same entries. Names stay as they are written, so that
 * the errors of a page can be read.
 */
export function buildForBrowser(...entries: readonly URL[]): readonly string[] {
  const key = entries.join(" ");
  const texts = built.get(key) ?? readOrBuild(entries.map((entry) => fileURLToPath(entry)));
  built.set(key, texts);
  return texts;
}

/** The file that the published package has instead of an entry, because it has no bundler. */
export function builtFile(entry: string): string {
  return entry.replace(/\.(?:ts|css)$/, (end) => `.built${end === ".ts" ? ".js" : end}`);
}

function readOrBuild(files: readonly string[]): readonly string[] {
  const ready = files.map(builtFile);
  return ready.every((file) => existsSync(file))
    ? ready.map((file) => readFileSync(file, "utf8"))
    : build(files);
}

function build(files: readonly string[]): readonly string[] {
  // Loaded here, because a command that serves no page must not wait for it.
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof Esbuild;
  const { outputFiles } = buildSync({
    entryPoints: files.map((file, index) => ({ in: file, out: String(index) })),
    bundle: true,
    write: false,
    outdir: "/",
    format: "esm",
    // Browsers of the last three years.
    target: "es2022",
    tsconfigRaw: {},
    charset: "utf8",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "silent",
  });
  return files.map((file, index) => {
    const output = outputFiles.find(({ path }) => path.startsWith(`/${index}.`));
    if (output === undefined) throw new TypeError(`The build made nothing of ${file}.`);
    return output.text.trimEnd();
  });
}
