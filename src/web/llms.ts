// Renders /llms.txt (llmstxt.org) and /llms-full.txt, everything a program needs to pay for and read a response.
import { FAULTS, type FaultCode } from "../lib/fault.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { Parameter } from "../schema/parameter.ts";
import { renderClientExample, renderInstallLine } from "./client-example.ts";
import { formatRoutePrice, type Offering, type PaidRoute } from "./offering.ts";
import { formatMarkdownJson, formatMarkdownTable, renderPaymentGuide } from "./payment-guide.ts";

/** A record of the responses, as its schema describes it. */
export type RecordFields = {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: string; readonly description: string }[];
};

/** A paid route with what a program needs to send and to read. */
type RouteTexts = {
  readonly route: PaidRoute;
  readonly parameters: readonly Parameter[];
  /** An example of the body; null for a route without one. */
  readonly exampleBody: unknown;
  /** A valid query string, without the leading `?`. */
  readonly exampleQuery: string;
  readonly exampleResponse: unknown;
  /** The parameters that no route before it has. */
  readonly records: readonly RecordFields[];
  /** Sentences that explain the response. */
  readonly notes: readonly string[];
};

type LlmsFullInput = {
  readonly offering: Offering;
  /** At least one; the first is the example of how to pay. */
  readonly routes: readonly RouteTexts[];
  /** Path of the TypeScript declarations of the first route's response. */
  readonly typesPath: string;
  readonly errorCodes: readonly FaultCode[];
  /** The other paths, free of charge. */
  readonly documents: readonly { readonly path: string; readonly description: string }[];
};

export function renderLlmsFullText(full: LlmsFullInput): string {
  const { offering, routes, documents } = full;
  const [first] = routes;
  if (first === undefined) throw new TypeError("The offering has no route.");
  return `# ${offering.name}

> ${offering.description}

Base URL: ${offering.origin}. Everything is JSON in UTF-8 unless stated otherwise. Any origin may call it from a browser.

${routes.map(renderRequest).join("\n\n")}

Unknown query keys are ignored; a repeated key is rejected with 400.

## How to pay (x402, version 2)

${renderPaymentGuide(offering, first.route, first.exampleQuery)}

${renderClientSection(full, first)}

${routes.map(renderResponse).join("\n\n")}

## Errors

Every error is \`{"error": "<one sentence>"}\` with its code in the header \`x-error-code\` and the request id in \`x-request-id\`. *Retry* says whether the same request, with the same payment, can succeed later.

${formatErrorTable(full.errorCodes)}

## Other paths, free of charge

${formatMarkdownTable(
  ["path", "description"],
  documents.map(({ path, description }) => [`\`GET ${path}\``, description]),
)}
`;
}

function renderRequest({ route, parameters, exampleBody }: RouteTexts): string {
  const body =
    exampleBody === null ? "" : `\n\nThe body is JSON, such as:\n\n${formatMarkdownJson(exampleBody)}`;
  return `## ${route.method} ${route.path}

${route.description} Each request costs ${formatRoutePrice(route)}.

${formatParameterTable(parameters)}${body}`;
}

function renderResponse({ route, notes, records, exampleResponse }: RouteTexts): string {
  return `## The response of ${route.path}

${notes.map((note) => `- ${note}`).join("\n")}

${records.map(formatRecord).join("\n\n")}

### Example of ${route.path}

${formatMarkdownJson(exampleResponse)}`;
}

function renderClientSection(
  { offering, typesPath }: LlmsFullInput,
  { route, exampleQuery }: RouteTexts,
): string {
  const { network, asset, amount } = route.terms;
  const url = `${offering.origin}${route.path}?${exampleQuery}`;
  return `### In TypeScript

A client library does all of this. The second line fetches the types of the response.

\`\`\`sh
${renderInstallLine()}
curl -O ${offering.origin}${typesPath}
\`\`\`

Save this as \`buy-snapshot.ts\` and run it with \`npx tsx buy-snapshot.ts\`, in a package with \`"type": "module"\`.

\`\`\`ts
${renderClientExample({ url, network, asset, amount })}\`\`\``;
}

function formatParameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: location, required, kind, description }) => [
    `\`${name}\``,
    location,
    required ? "yes" : "no",
    formatForm(kind.json),
    description,
  ]);
  return formatMarkdownTable(["parameter", "in", "required", "form", "description"], rows);
}

function formatForm(schema: JsonSchema): string {
  const { pattern, enum: words, default: fallback } = schema;
  const choices = Array.isArray(words) ? words.map((word) => `\`${word}\``).join(" or ") : null;
  const form = choices ?? (typeof pattern === "string" ? `\`${pattern}\`` : "text");
  return fallback === undefined ? form : `${form}; default \`${fallback}\``;
}

function formatRecord({ name, fields }: RecordFields): string {
  const rows = fields.map((field) => [`\`${field.name}\``, field.type, field.description]);
  return `### ${name}\n\n${formatMarkdownTable(["field", "type", "description"], rows)}`;
}

function formatErrorTable(codes: readonly FaultCode[]): string {
  const rows = codes
    .map((code) => ({ code, ...FAULTS[code] }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status, retry, description }) => [
      String(status),
      `\`${code}\``,
      retry ? "yes" : "no",
      description,
    ]);
  return formatMarkdownTable(["status", "x-error-code", "retry", "description"], rows);
}

/** How an agent uses the service, in a few sentences, for the OpenAPI document. */
export function renderGuidance({ description, routes }: Offering): string {
  const paid = routes.map(
    (route) =>
      `${route.method} ${route.path} costs ${formatRoutePrice(route)} per request, paid with x402 version 2 on ${route.terms.network}: ${route.description}`,
  );
  return [
    description,
    ...paid,
    "Send the request without a payment to get 402 with the terms in the header PAYMENT-REQUIRED. Sign them (EIP-3009, no gas needed) and send the same request with the header PAYMENT-SIGNATURE; an x402 client does both.",
    "After 429, 503 or a timeout send the same signature again: you pay once, and only for a delivered response.",
    "Everything else is free. /llms-full.txt explains each step, field and error.",
  ].join("\n\n");
}

export type DocumentLink = { readonly path: string; readonly title: string; readonly description: string };

export type LinkGroup = { readonly title: string; readonly links: readonly DocumentLink[] };

/** The index of an API without paid routes. Links have no origin: this API does not know its public address. */
export function renderApiLlmsText(
  { title, description }: { readonly title: string; readonly description: string },
  routes: readonly DescribedRoute[],
  /** The path below which the API is served; empty at the root. */
  base: string,
): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  // The page of the API has an anchor per operation; a path with parameters is not a link.
  const sections = tags.flatMap((tag) => [
    `## ${tag}`,
    "",
    ...routes
      .filter((route) => route.tag === tag)
      .map(
        ({ method, path, operationId, summary }) =>
          `- [${method} ${path}](${base}/docs#${operationId}): ${summary}.`,
      ),
    "",
  ]);
  return [
    `# ${title}`,
    "",
    `> ${description}`,
    "",
    "## Documentation",
    "",
    `- [OpenAPI](${base}/openapi.json): Every route with its parameters and responses.`,
    `- [API page](${base}/docs): The same as a page, with a form to try it.`,
    "",
    ...sections,
  ].join("\n");
}

type DescribedRoute = {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
};

export function renderLlmsText(
  { name, description: summary, origin, routes }: Offering,
  groups: readonly LinkGroup[],
): string {
  const paid = routes.map(
    (route) =>
      `- [${route.method} ${route.path}](${origin}${route.path}): ${formatRoutePrice(route)} per request, paid with x402 on ${route.terms.network}. ${route.description}`,
  );
  const sections = groups.flatMap(({ title, links }) => [
    `## ${title}`,
    "",
    ...links.map((link) => `- [${link.title}](${origin}${link.path}): ${link.description}`),
    "",
  ]);
  return [
    `# ${name}`,
    "",
    `> ${summary}`,
    "",
    "Send the request without a payment to get 402 and the terms, sign them, and send the request again with the signature. Repeating the same signature is free: you pay once, and only for a delivered response.",
    "",
    "## Paid",
    "",
    ...paid,
    "",
    ...sections,
  ].join("\n");
}
