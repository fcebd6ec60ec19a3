// Imports point down only: doors → rooms and machines → words → floor; rooms and machines do not know each other.
import { isCode, type Rule } from "../repository.ts";

// Each room or machine stands alone on the layers below it; only doors put one into another.
const FLOOR = ["kit"];
const WORDS = ["schema"];
const BELOW: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  schema: FLOOR,
  chain: [...WORDS, ...FLOOR],
  store: [...WORDS, ...FLOOR],
  http: [...WORDS, ...FLOOR],
  payments: [...WORDS, ...FLOOR],
  protocol: [...WORDS, ...FLOOR],
  documents: [...WORDS, ...FLOOR],
  writes: [...WORDS, ...FLOOR],
  portfolio: [...WORDS, ...FLOOR],
  faces: [...WORDS, ...FLOOR],
  indexing: [...WORDS, ...FLOOR],
};
const TOP = "doors";

// What each floor may take from the contracts workspace: generated facts, or everything.
const GENERATED = /^contracts\/(generated|hashes)\//;

export const layers: Rule = (repository) =>
  repository.files
    .filter((file) => isCode(file) && !file.endsWith(".test.ts"))
    .flatMap((file) => repository.imports(file))
    .flatMap(({ from, line, target }) => {
      const message = target === null ? null : objection(from, target);
      return message === null ? [] : [{ file: from, line, message }];
    });

function objection(from: string, target: string): string | null {
  const room = roomOf(from);
  const other = roomOf(target);
  if (from.startsWith("contracts/")) {
    return target.startsWith("contracts/") ? null : `contracts must stand alone, but imports ${target}`;
  }
  if (room === null || room === TOP) {
    return room === TOP && /^(tests|bench|scripts)\//.test(target) ? `a door imports ${target}` : null;
  }
  if (target.startsWith("contracts/")) {
    return GENERATED.test(target) && room !== "kit"
      ? null
      : `only generated interfaces and hashes may be taken from contracts, not ${target}`;
  }
  if (other === null) return `the product imports ${target}, which is not part of it`;
  if (other === room) return null;
  const below = BELOW[room];
  if (!below) return `src/${room} is not a room of the house; add it to tests/tidy/rules/layers.ts`;
  return below.includes(other)
    ? null
    : `imports upward or sideways: src/${room} must not know src/${other} (${target})`;
}

function roomOf(file: string): string | null {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? null;
}
