// The lockfile installs everywhere, and runs no script unasked: no addresses, exact versions, both Linux kinds.
import type { RepositoryRule, Violation } from "../repository.ts";

const LOCKFILE = "package-lock.json";
const MANIFEST = /^(?:(?:contracts|examples|packages\/[^/]+)\/)?package\.json$/;

// A version, or an exact version of a package under another name.
const EXACT = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;

type LockedPackage = {
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Locked = {
  packages: Record<string, LockedPackage>;
};
type Manifest = Record<string, Record<string, string> | undefined>;

export const lockfileRules: RepositoryRule = (repository) => {
  if (!repository.has(LOCKFILE)) return [];
  const text = repository.text(LOCKFILE);
  const problem = (file: string, message: string): Violation => ({ file, line: 1, message });
  const addresses = /"resolved": "https?:/.test(text)
    ? [problem(LOCKFILE, "records download addresses")]
    : [];
  const locked = Object.entries((JSON.parse(text) as Locked).packages);
  const platforms = locked.flatMap(([, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => /linux.*(x64|arm64)/.test(name) && !/musl|android/.test(name))
      .filter((name) => !locked.some(([path]) => path.endsWith(`node_modules/${name}`)))
      .map((name) => problem(LOCKFILE, `lacks ${name}; write it again with no node_modules folder present`)),
  );
  const loose = repository.files
    .filter((file) => MANIFEST.test(file))
    .flatMap((file) => {
      const manifest = JSON.parse(repository.text(file)) as Manifest;
      return ["dependencies", "devDependencies", "optionalDependencies"]
        .flatMap((section) => Object.entries(manifest[section] ?? {}))
        .filter(([, version]) => !EXACT.test(version))
        .map(([name, version]) => problem(file, `${name} must be pinned exactly, not ${version}`));
    });
  const decided = (JSON.parse(repository.text("package.json")) as Manifest).allowScripts ?? {};
  const scripts = locked
    .filter(([, entry]) => entry.hasInstallScript === true)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
    .filter((name) => !(name in decided))
    .map((name) => problem(LOCKFILE, `${name} has an install script; decide on it in allowScripts`));
  return [...addresses, ...platforms, ...loose, ...scripts];
};
