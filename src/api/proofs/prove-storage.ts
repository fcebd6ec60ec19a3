// Turns the members of a record into claims: the proven words of the contract must say what the record says.
import type { ProvenState } from "../../chain/proofs/proven-state.ts";
import type { Hex } from "../../lib/hex.ts";
import type { RecordClaim } from "../../schema/reads/record-proofs.ts";
import { joinDynamic, readDynamic, readValue, type StoredMember } from "./contract-storage.ts";
import { type LocatedField, type RecordBody, type StoredValue, Unproven } from "./record-fields.ts";

/** A claim with the hashes of its nodes. */
export type ProvenClaim = { readonly claim: RecordClaim; readonly path: readonly Hex[] };

type Context = {
  readonly state: ProvenState;
  readonly contract: Hex;
  readonly timestamp: bigint;
  readonly record: RecordBody;
};

export function withoutProof(path: string, reason: string): ProvenClaim {
  return { claim: { path, kind: "none", reason }, path: [] };
}

/** Slots that are known only when the length of a text is: those of its data. */
export function listFurtherSlots(
  fields: readonly LocatedField[],
  { state, contract }: Pick<Context, "state" | "contract">,
): readonly Hex[] {
  return fields.flatMap(({ members }) =>
    members.flatMap(({ slot, form }) => {
      if (form !== "text" && form !== "bytes") return [];
      const found = state.wordOf(contract, slot);
      return found === null ? [] : (readDynamic(found.word, slot)?.slots ?? []);
    }),
  );
}

export function claimField(context: Context, field: LocatedField): ProvenClaim {
  const { path, value, members, read } = field;
  const parts = members.map((member) => readMember(context, member));
  const values: StoredValue[] = [];
  const nodes: Hex[] = [];
  for (const part of parts) {
    if (typeof part === "string") return withoutProof(path, part);
    values.push(part.value);
    nodes.push(...part.path);
  }
  const proven = read(values, context);
  if (proven instanceof Unproven) return withoutProof(path, proven.reason);
  const slot = members[0]?.slot;
  const where = slot === undefined ? {} : { slot };
  if (isSame(proven, value)) return { claim: { path, kind: "storage", ...where }, path: nodes };
  return { claim: { path, kind: "mismatch", ...where, proven: String(proven) }, path: nodes };
}

/** The index writes numbers of up to 16 bits as such, and longer ones as text. */
function isSame(proven: unknown, value: unknown): boolean {
  return typeof value === "number" ? proven === String(value) : proven === value;
}

type ReadMember = { readonly value: StoredValue; readonly path: readonly Hex[] };

function readMember({ state, contract }: Context, member: StoredMember): ReadMember | string {
  const { slot, form } = member;
  const found = state.wordOf(contract, slot);
  if (found === null) return "node_refused";
  if (form !== "text" && form !== "bytes") return { value: readValue(found.word, member), path: found.path };
  const dynamic = readDynamic(found.word, slot);
  if (dynamic === null) return "no_layout";
  if (dynamic.length === null) return "too_long";
  const further = dynamic.slots.map((each) => state.wordOf(contract, each));
  if (further.includes(null)) return "node_refused";
  const words = further.flatMap((each) => (each === null ? [] : [each.word]));
  const content = joinDynamic(found.word, dynamic.length, words);
  const path = [...found.path, ...further.flatMap((each) => each?.path ?? [])];
  return { value: form === "bytes" ? content : readText(content), path };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Null for bytes that the index stores as other ones, because PostgreSQL and JSON cannot hold them. */
function readText(content: Hex): string | null {
  try {
    const text = decoder.decode(Buffer.from(content.slice(2), "hex"));
    return text.includes("\u0000") ? null : text;
  } catch {
    return null;
  }
}
