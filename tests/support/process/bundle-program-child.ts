// Bundles one program into a folder: a process of its own, because the bundler's plugins need an asynchronous call.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

// Packages of many small modules, whose loading takes most of a start. Others stay outside: some load files of their
// own folder or start threads.
const INLINED = /^(viem|@x402\/|@ethereumjs\/|@modelcontextprotocol\/server)/;
const OWN = /^@sextant\//;
const BUNDLE_HOURS_MAX = 24;

type Resolved = { readonly path: string; readonly external: true } | undefined;
type Loaded = { readonly contents: string; readonly loader: "ts" };
type Build = {
  onResolve(
    options: { readonly filter: RegExp },
    resolve: (found: { readonly path: string; readonly importer: string }) => Resolved,
  ): void;
  onLoad(options: { readonly filter: RegExp }, load: (found: { readonly path: string }) => Loaded): void;
};

// The bundler comes with tsx, and is not a dependency of ours.
const bundler = createRequire(createRequire(import.meta.url).resolve("tsx"))("esbuild") as {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
};

const ownSources = {
  name: "own-sources",
  setup(build: Build) {
    // Packages that an inlined package imports are inlined too: outside, another version might be found.
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
      const isOurs = importer !== "" && !importer.includes("/node_modules/");
      return isOurs && !OWN.test(path) && !INLINED.test(path) ? { path, external: true } : undefined;
    });
    // A module finds the files alongside it by its own URL, which a bundle would replace.
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: "ts",
    }));
  },
};

async function bundle(program: string, folder: string): Promise<void> {
  const cache = dirname(folder);
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "unfinished-"));
  await bundler.build({
    ...{ entryPoints: { program }, outdir: join(made, "files"), logLevel: "error" },
    ...{ bundle: true, splitting: true, format: "esm", platform: "node", target: "node20", keepNames: true },
    banner: {
      js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
    },
    plugins: [ownSources],
  });
  try {
    renameSync(join(made, "files"), folder);
  } catch (error) {
    // Another process was faster with the same sources.
    if (!["EEXIST", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  rmSync(made, { recursive: true, force: true });
  removeOldBundles(cache);
}

function removeOldBundles(cache: string): void {
  const oldestMs = Date.now() - BUNDLE_HOURS_MAX * 3_600_000;
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    // Another process that bundles at the same time may have removed it.
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && status.mtimeMs < oldestMs) rmSync(path, { recursive: true, force: true });
  }
}

const [program = "", folder = ""] = process.argv.slice(2);
await bundle(program, folder);
