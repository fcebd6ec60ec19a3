// Builds the site: writes the pages, runs VitePress over them, and gives each page a policy that allows the site alone.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { siteFiles } from "../../src/http/icon.ts";
import { openRepository } from "../../tests/architecture/repository.ts";
import { installPackages } from "../testing/install-packages.ts";
import { buildSiteConfig } from "./site-config.ts";
import { buildSitePages } from "./site-pages.ts";

export const SITE_TOOLS = "the generator of the site (about 105 MB)";
const TOOL = "scripts/docs-site";
const PAGES = `${TOOL}/pages`;
const BUILT = `${TOOL}/site`;

type Site = {
  readonly version: string;
  /** The path of the site on its server, which begins and ends with a slash. */
  readonly base: string;
  /** Whether its readers have the package, and not a clone. */
  readonly isInstalled: boolean;
};

/** Writes the version's folder and a page that leads to it. Returns the number of pages. */
export function buildSite(site: Site, folder: string): number {
  installPackages(TOOL, SITE_TOOLS);
  const { version, base } = site;
  const pages = writePages(site);
  const args = ["node_modules/vitepress/bin/vitepress.js", "build", "pages"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: TOOL, encoding: "utf8" });
  if (status !== 0) throw new Error(`VitePress could not build the pages: ${stderr}`);
  for (const name of readdirSync(BUILT, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".html")) addPolicy(join(BUILT, name));
  }
  const target = join(folder, version);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The folder may be in another file system.
  cpSync(BUILT, target, { recursive: true });
  rmSync(BUILT, { recursive: true });
  rmSync(PAGES, { recursive: true });
  writeFileSync(join(folder, "index.html"), renderEntry(`${base}${version}/`));
  return pages;
}

function writePages({ version, base, isInstalled }: Site): number {
  rmSync(PAGES, { recursive: true, force: true });
  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(PAGES, path)), { recursive: true });
    writeFileSync(join(PAGES, path), text);
  };
  const pages = buildSitePages(openRepository("."), { isInstalled });
  for (const { path, text } of pages) write(path, text);
  cpSync("docs/images", join(PAGES, "images"), { recursive: true });
  cpSync("docs/images", join(PAGES, "docs/images"), { recursive: true });
  const icon = siteFiles.find(({ path }) => path.endsWith(".svg"))?.render().content;
  if (icon !== undefined) write("public/icon.svg", icon);
  cpSync(`${TOOL}/node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js`, join(PAGES, "public/mermaid.js"));
  const config = JSON.stringify(buildSiteConfig(version, `${base}${version}/`), null, 2);
  write(".vitepress/config.js", `export default ${config};\n`);
  write(".vitepress/theme/index.js", 'export { theme as default } from "../../../theme.js";\n');
  return pages.length;
}

/** Scripts of the site, and those in the page by their hash. Styles are inline in highlighted code and diagrams. */
function addPolicy(file: string): void {
  const page = readFileSync(file, "utf8");
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  const policy = [
    "default-src 'self'",
    `script-src ${["'self'", ...new Set(hashes)].join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
  ].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  writeFileSync(
    file,
    page.replace(/<meta charset="utf-8">/, (charset) => `${charset}\n    ${meta}`),
  );
}

function renderEntry(base: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sextant</title><meta http-equiv="refresh" content="0; url=${base}"><a href="${base}">Documents of Sextant</a></html>\n`;
}
