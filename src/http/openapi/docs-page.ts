// Renders an OpenAPI document as one self-contained page that loads nothing and runs only its own script.
import { type Html, html } from "../../lib/html.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type HtmlPage, renderInlinePage } from "../pages/document.ts";
import { type PlacedOperation, renderMethod, renderOperation } from "./docs-page/operation.ts";
import { idOf, recordId, renderProse, renderSchema } from "./docs-page/schema-tree.ts";
import type { OpenApiDocument } from "./document.ts";

type OperationGroup = {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly PlacedOperation[];
};

export function renderDocsPage(document: OpenApiDocument): HtmlPage {
  const groups = groupOperations(document);
  const records = Object.entries(document.components.schemas);
  const { title, version, description } = document.info;
  const body = html`<a class="skip" href="#operations">Skip to the operations</a>
<header>
<p><a class="brand" href="./">← Sextant</a></p>
<h1>${title} <small>${version}</small></h1>
<p>${renderProse(description)}</p>
<p><a href="openapi.json">OpenAPI document</a> for tools and code generators.</p>
</header>
<nav aria-label="Reference">
${SEARCH}
<ul class="groups">
${groups.map(renderNavigation)}
<li class="group"><a href="#records">Records</a><ul class="entries">${records.map(([name]) => html`<li><a href="#${recordId(name)}">${name}</a></li>`)}</ul></li>
</ul>
</nav>
<main id="operations">
${groups.map((group) => renderGroup(group, document))}
<section class="group" id="records"><h2>Records</h2>
<p>What bodies and responses are made of. Amounts and ids are text; null is unknown.</p>
${records.map(renderRecord)}
</section>
</main>
`;
  return renderInlinePage({
    title,
    // It goes when the script runs: elements that need the script are hidden until then.
    className: "static",
    style: new URL("./docs-page/docs-page.css", import.meta.url),
    script: new URL("./docs-page/browser/main.ts", import.meta.url),
    formAction: "'none'",
    body,
  });
}

const SEARCH = html`<div class="search scripted" role="search">
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

function renderNavigation({ name, operations }: OperationGroup): Html {
  const links = operations.map(
    ({ method, operation: { operationId, summary } }) =>
      html`<li><a href="#${idOf(operationId)}">${renderMethod(method)} ${summary}</a></li>`,
  );
  return html`<li class="group"><a href="#${idOf(name)}">${name}</a><ul class="entries">${links}</ul></li>`;
}

function renderGroup({ name, description, operations }: OperationGroup, document: OpenApiDocument): Html {
  const cards = operations.map((operation) => renderOperation(operation, document.components));
  return html`<section class="group" id="${idOf(name)}"><h2>${name}</h2>\n<p>${renderProse(description)}</p>\n${cards}\n</section>`;
}

function renderRecord([name, schema]: [string, JsonSchema]): Html {
  const count = Object.keys(schema.properties ?? {}).length;
  const size = count === 1 ? "1 field" : `${count} fields`;
  return html`<details class="card record"><summary><h3><code>${name}</code></h3> <span class="title">${count === 0 ? "" : size}</span> <span class="hint"></span></summary><div class="body" id="${recordId(name)}">${renderSchema(schema)}</div></details>`;
}
