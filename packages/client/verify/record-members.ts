// Reads the members of a record: exactly those of its kind, so that none hides another and no record passes for one of another kind.
import type { NestedMembers, RecordLayout } from "./record-layouts.ts";
import { Rejection } from "./rejection.ts";
import { type JsonObject, memberOf, requireClosed } from "./strict-json.ts";

/** With include=provenance, or of every response. */
const PROVENANCE = ["block_number", "block_hash", "block_timestamp", "tx_hash", "log_index"];

/** The members by their paths; of those that are objects of the contract, each of their own. Throws a Rejection for others. */
export function listMembers(body: JsonObject, layout: RecordLayout): ReadonlyMap<string, unknown> {
  const { id, fields, unproven = [], nested = {} } = layout;
  const own = Object.keys(fields).filter((path) => !path.includes("/"));
  const parts = Object.keys(nested).filter((name) => !own.includes(name));
  const optional = ["proofs", ...PROVENANCE, ...parts];
  const record = requireClosed(body, "The record", [id, ...own, ...unproven], optional);
  const members = Object.keys(record).flatMap((name): (readonly [string, unknown])[] => {
    if (name === "proofs") return [];
    const value = memberOf(record, name);
    const part = Object.hasOwn(nested, name) ? nested[name] : undefined;
    if (part === undefined || !isThere(record, name, part)) return [[name, value]];
    return listPart(value, name, part);
  });
  return new Map(members);
}

/** Throws a Rejection for a part without the value of the other member, and for that value without the part. */
function isThere(record: JsonObject, name: string, { thereWith }: NestedMembers): boolean {
  if (thereWith === null) return true;
  const [member, expected] = thereWith;
  const isPart = memberOf(record, name) !== null;
  if (isPart !== (memberOf(record, member) === expected)) {
    throw new Rejection(`/${name} contradicts /${member}.`);
  }
  return isPart;
}

function listPart(value: unknown, name: string, { members, further }: NestedMembers) {
  const part = requireClosed(value, `/${name}`, members, further);
  return Object.keys(part).map((inner) => [`${name}/${inner}`, memberOf(part, inner)] as const);
}
