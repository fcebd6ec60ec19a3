// Compiles every contract of contracts/src with solc, in this process.
import { compilerSettings, readPinnedVersions, selectedOutput } from "./compiler-settings.ts";
import { loadSolc } from "./load-solc.ts";
import { readLibrarySource, type SourceFile } from "./source-files.ts";

export type AbiItem = { readonly type: string; readonly name?: string };

export type CompiledContract = {
  readonly name: string;
  readonly file: string;
  readonly abi: readonly AbiItem[];
  readonly bytecode: string;
  // Null when the constructor writes immutables into the code: the compiled bytes would not work.
  readonly runtimeBytecode: string | null;
  readonly runtimeBytes: number;
  /** With zeros in place of immutables. */
  readonly runtimeTemplate: string;
  /** Positions of immutables in the code, in bytes. */
  readonly immutables: readonly CodeSpan[];
  readonly storage: StorageLayout;
};

export type CodeSpan = { readonly start: number; readonly length: number };

/** As solc describes it. */
export type StorageLayout = {
  readonly storage: readonly StorageMember[];
  /** Null for a contract without storage. */
  readonly types: Readonly<Record<string, StorageType>> | null;
};
export type StorageMember = {
  readonly label: string;
  readonly slot: string;
  readonly offset: number;
  readonly type: string;
};
export type StorageType = {
  readonly encoding: string;
  readonly label: string;
  readonly numberOfBytes: string;
  readonly key?: string;
  readonly value?: string;
  readonly base?: string;
  readonly members?: readonly StorageMember[];
};

type Diagnostic = {
  readonly severity: string;
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
};
type ContractOutput = {
  readonly abi: readonly AbiItem[];
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences?: Readonly<Record<string, readonly CodeSpan[]>>;
    };
  };
  readonly storageLayout: StorageLayout;
};
type CompilerOutput = {
  readonly errors?: readonly Diagnostic[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, ContractOutput>>>>;
};

export async function compileContracts(sources: readonly SourceFile[]): Promise<readonly CompiledContract[]> {
  const solc = await loadSolc();
  requirePinnedCompiler(solc.version());
  const outputSelection = Object.fromEntries(sources.map(({ name }) => [name, { "*": selectedOutput }]));
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(sources.map(({ name, text }) => [name, { content: text }])),
    settings: { ...compilerSettings, outputSelection },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport })) as CompilerOutput;
  const messages = (output.errors ?? [])
    .filter(stopsBuild)
    .map(({ formattedMessage }) => formattedMessage.trim());
  if (messages.length > 0) throw new Error(`solc rejected the contracts\n\n${messages.join("\n\n")}`);
  return (
    Object.entries(output.contracts ?? {})
      .flatMap(([file, contracts]) =>
        Object.entries(contracts).map(([name, one]) => compiled(file, name, one)),
      )
      // Interfaces have no code, and a library of internal functions has no ABI: deploying them is useless.
      .filter(({ abi, bytecode }) => bytecode !== "0x" && abi.length > 0)
      .sort((left, right) => (left.name < right.name ? -1 : 1))
  );
}

// Warnings about our own sources stop the build as well; warnings about the library do not.
function stopsBuild({ severity, sourceLocation }: Diagnostic): boolean {
  return severity === "error" || sourceLocation === undefined || sourceLocation.file.startsWith("src/");
}

function compiled(file: string, name: string, { abi, evm, storageLayout }: ContractOutput): CompiledContract {
  const runtime = evm.deployedBytecode;
  const immutables = Object.values(runtime.immutableReferences ?? {}).flat();
  return {
    name,
    file,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    runtimeBytecode: immutables.length > 0 ? null : `0x${runtime.object}`,
    runtimeBytes: runtime.object.length / 2,
    runtimeTemplate: `0x${runtime.object}`,
    immutables: immutables.sort((left, right) => left.start - right.start),
    storage: storageLayout,
  };
}

function requirePinnedCompiler(version: string): void {
  const pinned = readPinnedVersions().solc;
  if (!version.startsWith(`${pinned}+`)) {
    throw new Error(`solc ${version} is installed, ${pinned} is pinned`);
  }
}

function findImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readLibrarySource(path) };
  } catch (cause) {
    return { error: String(cause) };
  }
}
