// /llms.txt: where a language model finds what it needs, in the form of llmstxt.org.
import { FAULTS, type FaultCode } from "../lib/fault.ts";
import type { JsonSchema } from "../schema/column.ts";
import type { Parameter } from "../schema/parameter.ts";
import { formatMarkdownJson, formatMarkdownTable } from "./markdown.ts";
import type { Offering, PaidRoute } from "./offering.ts";
import { renderPaymentGuide } from "./payment-guide.ts";

// /llms-full.txt: everything a program needs to pay for an answer and to read it, in one document.

/** A record of the answers, as its schema describes it. */
export type RecordFields = {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: string; readonly description: string }[];
};

export type LlmsFullInput = {
  readonly offering: Offering;
  readonly route: PaidRoute;
  readonly parameters: readonly Parameter[];
  /** A query that works, without the question mark. */
  readonly exampleQuery: string;
  readonly exampleResponse: unknown;
  readonly records: readonly RecordFields[];
  readonly errorCodes: readonly FaultCode[];
  /** The other paths, free of charge. */
  readonly documents: readonly { readonly path: string; readonly description: string }[];
  /** Sentences a careful reader of the answer wants to know. */
  readonly notes: readonly string[];
};

export function renderLlmsFullText(full: LlmsFullInput): string {
  const { offering, route, exampleQuery, exampleResponse: exampleAnswer, notes, documents } = full;
  return `# ${offering.name}

> ${offering.description}

Base address: ${offering.origin}. Everything is JSON in UTF-8 unless said otherwise. Any origin may call it from a browser.

## ${route.method} ${route.path}

${route.description} Each request costs $${route.priceUsd}.

${parameterTable(full.parameters)}

Unknown query keys are ignored; a key given twice is refused with 400.

## How to pay (x402, version 2)

${renderPaymentGuide(offering, route, exampleQuery)}

## The answer

${notes.map((note) => `- ${note}`).join("\n")}

${full.records.map(recordText).join("\n\n")}

### Example

${formatMarkdownJson(exampleAnswer)}

## Errors

Every error is \`{"error": "<one clear sentence>"}\` with its code in the header \`x-error-code\` and the id of the request in \`x-request-id\`. *Retry* tells whether the same request, with the same payment, can succeed later.

${faultTable(full.errorCodes)}

## Other paths, free of charge

${formatMarkdownTable(
  ["path", "what it is"],
  documents.map(({ path, description: meaning }) => [`\`GET ${path}\``, meaning]),
)}
`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, kind, description: meaning }) => [
    `\`${name}\``,
    place,
    required ? "yes" : "no",
    formOf(kind.json),
    meaning,
  ]);
  return formatMarkdownTable(["parameter", "in", "required", "form", "meaning"], rows);
}

function formOf(schema: JsonSchema): string {
  const { pattern, enum: words, default: fallback } = schema;
  const choices = Array.isArray(words) ? words.map((word) => `\`${word}\``).join(" or ") : null;
  const form = choices ?? (typeof pattern === "string" ? `\`${pattern}\`` : "text");
  return fallback === undefined ? form : `${form}; \`${fallback}\` when not given`;
}

function recordText({ name, fields }: RecordFields): string {
  const rows = fields.map((field) => [`\`${field.name}\``, field.type, field.description]);
  return `### ${name}\n\n${formatMarkdownTable(["field", "type", "meaning"], rows)}`;
}

function faultTable(codes: readonly FaultCode[]): string {
  const rows = codes
    .map((code) => ({ code, ...FAULTS[code] }))
    .sort((a, b) => a.status - b.status)
    .map(({ code, status, retry, description }) => [
      String(status),
      `\`${code}\``,
      retry ? "yes" : "no",
      description,
    ]);
  return formatMarkdownTable(["status", "x-error-code", "retry", "meaning"], rows);
}

export type DocumentLink = { readonly path: string; readonly title: string; readonly description: string };

export type LinkGroup = { readonly title: string; readonly links: readonly DocumentLink[] };

export function renderLlmsText(
  { name, description: about, origin, routes }: Offering,
  groups: readonly LinkGroup[],
): string {
  const paid = routes.map(
    ({ method, path, priceUsd, description, terms }) =>
      `- [${method} ${path}](${origin}${path}): $${priceUsd} per request, paid with x402 on ${terms.network}. ${description}`,
  );
  const listed = groups.flatMap(({ title, links }) => [
    `## ${title}`,
    "",
    ...links.map((link) => `- [${link.title}](${origin}${link.path}): ${link.description}`),
    "",
  ]);
  return [
    `# ${name}`,
    "",
    `> ${about}`,
    "",
    "Ask without paying to get 402 and the terms, sign them, ask again with the signature. Sending the same signature again is free: you pay once, and for an answer only.",
    "",
    "## Paid",
    "",
    ...paid,
    "",
    ...listed,
  ].join("\n");
}
