// Renders one operation: what it does, a form for its parameters and body, the request as code, and the responses.
import { type Html, html } from "../../../lib/html.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import {
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
  REFERRED_SCHEMES,
} from "../document.ts";
import type { OpenApiParameter } from "../route-description.ts";
import { idOf, renderProse, renderSchema, renderSchemaNotes, renderType } from "./schema-tree.ts";

export type PlacedOperation = {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
};

type Components = OpenApiDocument["components"];

export function renderMethod(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

export function renderOperation({ path, method, operation }: PlacedOperation, components: Components): Html {
  const id = idOf(operation.operationId);
  const call = operation["x-client-call"];
  const callData = call !== undefined && html` data-call="${JSON.stringify(call)}"`;
  return html`<details class="card operation">
<summary><h3>${renderMethod(method)} <code class="path">${breakable(path)}</code></h3> <span class="title">${operation.summary}</span> <span class="hint"></span></summary>
<div class="body" id="${id}">
<p class="description">${renderProse(operation.description)}</p>
${renderNeeds(path, operation, components)}
<form data-method="${method.toUpperCase()}" data-path="${path}"${callData} autocomplete="off" autocapitalize="off" spellcheck="false">
<div class="inputs">${renderInputs(id, operation)}</div>
<div class="panel">${renderSamples(id, operation)}${renderSending(operation, components)}${renderExample(operation)}</div>
<div class="results"><h4>Responses</h4>${renderResponses(operation.responses, components)}</div>
</form>
</div>
</details>`;
}

/** A long path breaks at its slashes. */
function breakable(path: string): readonly Html[] {
  return path.split("/").map((part, index) => (index === 0 ? html`${part}` : html`<wbr>/${part}`));
}

/** The credentials of a request, with its price if it has one. */
function renderNeeds(path: string, operation: OpenApiOperation, components: Components): readonly Html[] {
  return schemesOf(operation, components).map(({ name, scheme }) => {
    const text = renderProse(scheme.description ?? "");
    if (name !== "x402") return html`<p class="needs"><strong>Needs a signature.</strong> ${text}</p>`;
    const price = priceOf(operation);
    const cost = price === null ? "Costs money." : `Costs ${price} per request.`;
    return html`<p class="needs"><strong>${cost}</strong> ${text} Or <a href=".${path}">open it in a browser</a> and pay with a wallet.</p>`;
  });
}

function schemesOf({ security }: OpenApiOperation, components: Components) {
  const { securitySchemes, [REFERRED_SCHEMES]: referred } = components;
  const schemes = { ...securitySchemes, ...referred };
  return security.flatMap(Object.keys).map((name) => ({ name, scheme: schemes[name] ?? {} }));
}

function priceOf(operation: OpenApiOperation): string | null {
  const info = operation["x-payment-info"] as { readonly price?: JsonSchema } | undefined;
  const { amount, min, max, currency } = info?.price ?? {};
  const format = (value: string) => (currency === "USD" ? `$${value}` : `${value} ${String(currency)}`);
  if (typeof min === "string" && typeof max === "string") return `${format(min)} to ${format(max)}`;
  return typeof amount === "string" ? format(amount) : null;
}

const PLACES = [
  ["path", "In the path"],
  ["query", "In the query"],
  ["header", "In headers"],
] as const;

function renderInputs(id: string, operation: OpenApiOperation): Html {
  const groups = PLACES.map(([place, title]) => {
    const placed = operation.parameters.filter((each) => each.in === place);
    return placed.length > 0 && html`<h4>${title}</h4>${placed.map((each) => renderParameter(id, each))}`;
  });
  const hasNone = operation.parameters.length === 0 && operation.requestBody === undefined;
  return html`${groups}${renderBody(id, operation)}${hasNone && html`<p class="soft">It takes no parameters.</p>`}`;
}

function renderParameter(id: string, parameter: OpenApiParameter): Html {
  const { name, required, description, example, schema } = parameter;
  const inputId = `${id}-${idOf(name)}`;
  const mark = required === true && html` <span class="required">required</span>`;
  const shown =
    example !== undefined && html`<p class="example">Example: <code>${String(example)}</code></p>`;
  // The words of a list are in the list.
  const type = !Array.isArray(schema.enum) && [renderType(schema), renderSchemaNotes(schema)];
  return html`<div class="parameter" data-part="${name}"><div><label for="${inputId}"><code>${name}</code></label> ${type}${mark}<p>${renderProse(description)}</p>${shown}</div>${renderInput(inputId, parameter)}</div>`;
}

/** A required parameter begins with its example, so that the form can be sent; others show theirs. */
function renderInput(id: string, { name, in: location, required, schema, example }: OpenApiParameter): Html {
  const { type, enum: words, pattern, default: usual } = schema;
  // Not as `name`: a field with the name of a property of the form, such as id, would replace that.
  const attributes = html`id="${id}" data-name="${name}" data-in="${location}" data-type="${String(type ?? "string")}"${required === true && html` required`}`;
  if (Array.isArray(words)) {
    const option = (word: unknown) =>
      html`<option${required === true && word === example && html` selected`}>${String(word)}</option>`;
    const none = usual === undefined ? "not set" : `not set: ${String(usual)}`;
    return html`<select ${attributes}><option value="">${none}</option>${words.map(option)}</select>`;
  }
  const isNumber =
    type === "integer" || (typeof pattern === "string" && /^\^\(?0?\|?\[[01]-9\]/.test(pattern));
  const text = String(example);
  const shown =
    example !== undefined && (required === true ? html` value="${text}"` : html` placeholder="${text}"`);
  return html`<input ${attributes}${isNumber && html` inputmode="numeric"`}${shown}>`;
}

function renderBody(id: string, { requestBody }: OpenApiOperation): Html | null {
  const body = requestBody?.content["application/json"];
  if (body === undefined) return null;
  const text = JSON.stringify(body.example ?? {}, null, 2);
  // A line for each of the body's, within reason.
  const rows = Math.min(text.split("\n").length + 1, 16);
  return html`<h4><label for="${id}-body">Body</label></h4><textarea id="${id}-body" rows="${rows}">${text}</textarea>${renderSchema(body.schema)}`;
}

type CodeSample = { readonly lang: string; readonly label: string; readonly source: string };

/** Tabs of radio buttons, which need no script. */
function renderSamples(id: string, operation: OpenApiOperation): Html {
  const samples = (operation["x-codeSamples"] ?? []) as readonly CodeSample[];
  const tabs = samples.map(({ label }, index) => {
    const kind = sampleKind(index);
    return html`<input type="radio" name="${id}-sample" value="${kind}" id="${id}-${kind}"${index === 0 && html` checked`}><label for="${id}-${kind}">${label}</label>`;
  });
  const texts = samples.map(
    ({ source }, index) =>
      html`<pre data-sample="${sampleKind(index)}" tabindex="0" aria-label="Request as code">${source}</pre>`,
  );
  return html`<fieldset class="samples"><legend>Request as code</legend>${tabs}<button type="button" class="copy quiet scripted">Copy</button>${texts}</fieldset>`;
}

function sampleKind(index: number): string {
  return index === 0 ? "curl" : "client";
}

/** A paid request is not sent without its payment: the button then gets the terms, which is what the service has to say. */
function renderSending(operation: OpenApiOperation, components: Components): Html {
  const button = schemesOf(operation, components).some(({ name }) => name === "x402")
    ? html`<button class="quiet" data-unpaid="Get the terms" data-paid="Send with this payment">Get the terms</button>`
    : html`<button>Send</button>`;
  return html`<div class="scripted">${button}</div>
<noscript><p class="soft">Sending from this page needs JavaScript; the command above does the same.</p></noscript>
<div class="response" hidden><p class="status" role="status"></p><details class="headers more"><summary>Headers</summary><dl></dl></details><pre tabindex="0" aria-label="Body of the response"></pre></div>`;
}

/** Shown until there is a response of the reader's own. */
function renderExample({ responses }: OpenApiOperation): Html | null {
  const success = responses[200] ?? responses[201];
  const content = success !== undefined && "content" in success ? success.content : undefined;
  const example = content?.["application/json"]?.example;
  if (example === undefined) return null;
  const text = JSON.stringify(example, null, 2);
  return html`<div class="sample-response"><h4>Example of a response</h4><pre tabindex="0" aria-label="Example of a response">${text}</pre></div>`;
}

function renderResponses(responses: Readonly<Record<string, OpenApiResponse>>, components: Components): Html {
  const rows = Object.entries(responses).map(([status, response]) => {
    if (!("$ref" in response)) {
      return renderRow(status, response.description, renderContent(response, components));
    }
    // All errors have one form, which the record Error shows.
    const found = components.responses[String(response.$ref.split("/").at(-1))];
    return renderRow(status, found && !("$ref" in found) ? found.description : "", null);
  });
  return html`<dl class="statuses">${rows}</dl><p class="soft">Errors are the record <a href="#record-Error">Error</a>, with a code in the header x-error-code.</p>`;
}

function renderRow(status: string, description: string, content: Html | null): Html {
  const label = status === "default" ? "other" : status;
  return html`<dt>${label}</dt><dd>${renderProse(description)}${content}</dd>`;
}

function renderContent(response: Exclude<OpenApiResponse, { $ref: string }>, components: Components): Html {
  const bodies = Object.entries(response.content ?? {}).map(
    ([type, { schema }]) => html` <span class="type">${type}</span>${renderSchema(schema)}`,
  );
  const headers = Object.entries(response.headers).map(([name, header]) => {
    const { description } = "$ref" in header ? (components.headers[name] ?? {}) : header;
    return html`<li><code>${name}</code> <p>${renderProse(description ?? "")}</p></li>`;
  });
  const list = html`<details class="more"><summary>Headers</summary><ul class="fields">${headers}</ul></details>`;
  return html`${bodies}${headers.length > 0 && list}`;
}
