// Builds the folder that is published as server and command: compiled, with its data and a manifest of its own.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Metafile } from "esbuild";
import { buildForBrowser, builtFile } from "../../src/http/pages/build-for-browser.ts";
import { buildSite } from "../docs-site/build-site.ts";
import { bundlePrograms } from "./bundle.ts";
import { CHECKOUT, emptyFolder, finishPackage, readManifest } from "./package-folder.ts";

/** The name to publish under; docs/adr/0019-command-and-package-names.md says why it is not `sextant`. */
const PACKAGE_NAME = "@sextant-index/sextant";
const DATA_FOLDERS = ["chain-data", "deployments", "token-lists"];
/** `sextant docs` serves it. */
const SITE = "docs/.site";
const LICENSES = "THIRD-PARTY-LICENSES.txt";
/** Data, sheets and modules of browsers, which modules find by their own URL. */
const FILE_OF_MODULE = /new URL\("([^"]+\.(?:json|css)|[^"]*browser\/[^"]+\.ts)", import\.meta\.url\)/g;

/** Workspaces that pin the versions of dependencies. */
const WORKSPACES = ["contracts", "packages/client", "packages/embedded-postgres", "packages/local-chain", ""];
/** Only the embedded database and local runs need them: `--omit=optional` leaves out 250 MB. */
const OPTIONAL = /^@(?:embedded-postgres|nomicfoundation)\//;
/** Fastify would take a newer one, which needs a newer Node than we do. */
const PINNED_BELOW = ["light-my-request"];
/** The library of web sockets tries these, and does without. */
const TRIED = ["bufferutil", "utf-8-validate"];

/** Installs the tools of the documents' site first, if they are not there. */
export async function buildServerPackage(folder: string): Promise<void> {
  emptyFolder(folder);
  const metafile = await bundlePrograms({
    entries: { main: join(CHECKOUT, "src/cli/main.ts") },
    folder: join(folder, "dist"),
    sourceUrl: (path) => `new URL(${JSON.stringify(`../${relative(CHECKOUT, path)}`)}, import.meta.url).href`,
  });
  buildSite({ version: String(readManifest("").version), base: "/", isInstalled: true }, join(folder, SITE));
  for (const name of DATA_FOLDERS) cpSync(join(CHECKOUT, name), join(folder, name), { recursive: true });
  for (const file of listFilesOfModules(metafile)) addFile(folder, file);
  mkdirSync(join(folder, "bin"));
  copyFileSync(join(CHECKOUT, "bin/sextant.mjs"), join(folder, "bin/sextant.mjs"));
  writeFileSync(join(folder, LICENSES), collectLicenses(metafile));
  finishPackage(folder, "scripts/server-package/README.md", renderManifest(metafile));
}

/** Paths in the checkout, of the files that modules of the bundle name. */
function listFilesOfModules({ inputs }: Metafile): readonly string[] {
  const modules = Object.keys(inputs).filter((path) => path.startsWith("src/"));
  const files = modules.flatMap((path) =>
    [...readFileSync(join(CHECKOUT, path), "utf8").matchAll(FILE_OF_MODULE)].map(([, name = ""]) =>
      join(dirname(path), name),
    ),
  );
  return [...new Set(files)].filter((file) => file.startsWith("src/"));
}

function addFile(folder: string, file: string): void {
  const source = join(CHECKOUT, file);
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  if (file.endsWith(".json")) copyFileSync(source, join(folder, file));
  else writeFileSync(builtFile(join(folder, file)), buildForBrowser(pathToFileURL(source)).join(""));
}

function renderManifest(metafile: Metafile) {
  const { version, description, license, type, engines, bin } = readManifest("");
  const { optionalDependencies: databases = {} } = readManifest("packages/embedded-postgres");
  // The database is found by its name; nothing imports it.
  const names = [...listImported(metafile), ...PINNED_BELOW, ...Object.keys(databases)].sort();
  const versions = readVersions();
  const pin = (isOptional: boolean) =>
    Object.fromEntries(
      names
        .filter((name) => OPTIONAL.test(name) === isOptional)
        .map((name) => {
          const pinned = versions[name];
          if (pinned === undefined) throw new Error(`the server imports ${name}, which no manifest pins`);
          return [name, pinned];
        }),
    );
  return {
    name: PACKAGE_NAME,
    version,
    description,
    license,
    type,
    engines,
    bin,
    files: ["bin", "dist", "src", ...DATA_FOLDERS, SITE, LICENSES],
    // A command, not a library: nothing of it is to be imported.
    exports: { "./package.json": "./package.json" },
    dependencies: pin(false),
    optionalDependencies: pin(true),
  };
}

function readVersions(): Readonly<Record<string, unknown>> {
  const sections = WORKSPACES.map(readManifest).map((each) => ({
    ...each.overrides,
    ...each.devDependencies,
    ...each.optionalDependencies,
    ...each.dependencies,
  }));
  return Object.assign({}, ...sections);
}

/** The packages outside the bundle. */
function listImported({ outputs }: Metafile): readonly string[] {
  const external = Object.values(outputs).flatMap(({ imports }) => imports.filter((each) => each.external));
  const names = external
    .filter(({ path }) => !path.startsWith("node:"))
    .map(({ path }) => path.split("/", path.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].filter((name) => !builtinModules.includes(name) && !TRIED.includes(name));
}

/** The licenses of packages inside the bundle, which ask to be passed on with it. */
function collectLicenses({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = readManifest(folder);
    const file = readdirSync(join(CHECKOUT, folder)).find((each) => /^licen[cs]e/i.test(each));
    const text =
      file === undefined ? `License: ${license}` : readFileSync(join(CHECKOUT, folder, file), "utf8");
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
