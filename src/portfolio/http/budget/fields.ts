// Selects fields of a response by name: the schema knows which there are, the selection is cut out of the value.
import { Fault } from "../../../lib/fault.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";

/** The fields to keep of a record, by name; null keeps all of a field. */
export type FieldTree = ReadonlyMap<string, FieldTree | null>;

type GrowingTree = Map<string, GrowingTree | null>;

/** Throws INPUT_INVALID for a name that the schema does not have, with those that it has in that place. */
export function parseFields(names: readonly string[], schema: JsonSchema): FieldTree {
  const tree: GrowingTree = new Map();
  for (const name of names) addField(tree, name.split("."), schema);
  return tree;
}

function addField(root: GrowingTree, path: readonly string[], schema: JsonSchema): void {
  let tree: GrowingTree | null = root;
  let fields = fieldsOf(schema);
  for (const [index, name] of path.entries()) {
    const field: JsonSchema | undefined = fields.get(name);
    if (field === undefined) throw unknownField(path.slice(0, index), name, fields);
    fields = fieldsOf(field);
    const isLast = index === path.length - 1;
    // All of a field was asked for already; the rest of the path is still checked.
    if (tree === null) continue;
    const known: GrowingTree | null | undefined = tree.get(name);
    const next: GrowingTree | null = isLast || known === null ? null : (known ?? new Map());
    tree.set(name, next);
    tree = next;
  }
}

function unknownField(
  parents: readonly string[],
  name: string,
  fields: ReadonlyMap<string, JsonSchema>,
): Fault {
  const prefix = parents.map((each) => `${each}.`).join("");
  const known = [...fields.keys()].map((each) => prefix + each).join(", ");
  const has = known === "" ? `${parents.join(".")} has no fields` : `the known are ${known}`;
  return new Fault("INPUT_INVALID", `fields: ${prefix}${name.slice(0, 50)} is not in the response; ${has}.`);
}

/** The fields of a record, or of the entries of a list, whether or not it may be null. */
function fieldsOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const { properties, items, anyOf } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly items?: JsonSchema;
    readonly anyOf?: readonly JsonSchema[];
  };
  return new Map([
    ...Object.entries(properties ?? {}),
    ...(items ? fieldsOf(items) : []),
    ...(anyOf ?? []).flatMap((each) => [...fieldsOf(each)]),
  ]);
}

/** One text for equal selections: sorted, and without what another name includes. */
export function formatFieldTree(tree: FieldTree): string {
  return listPaths(tree).sort().join(",");
}

function listPaths(tree: FieldTree): string[] {
  return [...tree].flatMap(([name, inner]) =>
    inner === null ? [name] : listPaths(inner).map((path) => `${name}.${path}`),
  );
}

/** Keeps the order of the value; a field that it lacks stays absent. */
export function selectFields(value: unknown, tree: FieldTree): unknown {
  if (Array.isArray(value)) return value.map((each) => selectFields(each, tree));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const inner = tree.get(name);
      if (inner === undefined) return [];
      return [[name, inner === null ? field : selectFields(field, inner)]];
    }),
  );
}
