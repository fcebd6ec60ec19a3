// Renders an OpenAPI document as one self-contained page that loads nothing and runs only its own script.
import { cspSourceHash, escapeHtml } from "../../lib/html.ts";
import type { JsonSchema } from "../../schema/column.ts";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./document.ts";
import { formatSchemaType } from "./schema-text.ts";

type OperationEntry = {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
};

/** The page, and the policy that allows exactly its own style and script. */
export function renderDocsPage(document: OpenApiDocument): {
  readonly html: string;
  readonly contentSecurityPolicy: string;
} {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title>
<style>${DOCS_PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(document.info.title)} <small>${escapeHtml(document.info.version)}</small></h1>
<p>${escapeHtml(document.info.description)}</p>
<p><a href="openapi.json">openapi.json</a></p>
</header>
<nav aria-label="Sections"><ul>
${byTag.map(({ name }) => `<li><a href="#${idOf(name)}">${escapeHtml(name)}</a></li>`).join("\n")}
<li><a href="#records">Records</a></li>
</ul></nav>
<main>
${byTag.map(({ name, description, operations: tagged }) => `<section id="${idOf(name)}"><h2>${escapeHtml(name)}</h2>\n<p>${escapeHtml(description)}</p>\n${tagged.map(renderOperation).join("\n")}\n</section>`).join("\n")}
<section id="records"><h2>Records</h2>
${Object.entries(document.components.schemas).map(renderRecord).join("\n")}
</section>
</main>
<script>${DOCS_PAGE_SCRIPT}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${cspSourceHash(DOCS_PAGE_STYLE)}'`,
    `script-src '${cspSourceHash(DOCS_PAGE_SCRIPT)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}

function renderOperation({ path, method, operation }: OperationEntry): string {
  const body = operation.requestBody?.content["application/json"];
  const parameters = operation.parameters.map(renderParameterRow).join("");
  return `<details id="${idOf(operation.operationId)}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> <span>${escapeHtml(operation.summary)}</span></summary>
<p>${escapeHtml(operation.description)}</p>
<form data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}">
${parameters === "" ? "" : `<table><tbody>${parameters}</tbody></table>`}
${body ? `<label>Body: ${renderType(body.schema)}<textarea spellcheck="false" rows="8">${escapeHtml(JSON.stringify(body.example ?? {}, null, 2))}</textarea></label>` : ""}
<button>Send</button> <output></output>
</form>
<table class="responses"><tbody>${renderResponseRows(operation.responses)}</tbody></table>
</details>`;
}

function renderParameterRow(parameter: JsonSchema): string {
  const { name, required, description, schema } = parameter;
  return `<tr><th><label>${escapeHtml(name)}${required ? " *" : ""} ${renderInput(parameter)}</label></th><td>${renderType(schema as JsonSchema)}</td><td>${escapeHtml(description)}</td></tr>`;
}

/** A required parameter begins with its example, so that the form can be sent; others show theirs. */
function renderInput({ name, in: location, required, schema, example }: JsonSchema): string {
  const attributes = `name="${escapeHtml(name)}" data-in="${escapeHtml(location)}"${required ? " required" : ""}`;
  const words = (schema as JsonSchema).enum;
  if (Array.isArray(words)) {
    const option = (word: unknown) =>
      `<option${required && word === example ? " selected" : ""}>${escapeHtml(word)}</option>`;
    return `<select ${attributes}><option></option>${words.map(option).join("")}</select>`;
  }
  const shown =
    example === undefined ? "" : ` ${required ? "value" : "placeholder"}="${escapeHtml(example)}"`;
  return `<input ${attributes}${shown}>`;
}

/** All errors have the same form and share a row. */
function renderResponseRows(responses: Readonly<Record<string, OpenApiResponse>>): string {
  const all = Object.entries(responses);
  const errors = all.filter(([, response]) => "$ref" in response).map(([status]) => status);
  const successes = all.flatMap(([status, response]) => {
    if ("$ref" in response) return [];
    const [content] = Object.values(response.content ?? {});
    return [[status, content ? renderType(content.schema) : escapeHtml(response.description)] as const];
  });
  const errorRow = [errors.join(", "), '<a href="#record-Error">Error</a>'] as const;
  return [...successes, errorRow]
    .map(([status, type]) => `<tr><th>${escapeHtml(status)}</th><td>${type}</td></tr>`)
    .join("");
}

function renderRecord([name, schema]: [string, JsonSchema]): string {
  const rows = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([field, type]) =>
      `<tr><th>${escapeHtml(field)}</th><td>${renderType(type)}</td><td>${escapeHtml(type.description ?? "")}</td></tr>`,
  );
  return `<details id="record-${idOf(name)}" open><summary><code>${escapeHtml(name)}</code></summary><table><tbody>${rows.join("")}</tbody></table></details>`;
}

/** Record names in a type become links. */
function renderType(schema: JsonSchema): string {
  return escapeHtml(formatSchemaType(schema)).replace(
    /@(\w+)/g,
    (_match, name: string) => `<a href="#record-${idOf(name)}">${name}</a>`,
  );
}

function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, "-");
}

const DOCS_PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --link: #7aa7ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 2rem; }
header { grid-column: 1 / -1; }
h1 small { font-weight: normal; opacity: .6; font-size: .6em; }
a { color: var(--link); }
nav { position: sticky; top: 1rem; align-self: start; }
nav ul { list-style: none; padding: 0; margin: 1.5rem 0; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: 0 .75rem; }
details[open] { padding-bottom: .75rem; }
summary { cursor: pointer; padding: .5rem 0; }
summary span { opacity: .75; margin-left: .5rem; }
summary b { display: inline-block; min-width: 3.2rem; font-size: .8rem; color: #15803d; }
summary b.post { color: #b45309; }
summary b.put { color: #7c3aed; }
code, pre, textarea, output, input, select { font: 14px/1.45 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem .3rem 0; border-top: 1px solid var(--line); font-weight: normal; overflow-wrap: anywhere; }
th { font-weight: 600; width: 16rem; }
.responses th { width: 12rem; }
th input, th select { display: block; width: 100%; font-weight: normal; }
textarea { width: 100%; display: block; }
output { display: block; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow: auto; background: var(--soft); border-radius: 6px; margin-top: .5rem; padding: 0 .75rem; }
output:not(:empty) { padding: .5rem .75rem; }
@media (max-width: 45rem) { body { display: block; } nav { position: static; } nav li { display: inline-block; margin-right: 1rem; } }
`;

// Sends a request and shows the response.
const DOCS_PAGE_SCRIPT = `
document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.querySelector("output");
  const body = form.querySelector("textarea");
  const method = form.dataset.method;
  const query = new URLSearchParams();
  const headers = body ? { "content-type": "application/json" } : {};
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll("input, select")) {
    if (dataset.in === "path") path = path.replace("{" + name + "}", encodeURIComponent(value));
    else if (dataset.in === "header" && value !== "") headers[name] = value;
    else if (value !== "") query.append(name, value);
  }
  const url = "." + path + (query.size > 0 ? "?" + query : "");
  output.textContent = method + " " + url.slice(1) + " …";
  try {
    const response = await fetch(url, { method, headers, ...(body ? { body: body.value } : {}) });
    const block = response.headers.get("x-indexed-block");
    const status = response.status + " " + response.statusText + (block ? ", indexed block " + block : "");
    output.textContent = method + " " + url.slice(1) + "\\n" + status + "\\n\\n" + format(await response.text());
  } catch (error) {
    output.textContent = String(error);
  }
});

// Indents only if that loses nothing: a number with more digits than a float can hold stays as sent.
function format(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

if (location.hash) document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
`;
