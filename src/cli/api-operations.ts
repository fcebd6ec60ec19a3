// Operations of the API as the command line knows them: found by path, with their options, parameters and help.
import { Fault } from "../lib/fault.ts";
import { nearestName } from "../lib/nearest-name.ts";
import { PROGRAM } from "../lib/program.ts";
import type { ApiOperation, ApiParameter } from "./api-operation.ts";
import type { ApiOptions, CommandExtension, CommandOption } from "./command.ts";
import { API_OPERATIONS } from "./generated/api-description.ts";

type OptionTable = Readonly<Record<string, CommandOption>>;

export type OperationCall = {
  readonly operation: ApiOperation;
  /** The values of path, query and body, by the names of the API. */
  readonly parameters: Readonly<Record<string, string>>;
};

/** The iterator and `--limit` set these. */
const PAGING = new Set(["limit", "cursor"]);

const BLOCK_OPTIONS = {
  block: { type: "string", valueName: "N", description: "as of this block" },
  at: { type: "string", valueName: "TIME", description: "as of this time: 7d ago, or YYYY-MM-DDThh:mmZ" },
  "min-block": { type: "string", valueName: "N", description: "wait until this block is indexed" },
} as const satisfies OptionTable;

export function findOperation(id: string): ApiOperation {
  const operation = API_OPERATIONS.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`the API has no operation ${id}`);
  return operation;
}

/** Operations that a command takes by path. */
export function operationsFor(command: "get" | "list"): readonly ApiOperation[] {
  return API_OPERATIONS.filter(({ id, kind, parameters }) => {
    // Events are pages of one record, whose cursors go both ways: people list them all the same.
    if (command === "list") return kind === "list" || id === "readEvents";
    const hasBody = parameters.some((each) => each.in === "body");
    return (kind === "read" && !hasBody) || kind === "document";
  });
}

