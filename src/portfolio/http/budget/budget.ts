// Budgets of readers: `detail`, `min_usd` and `fields` cut a response after it was read; a summary may have its own price.
import { type Decimal, formatDecimal, parseDecimal } from "../../../lib/decimal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import {
  defineQuery,
  enumParameter,
  type ParameterKind,
  queryParameter,
  withDefault,
} from "../../../schema/parameter.ts";
import type { PaidQuery } from "../routes/paid-route.ts";

/** One form of a response. */
type ResponseShape<Body> = { readonly schema: JsonSchema; cut(body: Body): unknown };

export type BudgetOptions<Body> = {
  /** Forms by the values of `detail`; `full` is the default, and the response as it is. */
  readonly shapes: Readonly<Record<string, ResponseShape<Body>>> & { readonly full: ResponseShape<Body> };
  /** The meaning of each value, for the description of `detail`. */
  readonly detail: string;
  /** Leaves out what is worth less; absent if the response has nothing to leave out. */
  readonly minUsd?: { readonly description: string; leaveOut(body: Body, minUsd: Decimal): Body };
};

// Far above any use: amounts have six decimals, and no wallet is worth 10^18 dollars.
const MIN_USD = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/;
// More than all names of a response; only bounds the work of parsing.
const FIELDS_LENGTH_MAX = 1_000;
const FIELDS = /^[A-Za-z0-9]+(\.[A-Za-z0-9]+)*(,[A-Za-z0-9]+(\.[A-Za-z0-9]+)*)*$/;

/** The same query with the parameters of a budget; a payment is bound to them as to every other parameter. */
export function addBudget<Body>(query: PaidQuery<Body>, options: BudgetOptions<Body>): PaidQuery {
  const { minUsd: limit } = options;
  const { parameters, parse } = defineBudget(options);
  const offered = parameters.filter(({ name }) => limit !== undefined || name !== "min_usd");
  return {
    parameters: [...query.parameters, ...offered],
    parse: (values) => {
      const request = query.parse(values);
      const { shape, ...budget } = parse(values);
      const { minUsd, fields } = budget;
      return {
        ...request,
        query: { ...request.query, ...formatBudget(budget) },
        isSummary: budget.detail === "summary",
        read: async (services, signal) => {
          const body = await request.read(services, signal);
          const kept = limit === undefined || minUsd === null ? body : limit.leaveOut(body, minUsd);
          const cut = shape.cut(kept);
          return fields === null ? cut : selectFields(cut, fields);
        },
      };
    },
  };
}

/** A response with `fields`: any part of the form that `detail` selects. */
export function describeSelection(title: string): JsonSchema {
  return {
    title,
    type: "object",
    minProperties: 1,
    description: "With `fields`: only those fields, of the form that `detail` selects.",
  };
}

type Budget = {
  readonly detail: string;
  readonly minUsd: Decimal | null;
  readonly fields: FieldTree | null;
};

/** One text for equal budgets. */
function formatBudget({ detail, minUsd, fields }: Budget): Readonly<Record<string, string>> {
  return {
    ...(detail === "full" ? {} : { detail }),
    ...(minUsd === null ? {} : { min_usd: formatDecimal(minUsd) }),
    ...(fields === null ? {} : { fields: formatFieldTree(fields) }),
  };
}

function defineBudget<Body>({ shapes, detail, minUsd }: BudgetOptions<Body>) {
  const names = Object.keys(shapes.full.schema.properties ?? {});
  const parameters = [
    queryParameter("detail", withDefault(enumParameter(Object.keys(shapes)), "full"), detail, "full"),
    queryParameter("min_usd", minUsdKind, minUsd?.description ?? "", "1"),
    queryParameter(
      "fields",
      fieldsKind,
      `Only these fields of the response, separated by commas; a dot leads into a record or into each entry of a list, such as \`${findListField(shapes.full.schema)}\`.`,
      names.slice(0, 3).join(","),
    ),
  ] as const;
  return defineQuery(parameters, ({ detail: form = "full", min_usd: least = null, fields = null }) => {
    const shape = shapes[form] ?? shapes.full;
    const tree = fields === null ? null : parseFields(fields, shape.schema);
    return { shape, detail: form, minUsd: least, fields: tree };
  });
}

