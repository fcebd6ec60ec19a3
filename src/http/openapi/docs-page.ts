// Renders an OpenAPI document as one self-contained page that loads nothing and runs only its own script.
import { cspSourceHash, escapeHtml } from "../../lib/html.ts";
import type { JsonSchema } from "../../schema/column.ts";
import { DOCS_PAGE_SCRIPT, DOCS_PAGE_STYLE } from "./docs-page-assets.ts";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./document.ts";
import { buildSchemaExample, formatSchemaType } from "./schema-text.ts";

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
  const byTag = document.tags.map(({ name }) => ({
    name,
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
${byTag.map(({ name, operations: tagged }) => `<section id="${idOf(name)}"><h2>${escapeHtml(name)}</h2>\n${tagged.map(renderOperation).join("\n")}\n</section>`).join("\n")}
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
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parameters = operation.parameters.map(renderParameterRow).join("");
  return `<details id="${idOf(operation.operationId)}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> <span>${escapeHtml(operation.summary)}</span></summary>
<form data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}">
${parameters === "" ? "" : `<table><tbody>${parameters}</tbody></table>`}
${body ? `<label>Body: ${renderType(body)}<textarea spellcheck="false" rows="8">${escapeHtml(JSON.stringify(buildSchemaExample(body), null, 2))}</textarea></label>` : ""}
<button>Send</button> <output></output>
</form>
<table class="responses"><tbody>${renderResponseRows(operation.responses)}</tbody></table>
</details>`;
}

function renderParameterRow(parameter: JsonSchema): string {
  const { name, required, description, schema } = parameter;
  const input = `<input name="${escapeHtml(name)}" data-in="${escapeHtml(parameter.in)}"${required ? " required" : ""}>`;
  return `<tr><th><label>${escapeHtml(name)}${required ? " *" : ""} ${input}</label></th><td>${renderType(schema as JsonSchema)}</td><td>${escapeHtml(description)}</td></tr>`;
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
