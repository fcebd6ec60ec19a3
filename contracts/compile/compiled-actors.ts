// The compiled helper contracts of the tests: contracts/test/actors/compiled.json, committed so that tests need no solc.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileContracts } from "./compile-contracts.ts";
import { hashSources } from "./compiler-settings.ts";
import type { SourceFile } from "./source-files.ts";

const actorFolder = fileURLToPath(new URL("../test/actors/", import.meta.url));
const compiledFile = `${actorFolder}compiled.json`;

export type CompiledActors = {
  readonly sourceHash: string;
  /** Creation bytecode by contract name. */
  readonly bytecodes: Readonly<Record<string, string>>;
};

export function readCompiledActors(): CompiledActors {
  return JSON.parse(readFileSync(compiledFile, "utf8"));
}

export function areActorsStale(): boolean {
  return readCompiledActors().sourceHash !== hashSources(readActorSources());
}

export async function compileActors(): Promise<CompiledActors> {
  const sources = readActorSources();
  const contracts = await compileContracts(sources);
  return {
    sourceHash: hashSources(sources),
    bytecodes: Object.fromEntries(contracts.map(({ name, bytecode }) => [name, bytecode])),
  };
}

export function writeCompiledActors(actors: CompiledActors): void {
  writeFileSync(compiledFile, renderActors(actors));
}

export function areActorsEqual(actors: CompiledActors): boolean {
  return readFileSync(compiledFile, "utf8") === renderActors(actors);
}

function renderActors(actors: CompiledActors): string {
  return `${JSON.stringify(actors, null, 2)}\n`;
}

function readActorSources(): readonly SourceFile[] {
  return readdirSync(actorFolder)
    .filter((name) => name.endsWith(".sol"))
    .sort()
    .map((name) => ({ name: `test/actors/${name}`, text: readFileSync(`${actorFolder}${name}`, "utf8") }));
}
