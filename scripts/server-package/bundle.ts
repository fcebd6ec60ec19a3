// Bundles programs of this checkout into plain JavaScript: our sources, and packages of many small modules.
import { readFileSync } from "node:fs";
import { build, type Metafile, type Plugin } from "esbuild";
import { CHECKOUT } from "./package-folder.ts";

// Packages of many small modules, whose loading takes most of a start. Others stay outside: some load files of their
// own folder or start threads.
const INLINED = /^(viem|@x402\/|@ethereumjs\/|@modelcontextprotocol\/server)/;
const OWN = /^@sextant\//;

type BundleOptions = {
  /** The programs by their names in the folder. */
  readonly entries: Readonly<Record<string, string>>;
  readonly folder: string;
  /** The expression of a module's URL, by which it finds the files alongside it. */
  readonly sourceUrl: (path: string) => string;
};

export async function bundlePrograms({ entries, folder, sourceUrl }: BundleOptions): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: { ...entries },
    outdir: folder,
    absWorkingDir: CHECKOUT,
    metafile: true,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    keepNames: true,
    logLevel: "error",
    banner: {
      js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
    },
    plugins: [ownSources(sourceUrl)],
  });
  return metafile;
}

function ownSources(sourceUrl: BundleOptions["sourceUrl"]): Plugin {
  return {
    name: "own-sources",
    setup(bundler) {
      // Packages that an inlined package imports are inlined too: outside, another version might be found.
      bundler.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        const isOurs = importer !== "" && !importer.includes("/node_modules/");
        return isOurs && !OWN.test(path) && !INLINED.test(path) ? { path, external: true } : undefined;
      });
      // A bundle would replace the URL by its own.
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replaceAll("import.meta.url", sourceUrl(path)),
        loader: "ts",
      }));
    },
  };
}
