// The arguments of a tool: what its route takes, in short for the list of tools, in full on demand, and checked with advice.
import { Fault } from "../lib/fault.ts";
import { noteInvisible } from "../lib/foreign-text.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { Parameter } from "../schema/parameter.ts";
import type { ListedSchema } from "./listed-tool.ts";
import type { ToolArguments, ToolDeclaration, ToolRoute } from "./tool-declaration.ts";
import { describeType } from "./type-text.ts";

export type SelectableRoute = { readonly kind: string | null; readonly route: ToolRoute };

type SchemaOptions = Required<Pick<ToolDeclaration, "isText" | "defaults" | "hints">>;

// Parameters of no use to a model: other pages come by cursor, and the block by argument.
const OMITTED: ReadonlySet<string> = new Set(["offset", "include"]);

export function offeredParameters({ parameters }: ToolRoute): readonly Parameter[] {
  return parameters.filter(({ name, in: location }) => location !== "header" && !OMITTED.has(name));
}

/** Empty counts as absent: models fill in what they do not need. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Parameters of many routes in the words of tools, which know neither statuses nor the pagination of a route. */
const TEXTS: Readonly<Record<string, string>> = {
  limit: "Records per page, at most 100.",
  cursor: "cursor of the result before, to continue with the same other arguments.",
  min_block: "Wait until this block is indexed, such as the block of your transaction's receipt.",
};

/** The full schema, with the descriptions of the routes. */
export function buildInputSchema(
  selectable: readonly SelectableRoute[],
  { isText, defaults }: Omit<SchemaOptions, "hints">,
): JsonSchema {
  const kinds = selectable.flatMap(({ kind }) => kind ?? []);
  const properties: Record<string, JsonSchema> = {};
  if (kinds.length > 0) properties.kind = { type: "string", enum: kinds };
  for (const { route } of selectable) {
    for (const { name, kind, description } of offeredParameters(route)) {
      const json = acceptIntegers(kind.toolJson ?? kind.json);
      properties[name] ??= {
        ...json,
        ...(name in defaults && { default: defaults[name] }),
        description: TEXTS[name] ?? description,
      };
    }
    Object.assign(properties, route.body?.properties ?? {});
  }
  if (isText) properties.cursor = { type: "string", description: TEXTS.cursor };
  const [first, ...others] = selectable.map(({ route }) => requiredNames(route));
  const shared = (first ?? []).filter((name) => others.every((names) => names.includes(name)));
  const required = [...(kinds.length > 0 ? ["kind"] : []), ...shared];
  return { type: "object", properties, required: [...new Set(required)], additionalProperties: false };
}

/** The schema in the list of tools, which a model reads whether it needs the tool or not: types, words and hints. */
export function buildListedSchema(
  full: JsonSchema,
  { defaults, hints }: Omit<SchemaOptions, "isText">,
): ListedSchema {
  const listed = Object.entries(full.properties as Readonly<Record<string, JsonSchema>>).map(
    ([name, json]) => {
      const hint = hints[name];
      const words = Array.isArray(json.enum) ? { enum: json.enum } : {};
      const fallback = name in defaults && name !== "limit" ? { default: defaults[name] } : {};
      return [
        name,
        { type: listedType(name, json), ...words, ...fallback, ...(hint && { description: hint }) },
      ];
    },
  );
  const required = full.required as readonly string[];
  return { type: "object", properties: Object.fromEntries(listed), ...(required.length > 0 && { required }) };
}

/** A line for each argument. */
export function formatArguments({ properties, required }: JsonSchema): readonly string[] {
  const names = required as readonly string[];
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, json]) => {
    const isRequired = names.includes(name) ? ", required" : "";
    const fallback = json.default === undefined ? "" : `, default ${json.default}`;
    const type = describeType(json).replace("integer text | integer", "integer");
    return `${name}: ${type}${isRequired}${fallback}. ${json.description ?? ""}`.trimEnd();
  });
}

/** Numbers and booleans are accepted as text, too; the other form is for models, which write one of them. */
function listedType(name: string, { type, anyOf }: JsonSchema): string {
  if (name.endsWith("block") && Array.isArray(anyOf)) return "integer";
  if (typeof type === "string") return type;
  const [first] = Array.isArray(anyOf) ? (anyOf as readonly JsonSchema[]) : [];
  return typeof first?.type === "string" ? first.type : "string";
}

/** Models write ids as numbers; a number that JSON carries exactly is as good as its text. */
function acceptIntegers(json: JsonSchema): JsonSchema {
  const { pattern, type, ...rest } = json;
  if (type !== "string" || typeof pattern !== "string" || !pattern.startsWith("^(0|[1-9]")) return json;
  return {
    ...rest,
    anyOf: [
      { type: "string", pattern },
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ],
  };
}

function requiredNames(route: ToolRoute): readonly string[] {
  return [
    ...offeredParameters(route).flatMap(({ name, required }) => (required ? [name] : [])),
    ...((route.body?.required ?? []) as readonly string[]),
  ];
}

/** Says what is wrong and what is allowed; null for arguments that the route takes. It checks its body itself. */
export function findArgumentProblem(
  selectable: readonly SelectableRoute[],
  args: ToolArguments,
  isText: boolean,
): string | null {
  const kinds = selectable.flatMap(({ kind }) => kind ?? []);
  const selected = selectable.find(({ kind }) => kind === null || kind === args.kind);
  if (selected === undefined) return `kind must be one of ${kinds.join(", ")}.`;
  const { kind, route } = selected;
  const offered = new Map(offeredParameters(route).map((each) => [each.name, each]));
  const bodyNames = Object.keys(route.body?.properties ?? {});
  const known = new Set([...(kind === null ? [] : ["kind"]), ...offered.keys(), ...bodyNames]);
  if (isText) known.add("cursor");
  for (const [name, value] of Object.entries(args)) {
    if (!known.has(name)) {
      const whose = kind === null ? "The tool" : `The kind ${kind}`;
      const allowed = known.size === 0 ? "no arguments" : `only ${[...known].join(", ")}`;
      return `${whose} takes ${allowed}; not "${quoteName(name)}".`;
    }
    const parameter = offered.get(name);
    const problem = parameter && isGiven(value) ? findValueProblem(parameter, value) : null;
    if (problem !== null) return problem;
  }
  const missing = requiredNames(route).find((name) => !isGiven(args[name]));
  if (missing === undefined) return null;
  const inBodyAs = (route.body?.properties as Readonly<Record<string, JsonSchema>> | undefined)?.[missing];
  return `${missing} is required: ${offered.get(missing)?.description ?? inBodyAs?.description ?? ""}`;
}

function findValueProblem({ name, kind }: Parameter, value: unknown): string | null {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `${name} is too large for a number: write it as text.`;
  }
  if (!["string", "number", "boolean"].includes(typeof value)) return `${name} must be text or a number.`;
  const text = String(value);
  // Only the service knows its cursors.
  if (name === "cursor") return null;
  const pattern = kind.toolJson?.pattern;
  // Such as the name of a wallet, which the route redirects before it parses.
  if (typeof pattern === "string" && new RegExp(pattern).test(text)) return null;
  try {
    kind.parse(text, name);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}

// The caller's own text, which only has to be recognized.
const NAME_LENGTH_MAX = 40;

export function quoteName(name: string): string {
  return noteInvisible(name.slice(0, NAME_LENGTH_MAX));
}
