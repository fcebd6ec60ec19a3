// Requests and responses as sections of docs/api.md: one per route, in the order of the OpenAPI document.
import type { OpenApiDocument, OpenApiOperation } from "../../src/http/openapi/document.ts";
import { formatSchemaType } from "../../src/http/openapi/schema-text.ts";
import type { JsonSchema } from "../../src/schema/column.ts";
import type { ApiExample } from "./sample-requests.ts";

// Enough to see the shape of a list.
const ELEMENTS_SHOWN = 2;
const LINES_SHOWN = 6;

export function exampleSections(
  document: OpenApiDocument,
  samples: readonly ApiExample[],
  url: string,
): string {
  const parts = document.tags.map(({ name }) => {
    const sections = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => section(method.toUpperCase(), path, operation, samples, url)),
    );
    return `## ${name}\n\n${sections.join("\n")}`;
  });
  return parts.join("\n");
}

/** The routes whose summary or parameters a page shows otherwise than the document has them, or not at all. */
export function findStaleApiSections({ paths }: OpenApiDocument, page: string): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, operation]) => ({ method: method.toUpperCase(), operation }))
      .filter(({ method, operation }) => !page.includes(sectionHead(method, path, operation)))
      .map(({ method }) => `${method} ${path}`),
  );
}

function section(
  method: string,
  path: string,
  operation: OpenApiOperation,
  samples: readonly ApiExample[],
  url: string,
): string {
  const sample = samples.find((each) => each.method === method && each.path === path);
  if (!sample) throw new Error(`no example for ${method} ${path}`);
  return [
    sectionHead(method, path, operation),
    command(sample, url),
    "```",
    "",
    `\`${sample.response.status}\``,
    "",
    ...shown(sample.response.body),
    "",
  ].join("\n");
}

/** Until the request. */
function sectionHead(method: string, path: string, { summary, parameters }: OpenApiOperation): string {
  const rows = parameters.map(
    ({ name, required, description, schema }) =>
      `| \`${name}\` | ${formatSchemaType(schema as JsonSchema).replaceAll("|", "or")} | ${required ? "yes" : "no"} | ${description} |`,
  );
  const table =
    rows.length === 0 ? [] : ["| parameter | type | required | meaning |", "|---|---|---|---|", ...rows, ""];
  return [`### ${method} ${path}`, "", `${summary}.`, "", ...table, "```sh"].join("\n");
}

function command({ method, target, body }: ApiExample, url: string): string {
  if (method === "GET") return `curl '${url}${target}'`;
  if (body === undefined) return `curl -X ${method} '${url}${target}'`;
  // A quote inside single quotes of the shell.
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -X ${method} '${url}${target}' \\\n  -H 'content-type: application/json' \\\n  -d '${text}'`;
}

function shown(body: unknown): string[] {
  if (typeof body === "string") {
    const lines = body.split("\n");
    return ["```text", ...lines.slice(0, LINES_SHOWN), "…", "```"];
  }
  // The description itself would be longer than this page.
  if (typeof body === "object" && body !== null && "openapi" in body) {
    return ["```text", `${JSON.stringify(body).slice(0, 100)}…`, "```"];
  }
  return ["```json", JSON.stringify(shortened(body), null, 2), "```"];
}

/** With the first elements of every list. */
export function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ELEMENTS_SHOWN).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortened(part)]));
}
