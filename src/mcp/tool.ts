// A tool is one of our routes, or one of several that an argument selects: inputs, texts and output come from the routes.
import { isJsonObject } from "../lib/json.ts";
import { FOREIGN_TEXT, type JsonSchema } from "../schema/json-schema.ts";
import {
  buildInputSchema,
  buildListedSchema,
  findArgumentProblem,
  formatArguments,
  isGiven,
  offeredParameters,
  type SelectableRoute,
} from "./arguments.ts";
import type { ListedTool } from "./listed-tool.ts";
import type { ToolArguments, ToolDeclaration, ToolRoute } from "./tool-declaration.ts";
import { describeType } from "./type-text.ts";

export type ServiceRequest = {
  readonly method: "GET" | "POST" | "PUT";
  /** Path and query. */
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>> | null;
  /** The route by its name in OpenAPI, and what is in the URL by the names of its parameters. */
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string>>;
};

export type Tool = ListedTool & {
  /** Everything that a model may want to know before it calls: the description in full, arguments, and data of the result. */
  readonly details: string;
  /** The data of its results, by `kind` if one of several routes responds; empty if the data is text. */
  readonly dataSchemas: ReadonlyMap<string | null, JsonSchema>;
  readonly isText: boolean;
  /** The fields of its result that hold texts of others, sorted. */
  readonly foreignText: readonly string[];
  /** Says what is wrong with the arguments, and what is allowed; null for none. */
  findProblem(args: ToolArguments): string | null;
  toRequest(args: ToolArguments): ServiceRequest;
};

/** Routes that only compute, although they take a body. */
const COMPUTING: ReadonlySet<string> = new Set(["POST /preflight", "POST /simulate"]);

/** Throws for a route that does not exist: a tool cannot outlive it. Call it once, at start. */
export function createTool(declaration: ToolDeclaration, routes: readonly ToolRoute[]): Tool {
  const {
    name,
    title,
    purpose,
    isText = false,
    aliases = {},
    defaults = {},
    hints = {},
    price,
  } = declaration;
  const selectable = listRoutes(declaration, routes);
  const described = [...new Set(selectable.map(({ route }) => route.description))].join(" ");
  const inputSchema = buildInputSchema(selectable, { isText, defaults });
  const dataSchemas = new Map(
    isText ? [] : selectable.map(({ kind, route }) => [kind, route.responses[200]?.schema ?? {}]),
  );
  return {
    name,
    title,
    ...(price && { price }),
    description: [purpose, price?.sentence].filter(Boolean).join(" "),
    details: [
      [purpose, described, price?.sentence, price?.details].filter(Boolean).join(" "),
      ...formatArguments(inputSchema),
      ...formatData(dataSchemas),
    ].join("\n"),
    listedSchema: buildListedSchema(inputSchema, { defaults, hints }),
    dataSchemas,
    isText,
    foreignText: isText ? ["data"] : listForeignText(selectable),
    isReadOnly: selectable.every(
      ({ route }) => route.method === "GET" || COMPUTING.has(`${route.method} ${route.path}`),
    ),
    findProblem: (args) => findArgumentProblem(selectable, renameArguments(args, aliases), isText),
    toRequest: (args) =>
      buildRequest(selectRoute(selectable, args), { ...defaults, ...renameArguments(args, aliases) }),
  };
}

/** An alias of an argument that is given itself stays as it is: the tool then says that it does not take both. */
function renameArguments(
  args: ToolArguments,
  aliases: NonNullable<ToolDeclaration["aliases"]>,
): ToolArguments {
  const renamed: Record<string, unknown> = { ...args };
  for (const [alias, name] of Object.entries(aliases)) {
    if (!isGiven(args[alias]) || isGiven(args[name])) continue;
    renamed[name] = args[alias];
    delete renamed[alias];
  }
  return renamed;
}

function listRoutes(
  { name, routes: declared }: ToolDeclaration,
  routes: readonly ToolRoute[],
): readonly SelectableRoute[] {
  const find = (text: string): ToolRoute => {
    const found = routes.find(({ method, path }) => `${method} ${path}` === text);
    if (!found) throw new TypeError(`The tool ${name} names ${text}, which is not a route.`);
    return found;
  };
  if (typeof declared === "string") return [{ kind: null, route: find(declared) }];
  return Object.entries(declared).map(([kind, text]) => ({ kind, route: find(text) }));
}

function selectRoute(selectable: readonly SelectableRoute[], { kind }: ToolArguments): ToolRoute {
  const found = selectable.find((each) => each.kind === null || each.kind === kind) ?? selectable[0];
  if (found === undefined) throw new TypeError("A tool has a route.");
  return found.route;
}

/** Without those of the largest results, which are in the OpenAPI document only. */
function formatData(schemas: Tool["dataSchemas"]): readonly string[] {
  const lines = [...schemas].map(
    ([kind, schema]) => `data${kind === null ? "" : ` of ${kind}`}: ${describeType(schema)}`,
  );
  return lines.join("").length <= DATA_LENGTH_MAX ? lines : [];
}

// Half of the longest result.
const DATA_LENGTH_MAX = 7_500;

/** Finds them by the mark of their schemas. */
function listForeignText(selectable: readonly SelectableRoute[]): readonly string[] {
  const names = new Set<string>();
  const search = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === "properties" && isJsonObject(each)) {
        for (const [name, schema] of Object.entries(each)) if (isForeignText(schema)) names.add(name);
      }
      search(each);
    }
  };
  for (const { route } of selectable) search(route.responses[200]?.schema);
  return [...names].sort();
}

function isForeignText(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  return schema[FOREIGN_TEXT] === true || (Array.isArray(schema.anyOf) && schema.anyOf.some(isForeignText));
}

function buildRequest(route: ToolRoute, args: ToolArguments): ServiceRequest {
  const offered = offeredParameters(route).filter(({ name }) => isGiven(args[name]));
  const parameters = Object.fromEntries(offered.map(({ name }) => [name, String(args[name])]));
  let path = route.path;
  const query = new URLSearchParams();
  for (const { name, in: location } of offered) {
    const text = parameters[name] ?? "";
    if (location === "path") path = path.replace(`:${name}`, encodeURIComponent(text));
    else query.append(name, text);
  }
  const body = Object.fromEntries(
    Object.entries(route.body?.properties ?? {}).flatMap(([key, { type }]) => {
      const value = type === "string" && typeof args[key] === "number" ? String(args[key]) : args[key];
      return isGiven(value) ? [[key, value]] : [];
    }),
  );
  return {
    method: route.method,
    url: query.size > 0 ? `${path}?${query}` : path,
    body: route.body === null ? null : body,
    operation: route.operationId,
    parameters,
  };
}
