// Every log line names its component and event and has a constant message; the page lists errors.
import ts from "typescript";
import { isCode, lineAt, type Repository, type RepositoryRule, type Violation } from "../repository.ts";

export const LOG_PAGE = "docs/operations.md";
const START = "<!-- generated: log events, by npm run docs:logs -->";
const END = "<!-- end: log events -->";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];
// Walking every file would take a second.
const MAY_LOG = /[lL]og(ger)?\s*(\??\.\s*(trace|debug|info|warn|error|fatal|child)\b|(\?\.)?\[)/;
const EVENT = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

type LogLine = {
  readonly file: string;
  readonly line: number;
  readonly level: string;
  readonly component: string;
  readonly event: string;
  readonly message: string;
};
type Found = { readonly lines: readonly LogLine[]; readonly violations: readonly Violation[] };

export const logLines: RepositoryRule = (repository) => {
  const { lines, violations } = findLogLines(repository);
  return [...violations, ...findSecondMessages(lines), ...findStalePage(repository, lines)];
};

/** The page with its list made again. */
export function renewLogPage(repository: Repository): string {
  return replaceList(repository.text(LOG_PAGE), findLogLines(repository).lines);
}

function replaceList(text: string, lines: readonly LogLine[]): string {
  const [from, to] = [text.indexOf(START), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${LOG_PAGE} lacks ${START} … ${END}`);
  return `${text.slice(0, from + START.length)}\n\n${formatList(lines)}\n\n${text.slice(to)}`;
}

/** An alert looks for these; the messages of all other lines explain themselves. */
const LISTED_LEVELS = ["error", "fatal"];

function formatList(lines: readonly LogLine[]): string {
  const events = new Map<string, LogLine[]>();
  for (const each of lines.filter(({ level }) => LISTED_LEVELS.includes(level))) {
    const key = `${each.component} ${each.event}`;
    events.set(key, [...(events.get(key) ?? []), each]);
  }
  return [...events]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, same]) => {
      const [first] = same;
      const levels = LISTED_LEVELS.filter((level) => same.some((each) => each.level === level));
      return `- ${first?.component} \`${first?.event}\` (${levels.join(", ")}): ${first?.message}`;
    })
    .join("\n");
}

function findStalePage(repository: Repository, lines: readonly LogLine[]): Violation[] {
  if (!repository.has(LOG_PAGE)) return [];
  const text = repository.text(LOG_PAGE);
  if (text.includes(START) && replaceList(text, lines) === text) return [];
  const line = text.slice(0, Math.max(0, text.indexOf(START))).split("\n").length;
  return [{ file: LOG_PAGE, line, message: "does not list the log events; run `npm run docs:logs`" }];
}

/** An event that alerts look for says one thing. */
function findSecondMessages(lines: readonly LogLine[]): Violation[] {
  const messages = new Map<string, string>();
  return lines.flatMap(({ file, line, component, event, message }) => {
    const known = messages.get(`${component} ${event}`) ?? message;
    messages.set(`${component} ${event}`, known);
    if (known === message) return [];
    return [{ file, line, message: `logs ${event} with another message than "${known}"` }];
  });
}

function findLogLines(repository: Repository): Found {
  const found = repository.files
    .filter((file) => isCode(file) && /^(src|packages)\//.test(file) && !/\.(test|bench)\.ts$/.test(file))
    .filter((file) => MAY_LOG.test(repository.text(file)))
    .map((file) => findInFile(file, repository.source(file)));
  return {
    lines: found.flatMap(({ lines }) => lines),
    violations: found.flatMap(({ violations }) => violations),
  };
}

function findInFile(file: string, source: ts.SourceFile): Found {
  const lines: LogLine[] = [];
  const violations: Violation[] = [];
  const visit = (node: ts.Node): void => {
    const result = readNode(node, file.split("/")[1] ?? "");
    if (result !== null) {
      const at = { file, line: lineAt(source, node.getStart()) };
      if (typeof result === "string") violations.push({ ...at, message: result });
      else lines.push({ ...at, ...result });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { lines, violations };
}

/** The log line of a node and its problems, or null if it does not log. The folder is the component. */
function readNode(node: ts.Node, folder: string): Omit<LogLine, "file" | "line"> | string | null {
  if (ts.isElementAccessExpression(node) && isLog(node.expression))
    return "must name the level that it logs at";
  if (!ts.isPropertyAccessExpression(node) || !isLog(node.expression)) return null;
  const level = node.name.text;
  const call = ts.isCallExpression(node.parent) && node.parent.expression === node ? node.parent : null;
  if (level === "child") return readChild(call);
  if (!LEVELS.includes(level)) return null;
  if (call === null) return "must call the log where the line is written";
  const [fields, message, ...rest] = call.arguments;
  if (!fields || !ts.isObjectLiteralExpression(fields))
    return "must log an object with component and event first";
  const [component, event] = [readField(fields, "component"), readField(fields, "event")];
  if (component !== folder) return `must log with component: "${folder}"`;
  if (event === null || !EVENT.test(event)) return "must log with an event in snake_case";
  if (!message || !ts.isStringLiteral(message) || rest.length > 0) {
    return "must log a constant message; what varies is a field";
  }
  return { level, component, event, message: message.text };
}

/** pino writes a field of a child and of its line, or of its own child, twice: invalid for strict JSON parsers. */
function readChild(call: ts.CallExpression | null): string | null {
  const [fields] = call?.arguments ?? [];
  if (!fields || !ts.isObjectLiteralExpression(fields)) return "must bind an object to a child log";
  const [component, event] = [readField(fields, "component"), readField(fields, "event")];
  // With both it is the log of a library, which writes lines without fields of ours.
  if ((component === null) === (event === null)) return null;
  return "must not bind component or event alone to a child log; each line names both";
}

/** `log`, `this.#log`, `options.log`, `benchLog`. */
function isLog(node: ts.Expression): boolean {
  const name = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : "";
  return /^#?(\w*L|l)og(ger)?$/.test(name);
}

function readField(fields: ts.ObjectLiteralExpression, name: string): string | null {
  for (const each of fields.properties) {
    if (ts.isPropertyAssignment(each) && each.name.getText() === name) {
      return ts.isStringLiteral(each.initializer) ? each.initializer.text : "";
    }
    if (ts.isShorthandPropertyAssignment(each) && each.name.text === name) return "";
  }
  return null;
}
