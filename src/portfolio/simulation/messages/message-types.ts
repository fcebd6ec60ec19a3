// The types of typed data: read as hostile input, free of cycles, and written in the one form by which messages are known.
import { Fault } from "../../../lib/fault.ts";
import { isJsonObject } from "../../../lib/json.ts";

export type TypeField = { readonly name: string; readonly type: string };
export type Types = ReadonlyMap<string, readonly TypeField[]>;

/** The largest message of the protocols that we know has eight types, and eleven fields in one. */
const TYPES_MAX = 40;
const FIELDS_MAX = 40;
/** A bulk order of Seaport has one dimension for each doubling of its orders. */
const DIMENSIONS_MAX = 10;

// Without `$`, which libraries leave out when they look for the types that another one needs.
const TYPE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const FIELD_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const FIELD_TYPE = /^([A-Za-z_][A-Za-z0-9_]{0,63})((?:\[[0-9]{0,3}\])*)$/;
const ATOM =
  /^(?:address|bool|string|bytes|bytes(?:[1-9]|[12][0-9]|3[0-2])|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256))$/;
/** A struct must not read like a type of Solidity. */
const RESERVED = /^(?:address|bool|string|function|mapping|u?fixed|bytes|u?int)[0-9x]*$/;

export function parseTypes(value: unknown): Types {
  if (!isJsonObject(value)) throw invalid("types must be an object.");
  const entries = Object.entries(value);
  if (entries.length > TYPES_MAX) throw invalid(`types must have at most ${TYPES_MAX} types.`);
  const types = new Map(entries.map(([name, fields]) => [name, parseFields(name, fields)]));
  for (const [name, fields] of types) {
    const unknown = fields.find(({ type }) => !ATOM.test(baseOf(type)) && !types.has(baseOf(type)));
    if (unknown) throw invalid(`types.${name} has a field of a type that is not declared.`);
  }
  if (hasCycle(types)) throw invalid("types must not contain themselves.");
  return types;
}

function parseFields(name: string, value: unknown): readonly TypeField[] {
  if (!TYPE_NAME.test(name) || RESERVED.test(name) || name in Object.prototype) {
    throw invalid("types has a name that a struct cannot have.");
  }
  if (!Array.isArray(value) || value.length > FIELDS_MAX) {
    throw invalid(`types.${name} must be a list of at most ${FIELDS_MAX} fields.`);
  }
  const fields = value.map((field) => parseField(name, field));
  if (new Set(fields.map((field) => field.name)).size < fields.length) {
    throw invalid(`types.${name} has two fields of one name.`);
  }
  return fields;
}

function parseField(owner: string, value: unknown): TypeField {
  const { name, type } = isJsonObject(value) ? value : {};
  const match = typeof type === "string" ? FIELD_TYPE.exec(type) : null;
  if (typeof name !== "string" || typeof type !== "string" || match === null) {
    throw invalid(`types.${owner} must have fields with a name and a type.`);
  }
  if (!FIELD_NAME.test(name) || name in Object.prototype) {
    throw invalid(`types.${owner} has a field whose name is not allowed.`);
  }
  if ((match[2]?.split("[").length ?? 1) - 1 > DIMENSIONS_MAX) {
    throw invalid(`types.${owner} has a list of more than ${DIMENSIONS_MAX} dimensions.`);
  }
  return { name, type };
}

function hasCycle(types: Types): boolean {
  const done = new Set<string>();
  const open = new Set<string>();
  const reachesItself = (name: string): boolean => {
    if (open.has(name)) return true;
    if (done.has(name)) return false;
    open.add(name);
    const isCyclic = (types.get(name) ?? []).some(({ type }) => reachesItself(baseOf(type)));
    open.delete(name);
    done.add(name);
    return isCyclic;
  };
  return [...types.keys()].some(reachesItself);
}

/** The type without its dimensions. */
function baseOf(type: string): string {
  const end = type.indexOf("[");
  return end === -1 ? type : type.slice(0, end);
}

/** The type of the items of a list, and its length if that is fixed; null for what is not a list. */
export function splitArray(type: string): { readonly item: string; readonly length: number | null } | null {
  if (!type.endsWith("]")) return null;
  const start = type.lastIndexOf("[");
  const length = type.slice(start + 1, -1);
  return { item: type.slice(0, start), length: length === "" ? null : Number(length) };
}

/** The type as EIP-712 hashes it: `Permit(address owner,…)`, then the types that it needs, by name. */
export function writeType(types: Types, name: string): string {
  const needed = new Set<string>();
  const collect = (type: string) => {
    if (needed.has(type)) return;
    needed.add(type);
    for (const field of types.get(type) ?? []) if (types.has(baseOf(field.type))) collect(baseOf(field.type));
  };
  collect(name);
  needed.delete(name);
  return [name, ...[...needed].sort()].map((each) => `${each}(${describeFields(types, each)})`).join("");
}

export function describeFields(types: Types, name: string): string {
  return (types.get(name) ?? []).map((field) => `${field.type} ${field.name}`).join(",");
}

function invalid(message: string): Fault {
  return new Fault("INPUT_INVALID", message);
}
