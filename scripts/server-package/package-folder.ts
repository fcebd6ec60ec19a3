// The common parts of the folders of both published packages: emptied, with a license and a manifest.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

type Section = Readonly<Record<string, string>>;
type SourceManifest = Readonly<Record<string, unknown>> & {
  readonly dependencies?: Section;
  readonly devDependencies?: Section;
  readonly optionalDependencies?: Section;
  readonly overrides?: Readonly<Record<string, string | Section>>;
};

/** The manifest of a workspace, or of the root. */
export function readManifest(folder: string): SourceManifest {
  return JSON.parse(readFileSync(join(CHECKOUT, folder, "package.json"), "utf8"));
}

export function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/** Adds the manifest, the license and the readme: what makes a folder a package that can be published. */
export function finishPackage(
  folder: string,
  readme: string,
  manifest: Readonly<Record<string, unknown>>,
): void {
  const published = { ...manifest, publishConfig: { access: "public", provenance: true } };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(CHECKOUT, readme), join(folder, "README.md"));
  copyFileSync(join(CHECKOUT, "LICENSE"), join(folder, "LICENSE"));
}
