// One request per route for docs/api.md, by tag and in the order of the OpenAPI document.
import type { OpenApiDocument, OpenApiOperation } from "../../src/http/openapi/document.ts";
import type { ApiExample } from "./sample-requests.ts";

// Enough to see the shape of a list.
const ELEMENTS_SHOWN = 2;
/** The page describes these once for all routes. */
const COMMON_PARAMETERS = [
  "limit",
  "offset",
  "cursor",
  "block",
  "at",
  "include",
  "proof",
  "min_block",
  "x-min-block",
];

export function exampleSections(
  document: OpenApiDocument,
  samples: readonly ApiExample[],
  url: string,
): string {
  const parts = document.tags.map(({ name }) => {
    const requests = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => request(method.toUpperCase(), path, operation, samples, url)),
    );
    return `### ${name}\n\n\`\`\`sh\n${requests.join("\n\n")}\n\`\`\`\n`;
  });
  return parts.join("\n");
}

/** The routes whose summary or parameters a page shows otherwise than the document has them, or not at all. */
export function findStaleApiSections({ paths }: OpenApiDocument, page: string): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, operation]) => ({ method: method.toUpperCase(), operation }))
      .filter(({ method, operation }) => !page.includes(`\n${requestHead(method, path, operation)}\n`))
      .map(({ method }) => `${method} ${path}`),
  );
}

function request(
  method: string,
  path: string,
  operation: OpenApiOperation,
  samples: readonly ApiExample[],
  url: string,
): string {
  const sample = samples.find((each) => each.method === method && each.path === path);
  if (!sample) throw new Error(`no example for ${method} ${path}`);
  return `${requestHead(method, path, operation)}\n${command(sample, url)}`;
}

/** A comment of the shell: the route, what it does, and parameters of its own. */
function requestHead(method: string, path: string, { summary, parameters }: OpenApiOperation): string {
  const own = parameters
    .filter(({ name }) => !COMMON_PARAMETERS.includes(String(name)) && !path.includes(`{${name}}`))
    .map(({ name, required }) => `${name}${required ? " (required)" : ""}`);
  const takes = own.length === 0 ? "" : ` Takes ${own.join(", ")}.`;
  return `# ${method} ${path}: ${summary}.${takes}`;
}

function command({ method, target, body }: ApiExample, url: string): string {
  if (method === "GET") return `curl '${url}${target}'`;
  if (body === undefined) return `curl -X ${method} '${url}${target}'`;
  // A quote inside single quotes of the shell.
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -X ${method} '${url}${target}' \\\n  -H 'content-type: application/json' \\\n  -d '${text}'`;
}

/** Keeps the first elements of every list. */
export function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ELEMENTS_SHOWN).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortened(part)]));
}