/** The operation whose path the operands are, such as `intents/15/bids` or `intents 15 bids`. */
export function matchPath(command: "get" | "list", operands: readonly string[]): OperationCall {
  const hint = `run \`${PROGRAM} ${command} --help\` to list what there is.`;
  const operand = operands.join("/");
  if (operand === "") throw new Fault("USAGE_INVALID", `Name what to ${command}; ${hint}`);
  if (/[?#]/.test(operand)) {
    throw new Fault("USAGE_INVALID", `Pass filters as options, such as --status open; ${hint}`);
  }
  const operations = operationsFor(command);
  const found = bestMatch(operations, operand) ?? bestMatch(operations, toPlural(operand));
  if (found !== null) return found;
  const other = command === "get" ? "list" : "get";
  if (bestMatch(operationsFor(other), operand) !== null) {
    const what = other === "list" ? "a list" : "not a list";
    throw new Fault("USAGE_INVALID", `${operand} is ${what}; run \`${PROGRAM} ${other} ${operand}\`.`);
  }
  const nearest = suggestPath(command, operand);
  const advice = nearest === null ? hint : `did you mean ${nearest}? Or ${hint}`;
  throw new Fault("USAGE_INVALID", `The API has no ${operand}; ${advice}`);
}

/** The path with each word corrected; or the one that has the word in it, such as that of an intent's bids. */
function suggestPath(command: "get" | "list", operand: string): string | null {
  const other = command === "get" ? "list" : "get";
  const words = new Set(API_OPERATIONS.flatMap(segmentsOf).filter((each) => !each.startsWith("{")));
  const given = splitPath(operand).map((typed) => correctWord(typed, words));
  for (const each of [command, other] as const) {
    const operations = operationsFor(each);
    const corrected = given.join("/");
    const alike = operations.find((operation) => given.every((word) => segmentsOf(operation).includes(word)));
    const example = alike && `\`${PROGRAM} ${each} ${fillPath(alike)}\``;
    if (bestMatch(operations, corrected) !== null) return `\`${PROGRAM} ${each} ${corrected}\``;
    if (alike) return `${showPath(alike)}, such as ${example}`;
  }
  return null;
}

/** A word of the API: in the plural, as its paths have it, or the nearest one. */
function correctWord(typed: string, words: ReadonlySet<string>): string {
  const plural = pluralOf(typed);
  if (words.has(typed) || !/^[a-z-]+$/i.test(typed)) return typed;
  return words.has(plural) ? plural : (nearestName(typed.toLowerCase(), words) ?? typed);
}

const pluralOf = (word: string) => word.replace(/y$/, "ie").replace(/s?$/, "s");

/** `intent 1` means intents/1. */
function toPlural(operand: string): string {
  const [kind = "", ...rest] = splitPath(operand);
  return [pluralOf(kind), ...rest].join("/");
}

/** Chooses the path with the fewest parameters if several match: `attestations/schemas` is not an attestation. */
function bestMatch(operations: readonly ApiOperation[], operand: string): OperationCall | null {
  const given = splitPath(operand);
  const matches = operations.flatMap((operation) => {
    const parameters = matchSegments(segmentsOf(operation), given);
    return parameters === null ? [] : [{ operation, parameters }];
  });
  const count = ({ parameters }: OperationCall) => Object.keys(parameters).length;
  return matches.sort((a, b) => count(a) - count(b))[0] ?? null;
}

function matchSegments(
  template: readonly string[],
  given: readonly string[],
): Readonly<Record<string, string>> | null {
  if (template.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of template.entries()) {
    const text = given[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined && text !== "") parameters[name] = text;
    else if (segment !== text) return null;
  }
  return parameters;
}

function splitPath(operand: string): readonly string[] {
  return operand.replace(/^\/+|\/+$/g, "").split("/");
}

function segmentsOf({ path }: ApiOperation): readonly string[] {
  return path.slice(1).split("/");
}

/** Query and body of the operation from the filters of a command, which may be those of another operation. */
export function readArguments(
  operation: ApiOperation,
  filters: ApiOptions,
): Readonly<Record<string, string>> {
  const named = optionParameters(operation);
  const known = new Set([...named.map(({ name }) => toOptionName(name)), ...blockOptionNames(operation)]);
  const stray = Object.keys(filters).find((name) => filters[name] !== undefined && !known.has(name));
  if (stray !== undefined) {
    const allowed =
      known.size === 0 ? "it has none" : `it has ${[...known].map((each) => `--${each}`).join(", ")}`;
    throw new Fault("USAGE_INVALID", `${operation.path.slice(1)} has no option --${stray}; ${allowed}.`);
  }
  return Object.fromEntries(
    named.flatMap((parameter) => {
      const value = filters[toOptionName(parameter.name)];
      if (value !== undefined) return [[parameter.name, checkValue(parameter, value)]];
      if (!parameter.required) return [];
      const { kind } = operation;
      const command = kind === "list" ? "list" : "get";
      const isPath = operationsFor(command).includes(operation);
      // One of several values is enough.
      const call = exampleOf(operation).replace(/,\S+/, "");
      const example = isPath ? ` For example: \`${PROGRAM} ${command} ${call}\`` : "";
      throw new Fault(
        "USAGE_INVALID",
        `--${toOptionName(parameter.name)} is required: ${parameter.description}${example}`,
      );
    }),
  );
}

/** The list of all records in place of an owner's, if the API has one and no owner is given. */
export function widenList(call: OperationCall, filters: ApiOptions): OperationCall {
  const isComplete = call.operation.parameters.every(
    ({ name, required, in: place }) =>
      place === "path" || !required || filters[toOptionName(name)] !== undefined,
  );
  const all = isComplete ? undefined : findDirectory(call.operation);
  return all === undefined ? call : { ...call, operation: all };
}

function findDirectory({ path }: ApiOperation): ApiOperation | undefined {
  return API_OPERATIONS.find((each) => each.path === `/directory${path}`);
}

function checkValue({ name, values }: ApiParameter, value: string): string {
  if (values === null || values.some((each) => each.toLowerCase() === value.toLowerCase())) return value;
  throw new Fault(
    "USAGE_INVALID",
    `--${toOptionName(name)} must be one of ${values.join(", ")}, not "${value}".`,
  );
}

function optionsOf(operation: ApiOperation): Record<string, CommandOption> {
  const named = optionParameters(operation).map(({ name, values, type, required, description }) => {
    const need = findDirectory(operation) ? " (without it: all of them)" : " (required)";
    const option: CommandOption = {
      type: "string",
      valueName: values === null ? (type === "integer" ? "N" : "VALUE") : listValues(values),
      description: `${toClause(description)}${required ? need : ""}`,
    };
    return [toOptionName(name), option] as const;
  });
  const blocks = blockOptionNames(operation).map((name) => [name, BLOCK_OPTIONS[name]] as const);
  return Object.fromEntries([...named, ...blocks]);
}

/** Without the combinations of several: commas may join them. */
function listValues(values: readonly string[]): string {
  return [...new Set(values.flatMap((each) => each.split(",")))].join("|");
}

/** Help of options has no capitals and no full stops; names in capitals stay. */
function toClause(description: string): string {
  return description.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

function optionParameters({ parameters }: ApiOperation): readonly ApiParameter[] {
  return parameters.filter((each) => (each.in === "query" || each.in === "body") && !PAGING.has(each.name));
}

function blockOptionNames({ takesBlock, takesMinBlock }: ApiOperation): (keyof typeof BLOCK_OPTIONS)[] {
  return [
    ...(takesBlock ? (["block", "at"] as const) : []),
    ...(takesMinBlock ? (["min-block"] as const) : []),
  ];
}

/** Options of the shell have dashes. */
function toOptionName(name: string): string {
  return name.replaceAll("_", "-");
}

/** Options and help of a command that takes paths. */
export function extendByPath(command: "get" | "list"): CommandExtension {
  const operations = operationsFor(command);
  return {
    operands: [...new Set(operations.map(({ path }) => path.slice(1).replace(/\{.*/, "")))],
    options: mergeOptions(operations.map(optionsOf)),
    describe(given) {
      if (given.length === 0) return { text: describeIndex(command, operations), options: {} };
      const { operation } = matchPath(command, given);
      return {
        text: [describeOperation(operation)],
        options: optionsOf(operation),
        examples: [`${command} ${exampleOf(operation)}`],
      };
    },
  };
}

/** Lists often share the name of a filter and not its values: a shell completes all of them. */
function mergeOptions(tables: readonly OptionTable[]): OptionTable {
  const merged: Record<string, CommandOption> = {};
  for (const [name, option] of tables.flatMap(Object.entries<CommandOption>)) {
    const values = [merged[name]?.valueName, option.valueName].flatMap((each) => each?.split("|") ?? []);
    merged[name] = { ...option, valueName: [...new Set(values)].join("|") };
  }
  return merged;
}

/**
 * The same for a command of one operation; its operand, or what it does not take, is excluded. The command may describe
 * an option in its own words.
 */
export function extendByOperation(
  id: string,
  excluded: string | null,
  descriptions: Readonly<Record<string, string>> = {},
): CommandExtension {
  const { [excluded ?? ""]: _, ...options } = optionsOf(findOperation(id));
  for (const [name, option] of Object.entries(options)) {
    options[name] = { ...option, description: descriptions[name] ?? option.description };
  }
  return { options, describe: () => ({ text: [], options }) };
}

function describeIndex(
  command: string,
  operations: readonly ApiOperation[],
): ReturnType<CommandExtension["describe"]>["text"] {
  const pairs = operations.map((each) => [showPath(each), each.summary] as const);
  const example = operations.find(({ parameters }) => parameters.some(({ required }) => required));
  return [
    pairs,
    `Name one for its options: ${PROGRAM} help ${command} ${example === undefined ? "" : fillPath(example)}`,
  ];
}

function describeOperation(operation: ApiOperation): string {
  const { summary, description } = operation;
  return `${showPath(operation)}: ${summary}.${description === "" ? "" : ` ${description}`}`;
}

/** The parameters of the API's example; a list without required filters is shown with one of the others. */
function exampleOf(operation: ApiOperation): string {
  const named = optionParameters(operation).filter(({ example }) => example !== null);
  const required = named.filter((each) => each.required);
  const filter = named.find(({ name }) => name !== "include");
  const shown = required.length > 0 || filter === undefined ? required : [filter];
  const options = shown.map(({ name, example }) => ` --${toOptionName(name)} ${String(example)}`);
  return `${fillPath(operation)}${options.join("")}`;
}

function showPath({ path }: ApiOperation): string {
  return path.slice(1).replace(/\{(\w+)\}/g, (_, name: string) => toPlaceholder(name));
}

/** `agentId` is AGENT_ID. */
function toPlaceholder(name: string): string {
  return name.replace(/[A-Z]/g, "_$&").toUpperCase();
}

/** Puts the examples of the API in place of its parameters. */
function fillPath({ path, parameters }: ApiOperation): string {
  return path.slice(1).replace(/\{(\w+)\}/g, (_, name: string) => {
    return String(parameters.find((each) => each.name === name)?.example ?? toPlaceholder(name));
  });
}