/** A field of the records in the first list of a response. */
function findListField({ properties = {} }: JsonSchema): string {
  for (const [list, { items }] of Object.entries(properties as Readonly<Record<string, JsonSchema>>)) {
    const [field] = Object.keys(((items ?? {}) as JsonSchema).properties ?? {});
    if (field !== undefined) return `${list}.${field}`;
  }
  throw new TypeError("A response with a budget has a list of records.");
}

const minUsdKind: ParameterKind<Decimal> = {
  json: { type: "string", pattern: MIN_USD.source },
  parse: (text, name) => {
    if (!MIN_USD.test(text))
      throw new Fault("INPUT_INVALID", `${name} must be plain decimal text, such as 1.50.`);
    return parseDecimal(text, name);
  },
};

const fieldsKind: ParameterKind<readonly string[]> = {
  json: { type: "string", pattern: FIELDS.source, maxLength: FIELDS_LENGTH_MAX },
  parse: (text, name) => {
    if (text.length > FIELDS_LENGTH_MAX || !FIELDS.test(text)) {
      throw new Fault(
        "INPUT_INVALID",
        `${name} must be names separated by commas, in at most ${FIELDS_LENGTH_MAX} characters.`,
      );
    }
    return text.split(",");
  },
};

/** The fields to keep of a record, by name; null keeps all of a field. */
type FieldTree = ReadonlyMap<string, FieldTree | null>;

type GrowingTree = Map<string, GrowingTree | null>;

/** Throws INPUT_INVALID for a name that the schema does not have, with those that it has in that place. */
function parseFields(names: readonly string[], schema: JsonSchema): FieldTree {
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
function formatFieldTree(tree: FieldTree): string {
  return listPaths(tree).sort().join(",");
}

function listPaths(tree: FieldTree): string[] {
  return [...tree].flatMap(([name, inner]) =>
    inner === null ? [name] : listPaths(inner).map((path) => `${name}.${path}`),
  );
}

/** Keeps the order of the value; a field that it lacks stays absent. */
function selectFields(value: unknown, tree: FieldTree): unknown {
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

/** Most bytes of the JSON of an overview in UTF-8, for every wallet. */
export const OVERVIEW_BYTES_MAX = 2_048;

/** Adds entries to a list of the body until the next one would make the body too large. */
export function fillList<Entry>(
  body: unknown,
  list: Entry[],
  entries: readonly Entry[],
  bytesMax: number = OVERVIEW_BYTES_MAX,
): void {
  for (const entry of entries) {
    list.push(entry);
    if (Buffer.byteLength(JSON.stringify(body)) <= bytesMax) continue;
    list.pop();
    return;
  }
}

// Most bytes of a text in JSON. Anyone can choose the name of a token.
const NAME_BYTES_MAX = 40;
const WARNING_BYTES_MAX = 240;

export function cutName(text: string | null): string | null {
  return text === null ? null : cutText(text, NAME_BYTES_MAX);
}

export function cutWarning(text: string): string {
  return cutText(text, WARNING_BYTES_MAX);
}

/** The text, or its beginning with …, in at most so many bytes of JSON without the quotes. */
function cutText(text: string, bytesMax: number): string {
  const bytes = (part: string) => Buffer.byteLength(JSON.stringify(part)) - 2;
  if (text.length <= bytesMax && bytes(text) <= bytesMax) return text;
  const end = "…";
  let room = bytesMax - bytes(end);
  let kept = "";
  for (const character of text) {
    room -= bytes(character);
    if (room < 0) break;
    kept += character;
  }
  return kept + end;
}

export function pickFields<Fields extends object, Name extends keyof Fields>(
  record: Fields,
  names: readonly Name[],
): Pick<Fields, NoInfer<Name>> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<Fields, Name>;
}
