// Renders an OpenAPI document as one self-contained page that loads nothing and runs only its own script.

import { readFileSync } from "node:fs";
import { cspSourceHash, escapeHtml } from "../../lib/html.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type PlacedOperation, renderMethod, renderOperation } from "./docs-page/operation.ts";
import { idOf, recordId, renderProse, renderSchema } from "./docs-page/schema-tree.ts";
import type { OpenApiDocument } from "./document.ts";

type OperationGroup = {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly PlacedOperation[];
};

/** The page, and the policy that allows exactly its own style and script. */
export function renderDocsPage(document: OpenApiDocument): {
  readonly html: string;
  readonly contentSecurityPolicy: string;
} {
  const groups = groupOperations(document);
  const records = Object.entries(document.components.schemas);
  const style = STYLES.map(readSource).join("");
  const script = joinModules(MODULES.map(readSource));
  const { title, version, description } = document.info;
  // The class static goes when the script runs: what needs it is hidden until then.
  const html = `<!doctype html>
<html lang="en" class="static">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
<p>${renderProse(description)}</p>
<p><a href="openapi.json">OpenAPI document</a> for tools and code generators.</p>
</header>
<nav aria-label="Reference">
${SEARCH}
<ul class="groups">
${groups.map(renderNavigation).join("\n")}
<li class="group"><a href="#records">Records</a><ul class="entries">${records.map(([name]) => `<li><a href="#${recordId(name)}">${escapeHtml(name)}</a></li>`).join("")}</ul></li>
</ul>
</nav>
<main id="operations">
${groups.map((group) => renderGroup(group, document)).join("\n")}
<section class="group" id="records"><h2>Records</h2>
<p>What bodies and responses are made of. Amounts and ids are text; null is unknown.</p>
${records.map(renderRecord).join("\n")}
</section>
</main>
<script type="module">${script}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${cspSourceHash(style)}'`,
    `script-src '${cspSourceHash(script)}'`,
    "connect-src 'self'",
    // The icon that browsers look for.
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, contentSecurityPolicy: policy };
}

const SEARCH = `<div class="search scripted" role="search">
<label for="search">Search</label> <kbd>/</kbd>
<input type="search" id="search" placeholder="Path, parameter or record" autocomplete="off" autocapitalize="off" spellcheck="false">
<p id="search-status" role="status"></p>
</div>`;

function groupOperations({ paths, tags }: OpenApiDocument): readonly OperationGroup[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function renderNavigation({ name, operations }: OperationGroup): string {
  const links = operations.map(
    ({ method, operation: { operationId, summary } }) =>
      `<li><a href="#${idOf(operationId)}">${renderMethod(method)} ${escapeHtml(summary)}</a></li>`,
  );
  return `<li class="group"><a href="#${idOf(name)}">${escapeHtml(name)}</a><ul class="entries">${links.join("")}</ul></li>`;
}

function renderGroup({ name, description, operations }: OperationGroup, document: OpenApiDocument): string {
  const cards = operations.map((operation) => renderOperation(operation, document.components));
  return `<section class="group" id="${idOf(name)}"><h2>${escapeHtml(name)}</h2>\n<p>${renderProse(description)}</p>\n${cards.join("\n")}\n</section>`;
}

function renderRecord([name, schema]: [string, JsonSchema]): string {
  const count = Object.keys(schema.properties ?? {}).length;
  const size = count === 1 ? "1 field" : `${count} fields`;
  return `<details class="card record"><summary><h3><code>${escapeHtml(name)}</code></h3> <span class="title">${count === 0 ? "" : size}</span> <span class="hint"></span></summary><div class="body" id="${recordId(name)}">${renderSchema(schema)}</div></details>`;
}

// Later files override earlier ones of the same specificity.
const STYLES = ["theme.css", "page.css"];
// Each after its imports: concatenated in this order they form one module, so top-level names must be unique.
const MODULES = ["request-samples.js", "json-text.js", "search.js", "try-it.js", "main.js"];

function readSource(name: string): string {
  return readFileSync(new URL(`./docs-page/${name}`, import.meta.url), "utf8");
}

/** One module without imports: the policy allows it by one hash, and the browser fetches nothing else. */
function joinModules(texts: readonly string[]): string {
  return texts.map((text) => text.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "")).join("\n");
}
