// Imports follow the declared graph: each folder of src names the folders that it may import.
import { isCode, type RepositoryRule } from "../repository.ts";

const BASE = ["lib", "schema"];
const EVERYTHING = "everything";

/** Folder of src → folders that it may import. */
const GRAPH: Readonly<Record<string, readonly string[] | typeof EVERYTHING>> = {
  lib: [],
  schema: ["lib"],
  config: [...BASE, "chain"],
  chain: BASE,
  http: [...BASE, "config"],
  store: [...BASE, "config"],
  protocol: [...BASE, "config"],
  web: [...BASE, "http"],
  mcp: [...BASE, "http"],
  // Takes from protocol only the types of responses, which the compiler erases.
  explorer: [...BASE, "http", "web", "mcp", "protocol"],
  audit: [...BASE, "chain", "store", "protocol"],
  export: [...BASE, "store", "protocol"],
  indexer: [...BASE, "config", "chain", "store", "protocol", "http", "audit"],
  payments: [...BASE, "config", "chain", "store", "http"],
  portfolio: [...BASE, "config", "chain", "store", "payments", "web", "mcp", "http"],
  api: [
    ...[...BASE, "config", "chain", "store", "protocol", "indexer", "payments"],
    ...["web", "mcp", "http", "explorer"],
  ],
  local: EVERYTHING,
  cli: EVERYTHING,
};

/** The only files of a folder that another folder may import. */
const NARROW: Readonly<Record<string, readonly string[]>> = {
  "config → chain": ["src/chain/chains/chains.ts"],
  // For the version; limits are given to it.
  "http → config": ["src/config/version.ts"],
  "api → indexer": ["src/indexer/status.ts", "src/indexer/self-audit/status.ts"],
};

/**
 * Workspace → folders of src that may import it. A workspace shared with a client or a contract is open to all but lib.
 */
const PACKAGE_USERS: Readonly<Record<string, readonly string[]>> = {
  contracts: ["local"],
  "packages/client": ["cli"],
  "packages/embedded-postgres": ["store", "local", "cli"],
  "packages/local-chain": ["local"],
  "packages/simulator": ["local"],
};
const SHARED =
  /^(contracts\/(generated|hashes)\/|packages\/client\/(writes\/typed-data|payments\/(?:sign-in-message|token-typed-data)|verify\/(rejection|verification|verify))\.ts$)/;

export const importGraph: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && !/\.(test|bench)\.ts$/.test(file) && !isTestSupport(file))
    .flatMap((file) => repository.imports(file))
    .flatMap(({ from, line, target }) => {
      const message = target === null ? null : findViolation(from, target);
      return message === null ? [] : [{ file: from, line, message }];
    });

function findViolation(from: string, target: string): string | null {
  const ownPackage = packageOf(from);
  const targetPackage = packageOf(target);
  if (ownPackage !== null) {
    return targetPackage === null ? `${ownPackage} is a package of its own, but imports ${target}` : null;
  }
  const folder = folderOf(from);
  if (folder === null) return null;
  if (targetPackage !== null) return findPackageViolation(folder, targetPackage, target);
  const targetFolder = folderOf(target);
  if (targetFolder === null) return `src/${folder} imports ${target}, which is not part of the product`;
  return targetFolder === folder ? null : findFolderViolation(folder, targetFolder, target);
}

function findPackageViolation(folder: string, name: string, target: string): string | null {
  if (SHARED.test(target) && folder !== "lib") return null;
  const users = PACKAGE_USERS[name] ?? [];
  return users.includes(folder)
    ? null
    : `src/${folder} must not import ${target}; only ${users.map((user) => `src/${user}`).join(", ") || "no folder"} may`;
}

function findFolderViolation(folder: string, targetFolder: string, target: string): string | null {
  const allowed = GRAPH[folder];
  if (allowed === undefined) {
    return `src/${folder} is not in the import graph; declare it in tests/architecture/rules/import-graph.ts`;
  }
  if (allowed === EVERYTHING) return null;
  if (!allowed.includes(targetFolder)) {
    return `src/${folder} must not import src/${targetFolder} (${target}); it may import ${allowed.join(", ") || "nothing"}`;
  }
  const only = NARROW[`${folder} → ${targetFolder}`];
  return only === undefined || only.includes(target)
    ? null
    : `src/${folder} may import only ${only.join(", ")} of src/${targetFolder}, not ${target}`;
}

function folderOf(file: string): string | null {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? null;
}

function packageOf(file: string): string | null {
  return /^(contracts|packages\/[^/]+)\//.exec(file)?.[1] ?? null;
}

function isTestSupport(file: string): boolean {
  return /^(contracts\/test|packages\/[^/]+\/testing)\//.test(file);
}
