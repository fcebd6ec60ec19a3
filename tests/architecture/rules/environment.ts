// Only cli and config read the environment, and every variable is documented.
import { isCode, type Repository, type RepositoryRule, type Violation } from "../repository.ts";

const EXAMPLE = ".env.example";
const PAGE = "docs/configuration.md";
const CHAINS = "chain-data/chains.json";
const SETTINGS = /^src\/config\/[a-z-]*settings\.ts$/;

export const environmentReads: RepositoryRule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && /^(src|contracts|packages)\//.test(file))
    .filter((file) => !/^src\/(cli|config)\//.test(file) && !file.endsWith(".test.ts"))
    // A computed name stands in the text of a code sample.
    .flatMap((file) => linesMatching(repository, file, /\bprocess\s*\.\s*env\b(?!\.\$\{)|\bhost\.env\b/))
    .map((where) => ({ ...where, message: "reads the environment; only src/cli and src/config may" }));

export const environmentVariables: RepositoryRule = (repository) => {
  const files = repository.files.filter((file) => SETTINGS.test(file));
  if (files.length === 0) return [];
  const declared = [
    ...files.flatMap((file) =>
      variablesIn(repository.text(file), /[sS]etting\(\s*"([A-Z0-9_]+)"/g).map((each) => ({ ...each, file })),
    ),
    ...listNodeVariables(repository),
  ];
  const shown = (page: string) =>
    repository.has(page) ? variablesIn(repository.text(page), /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\b/g) : [];
  const missing = [EXAMPLE, PAGE].flatMap((page) => {
    const names = new Set(shown(page).map(({ name }) => name));
    return declared
      .filter(({ name }) => !names.has(name))
      .map(({ name, file, line }) => ({ file, line, message: `${name} is not described in ${page}` }));
  });
  const known = new Set(declared.map(({ name }) => name));
  const stale = variablesIn(repository.has(EXAMPLE) ? repository.text(EXAMPLE) : "", /^#?\s?([A-Z0-9_]+)=/gm)
    .filter(({ name }) => !known.has(name))
    .map(({ name, line }) => ({ file: EXAMPLE, line, message: `${name} is read nowhere` }));
  return [...missing, ...stale];
};

/** The settings of nodes derive from the list of chains. */
function listNodeVariables(repository: Repository): { name: string; file: string; line: number }[] {
  const chains = repository.has(CHAINS) ? JSON.parse(repository.text(CHAINS)) : [];
  return (chains as readonly { readonly chainId: number; readonly mainnet: boolean }[])
    .filter(({ mainnet }) => mainnet)
    .map(({ chainId }) => ({ name: `RPC_URL_${chainId}`, file: CHAINS, line: 1 }));
}

function variablesIn(text: string, pattern: RegExp): { name: string; line: number }[] {
  return [...text.matchAll(pattern)].map((match) => ({
    name: match[1] ?? "",
    line: text.slice(0, match.index).split("\n").length,
  }));
}

function linesMatching(repository: Repository, file: string, pattern: RegExp): Omit<Violation, "message">[] {
  return repository
    .text(file)
    .split("\n")
    .flatMap((text, index) => (pattern.test(text) ? [{ file, line: index + 1 }] : []));
}
