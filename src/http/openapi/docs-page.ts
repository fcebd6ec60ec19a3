// The description of an API as one self-contained page: nothing is loaded from anywhere, nothing runs but its own script.
import { escapeHtml as escaped, cspSourceHash as hashOf } from "../../lib/html.ts";
import type { JsonSchema } from "../../schema/column.ts";
import { DOCS_PAGE_SCRIPT, DOCS_PAGE_STYLE } from "./docs-page-assets.ts";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./document.ts";
import { buildSchemaExample, formatSchemaType } from "./schema-text.ts";

type Place = { readonly path: string; readonly method: string; readonly operation: OpenApiOperation };

/** The page, and the policy that lets exactly its own style and script run. */
export function renderDocsPage(document: OpenApiDocument): {
  readonly html: string;
  readonly contentSecurityPolicy: string;
} {
  const places = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = document.tags.map(({ name }) => ({
    name,
    places: places.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(document.info.title)}</title>
<style>${DOCS_PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(document.info.title)} <small>${escaped(document.info.version)}</small></h1>
<p>${escaped(document.info.description)}</p>
<p><a href="openapi.json">openapi.json</a></p>
</header>
<nav aria-label="Sections"><ul>
${byTag.map(({ name }) => `<li><a href="#${idOf(name)}">${escaped(name)}</a></li>`).join("\n")}
<li><a href="#records">Records</a></li>
</ul></nav>
<main>
${byTag.map(({ name, places: some }) => `<section id="${idOf(name)}"><h2>${escaped(name)}</h2>\n${some.map(operationPart).join("\n")}\n</section>`).join("\n")}
<section id="records"><h2>Records</h2>
${Object.entries(document.components.schemas).map(recordPart).join("\n")}
</section>
</main>
<script>${DOCS_PAGE_SCRIPT}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(DOCS_PAGE_STYLE)}'`,
    `script-src '${hashOf(DOCS_PAGE_SCRIPT)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}

function operationPart({ path, method, operation }: Place): string {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parameters = operation.parameters.map(parameterRow).join("");
  return `<details id="${idOf(operation.operationId)}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${escaped(path)}</code> <span>${escaped(operation.summary)}</span></summary>
<form data-method="${method.toUpperCase()}" data-path="${escaped(path)}">
${parameters === "" ? "" : `<table><tbody>${parameters}</tbody></table>`}
${body ? `<label>Body: ${typeHtml(body)}<textarea spellcheck="false" rows="8">${escaped(JSON.stringify(buildSchemaExample(body), null, 2))}</textarea></label>` : ""}
<button>Send</button> <output></output>
</form>
<table class="answers"><tbody>${responseRows(operation.responses)}</tbody></table>
</details>`;
}

function parameterRow(parameter: JsonSchema): string {
  const { name, required, description, schema } = parameter;
  const input = `<input name="${escaped(name)}" data-place="${escaped(parameter.in)}"${required ? " required" : ""}>`;
  return `<tr><th><label>${escaped(name)}${required ? " *" : ""} ${input}</label></th><td>${typeHtml(schema as JsonSchema)}</td><td>${escaped(description)}</td></tr>`;
}

/** Errors all look the same and share a row. */
function responseRows(responses: Readonly<Record<string, OpenApiResponse>>): string {
  const all = Object.entries(responses);
  const errors = all.filter(([, response]) => "$ref" in response).map(([status]) => status);
  const answers = all.flatMap(([status, response]) => {
    if ("$ref" in response) return [];
    const [content] = Object.values(response.content ?? {});
    return [[status, content ? typeHtml(content.schema) : escaped(response.description)] as const];
  });
  const shared = [errors.join(", "), '<a href="#record-Error">Error</a>'] as const;
  return [...answers, shared]
    .map(([status, type]) => `<tr><th>${escaped(status)}</th><td>${type}</td></tr>`)
    .join("");
}

function recordPart([name, schema]: [string, JsonSchema]): string {
  const rows = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([field, type]) =>
      `<tr><th>${escaped(field)}</th><td>${typeHtml(type)}</td><td>${escaped(type.description ?? "")}</td></tr>`,
  );
  return `<details id="record-${idOf(name)}" open><summary><code>${escaped(name)}</code></summary><table><tbody>${rows.join("")}</tbody></table></details>`;
}

/** Names of records in a type lead to them. */
function typeHtml(schema: JsonSchema): string {
  return escaped(formatSchemaType(schema)).replace(
    /@(\w+)/g,
    (_match, name: string) => `<a href="#record-${idOf(name)}">${name}</a>`,
  );
}

function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, "-");
}
