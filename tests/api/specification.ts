// The specification of the indexing API as data: endpoints, records and errors, parsed from its tables.
import { readFileSync } from "node:fs";

type SpecifiedEndpoint = {
  readonly section: string;
  readonly method: string;
  /** With `{name}` for a parameter, as OpenAPI writes it. */
  readonly path: string;
  readonly query: readonly string[];
  readonly body: readonly string[];
  /** 201 if the page says so, otherwise null. */
  readonly created: boolean;
  /** Keys of the response if the page gives them as `{a: …, b}`. */
  readonly responseKeys: readonly string[];
};

type SpecifiedError = {
  readonly status: string;
  readonly endpoints: readonly string[];
  readonly condition: string;
};

export type Specification = {
  readonly endpoints: readonly SpecifiedEndpoint[];
  /** Fields and their types, by the heading above the table. */
  readonly records: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly errors: readonly SpecifiedError[];
  /** The prose below a heading. */
  section(heading: string): string;
  /** Names in the sentence that begins with these words. */
  named(heading: string, beginning: string): readonly string[];
};

export function readSpecification(path = "docs/specification/indexing-api.md"): Specification {
  const sections = split(readFileSync(path, "utf8"));
  const section = (heading: string): string => {
    const found = sections.find((each) => each.heading === heading);
    if (!found) throw new Error(`the specification has no section ${heading}`);
    return found.text;
  };
  const named = (heading: string, beginning: string): readonly string[] => {
    const text = section(heading);
    const start = text.indexOf(beginning);
    if (start < 0) throw new Error(`the section ${heading} does not say: ${beginning}`);
    const rest = text.slice(start + beginning.length);
    return namesIn(rest.slice(0, rest.search(/\.(\s|$)/)));
  };
  return {
    section,
    named,
    endpoints: sections.flatMap(({ heading, text }) =>
      tableRowsOf(text).flatMap((row) => {
        const { cells } = row;
        const [method = "", target = "", ...notes] = cells;
        if (!/^(GET|POST|PUT)$/.test(method)) return [];
        return [endpoint(heading, method, target, notes.join(" | "), /query/i.test(row.header[2] ?? ""))];
      }),
    ),
    records: Object.fromEntries(
      sections.flatMap(({ heading, text }) => {
        const fields = tableRowsOf(text)
          .filter(({ header }) => header[0] === "Field")
          .flatMap(({ cells: [names = "", type = ""] }) => names.split(", ").map((name) => [name, type]));
        return fields.length > 0 ? [[heading, Object.fromEntries(fields)]] : [];
      }),
    ),
    errors: errorsIn(section("7. Errors")),
  };
}

function split(page: string): { heading: string; text: string }[] {
  return page
    .split(/^##+ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { heading: part.slice(0, end).trim(), text: part.slice(end + 1) };
    });
}

type Row = { readonly header: readonly string[]; readonly cells: readonly string[] };

export function tableRowsOf(text: string): Row[] {
  const rows: Row[] = [];
  let header: readonly string[] = [];
  let inTable = false;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      inTable = false;
      continue;
    }
    // A bar inside a cell is escaped with a backslash.
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
    if (/^\|[-|]+\|$/.test(line)) continue;
    // One table has a single row without a header; a row that begins with a method is not a header.
    if (!inTable && !/^(GET|POST|PUT)$/.test(cells[0] ?? "")) header = cells;
    else rows.push({ header: inTable ? header : [], cells });
    inTable = true;
  }
  return rows;
}

function endpoint(
  section: string,
  method: string,
  target: string,
  notes: string,
  isQueryTable: boolean,
): SpecifiedEndpoint {
  const query = /query: ([^|]*)/.exec(notes)?.[1] ?? (isQueryTable ? notes : "");
  const body = /JSON body(?: with optional|:) ([^;|]*)/.exec(notes)?.[1] ?? "";
  const keys = /`\{([^}]*)\}`/.exec(notes)?.[1] ?? "";
  return {
    section,
    method,
    path: target.replace(/:(\w+)/g, "{$1}"),
    query: namesIn(query),
    body: namesIn(body),
    created: /\b201\b/.test(notes),
    responseKeys: keys
      .split(",")
      .map((key) => key.split(":")[0]?.trim() ?? "")
      .filter((key) => key !== ""),
  };
}

/** Words that name a field: lower case, alone between commas, whatever is explained in parentheses. */
function namesIn(text: string): string[] {
  return text
    .replace(/\([^)]*\)/g, "")
    .split(/[,;]| and /)
    .map((part) => part.trim())
    .filter((part) => /^[a-z][a-z0-9_]*$/.test(part) && part !== "none");
}

function errorsIn(text: string): SpecifiedError[] {
  let before: readonly string[] = [];
  return tableRowsOf(text).map(({ cells: [status = "", places = "", condition = ""] }) => {
    const endpoints = places.startsWith("same") ? before : places.split(", ");
    before = endpoints;
    return { status, endpoints, condition };
  });
}
