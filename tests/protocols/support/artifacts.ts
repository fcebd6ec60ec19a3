// Contracts as other projects published them: compiled in their npm packages, or compiled here from the packages' sources.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSolc } from "@sextant/contracts/compile/load-solc";
import type { Abi, Hex } from "viem";

export type Artifact = { readonly abi: Abi; readonly bytecode: Hex };

const packages = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

type Placeholder = { readonly start: number; readonly length: number };
/** Placeholders by file, then by library. */
type LinkReferences = Readonly<Record<string, Readonly<Record<string, readonly Placeholder[]>>>>;
type PublishedArtifact = {
  readonly abi?: Abi;
  readonly bytecode?: string | { readonly object: string; readonly linkReferences?: LinkReferences };
  readonly linkReferences?: LinkReferences;
  /** In Chainlink's files. */
  readonly compilerOutput?: {
    readonly abi: Abi;
    readonly evm: { readonly bytecode: { readonly object: string } };
  };
};

/** `path` begins with the package; `libraries` are linked by name. */
export function readArtifact(path: string, libraries: Readonly<Record<string, Hex>> = {}): Artifact {
  return readArtifactFile(join(packages, path), libraries);
}

/** Understands the files of Hardhat, Truffle and Foundry. */
export function readArtifactFile(path: string, libraries: Readonly<Record<string, Hex>> = {}): Artifact {
  const published = JSON.parse(readFileSync(path, "utf8")) as PublishedArtifact;
  const { compilerOutput } = published;
  const abi = compilerOutput?.abi ?? published.abi;
  const own = published.bytecode ?? compilerOutput?.evm.bytecode.object;
  const [code, links] =
    typeof own === "object" ? [own.object, own.linkReferences] : [own, published.linkReferences];
  if (abi === undefined || code === undefined) throw new Error(`${path} is not a compiled contract`);
  return { abi, bytecode: link(code, links ?? {}, libraries) };
}

function link(code: string, references: LinkReferences, libraries: Readonly<Record<string, Hex>>): Hex {
  let digits = code.replace(/^0x/, "");
  for (const [name, places] of Object.values(references).flatMap((file) => Object.entries(file))) {
    const address = libraries[name];
    if (address === undefined) throw new Error(`the library ${name} is not deployed`);
    for (const { start, length } of places) {
      digits = digits.slice(0, start * 2) + address.slice(2) + digits.slice((start + length) * 2);
    }
  }
  if (!/^[0-9a-f]+$/i.test(digits)) throw new Error("a library is missing");
  return `0x${digits}`;
}

const CACHE = join(packages, ".compiled");

type SolcOutput = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly abi: Abi; readonly evm: { bytecode: { object: string } } }>>
    >
  >;
};

/**
 * Compiles Solidity that imports from the packages, with the compiler of our own contracts; cached by its text.
 * Returns the contracts of the given sources by name.
 */
export async function compileSources(
  sources: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Readonly<Record<string, Artifact>>> {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
      ...settings,
    },
  };
  const text = JSON.stringify(input);
  const file = join(CACHE, `${createHash("sha256").update(text).digest("hex")}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Record<string, Artifact>;
  const solc = await loadSolc();
  const output = JSON.parse(solc.compile(text, { import: findImport })) as SolcOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const compiled = Object.fromEntries(
    Object.keys(sources).flatMap((name) =>
      Object.entries(output.contracts?.[name] ?? {}).map(([contract, { abi, evm }]) => [
        contract,
        { abi, bytecode: `0x${evm.bytecode.object}` satisfies Hex } as Artifact,
      ]),
    ),
  );
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(file, JSON.stringify(compiled));
  return compiled;
}

function findImport(path: string): { contents: string } | { error: string } {
  const file = join(packages, path);
  return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} is in no package` };
}
