// Operations of an API as OpenAPI describes them, and their parameters: how they are parsed and described.
import { parseUint, UINT256_MAX } from "../lib/decimal.ts";
import { Fault } from "../lib/fault.ts";
import { type Hex, parseAddress, parseHash } from "../lib/hex.ts";
import type { JsonSchema } from "./json-schema.ts";

export type ParameterKind<T> = {
  readonly json: JsonSchema;
  /** The form that tools take, if the route redirects other forms to the one of `json`. */
  readonly toolJson?: JsonSchema;
  /** The value, or a Fault that names the parameter. */
  readonly parse: (text: string, name: string) => T;
};

/** Parsed parameters by name. */
export type ParameterValues<T = unknown> = Readonly<Record<string, T | undefined>>;

export type Parameter<T = unknown, Name extends string = string, Required extends boolean = boolean> = {
  readonly name: Name;
  /** A header is only described here: the endpoint that needs it parses it itself. */
  readonly in: "path" | "query" | "header";
  readonly required: Required;
  readonly kind: ParameterKind<T>;
  readonly description: string;
  /** A value for the description, if it is the same for every operation and every run. */
  readonly example?: unknown;
};

type ParameterOf<Parameters extends readonly Parameter[], Required> = Extract<
  Exclude<Parameters[number], { readonly in: "header" }>,
  { readonly required: Required }
>;

/** The values of parameters by their names, with the types that their kinds parse; also of names known at run time only. */
export type ValuesOf<Parameters extends readonly Parameter[]> = (string extends Parameters[number]["name"]
  ? ParameterValues<ReturnType<Parameters[number]["kind"]["parse"]>>
  : unknown) & {
  readonly [One in ParameterOf<Parameters, true> as One["name"]]: ReturnType<One["kind"]["parse"]>;
} & {
  readonly [One in ParameterOf<Parameters, false> as One["name"]]?: ReturnType<One["kind"]["parse"]>;
};

/** The texts of an operation. */
export type OperationTexts = {
  readonly operationId: string;
  readonly summary: string;
  /** Details that the summary leaves out, in a sentence or two. */
  readonly description: string;
  readonly tag: string;
};

export type Operation<T = unknown> = OperationTexts & {
  readonly path: string;
  readonly parameters: readonly Parameter<T>[];
};

export function textsOf({ operationId, summary, description, tag }: OperationTexts): OperationTexts {
  return { operationId, summary, description, tag };
}

/** A parameter of the query, which a request may leave out. */
export function queryParameter<T, const Name extends string>(
  name: Name,
  kind: ParameterKind<T>,
  description: string,
  example?: unknown,
): Parameter<T, Name, false> {
  return { name, in: "query", required: false, kind, description, example };
}

/** A parameter of the query, without which a request is rejected. */
export function requiredParameter<T, const Name extends string>(
  name: Name,
  kind: ParameterKind<T>,
  description: string,
  example?: unknown,
): Parameter<T, Name, true> {
  return { name, in: "query", required: true, kind, description, example };
}

export function pathParameter<T, const Name extends string>(
  name: Name,
  kind: ParameterKind<T>,
  description: string,
  example?: unknown,
): Parameter<T, Name, true> {
  return { name, in: "path", required: true, kind, description, example };
}

export const addressParameter: ParameterKind<Hex> = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  parse: parseAddress,
};

/** Parameters, and what their values mean together. */
export type Query<Meaning> = {
  readonly parameters: readonly Parameter[];
  /** Takes values that the router has parsed with `parameters`; throws INPUT_INVALID. */
  parse(values: ParameterValues): Meaning;
};

/** A query whose `parse` gets values with the types of its parameters. */
export function defineQuery<const Parameters extends readonly Parameter[], Meaning>(
  parameters: Parameters,
  parse: (values: ValuesOf<Parameters>) => Meaning,
): Query<Meaning> {
  // The router has parsed each value by its kind, and has rejected a request without a required one.
  return { parameters, parse: parse as Query<Meaning>["parse"] };
}

/** The same kind, with the value that a request without the parameter has. */
export function withDefault<T>(kind: ParameterKind<T>, value: T & string): ParameterKind<T> {
  return { ...kind, json: { ...kind.json, default: value } };
}

/** Two addresses with a dash between them, such as the tokens of a swap. */
export const addressPairParameter: ParameterKind<string> = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{40}-0x[0-9a-fA-F]{40}$" },
  parse: (text, name) => {
    const [first, second, ...others] = text.split("-");
    if (second === undefined || others.length > 0)
      throw new Fault("INPUT_INVALID", `${name} must be two addresses with a dash between them.`);
    return `${parseAddress(first, name)}-${parseAddress(second, name)}`;
  },
};

export const hashParameter: ParameterKind<Hex> = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  parse: parseHash,
};

/** An id or another whole number, as decimal text, which PostgreSQL and JSON carry without loss. */
export function uintParameter(max: bigint = UINT256_MAX): ParameterKind<string> {
  return {
    json: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
    parse: (text, name) => parseUint(text, name, max).toString(),
  };
}

export const boolParameter: ParameterKind<boolean> = {
  json: { type: "string", enum: ["true", "false"] },
  // Models write booleans as such; the text is what a URL has.
  toolJson: { anyOf: [{ type: "boolean" }, { type: "string", enum: ["true", "false"] }] },
  parse: (text, name) => {
    if (text !== "true" && text !== "false")
      throw new Fault("INPUT_INVALID", `${name} must be true or false.`);
    return text === "true";
  },
};

/** One of the words, in any letter case; the value is the word as listed. */
export function enumParameter<const T extends string>(words: readonly T[]): ParameterKind<T> {
  return {
    json: { type: "string", enum: words },
    parse: (text, name) => {
      const word = words.find((candidate) => candidate === text.toLowerCase());
      if (word === undefined) throw new Fault("INPUT_INVALID", `${name} must be one of ${words.join(", ")}.`);
      return word;
    },
  };
}

/** One of a few small numbers, as responses have them; the value is its decimal text. */
export function integerEnumParameter(numbers: readonly number[]): ParameterKind<string> {
  const { parse } = enumParameter(numbers.map(String));
  return { json: { type: "integer", enum: numbers }, parse };
}
