// The free documents of the portfolio service: each once, with its description and how it is rendered.
import { findChainById } from "../../chain/chains/chains.ts";
import { createSchemaRegistry } from "../../http/openapi/document.ts";
import { formatSchemaType, formatType } from "../../http/openapi/schema-types.ts";
import type { StaticDocument } from "../../http/routes/documents.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import { FAULTS, type FaultCode } from "../../lib/fault.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { portfolioSnapshotSchema } from "../../schema/portfolio/snapshot.ts";
import { text } from "../../schema/portfolio/values.ts";
import {
  API_CATALOG_TYPE,
  apiCatalogSchema,
  buildApiCatalog,
  buildX402Discovery,
  buildX402Resources,
  x402DiscoverySchema,
  x402ResourcesSchema,
} from "../../web/discovery.ts";
import { renderFrontPage } from "../../web/front-page.ts";
import {
  type DocumentLink,
  type LinkGroup,
  type RecordFields,
  renderLlmsFullText,
  renderLlmsText,
} from "../../web/llms.ts";
import { commonTermsOf, type Offering } from "../../web/offering.ts";
import { listPayPages } from "../../web/pay-pages.ts";
import { renderVerifyPage, VERIFY_PATH } from "../../web/verify-page.ts";
import { describePaidRoute, type SoldRoute } from "./offering.ts";
import { RESOURCES_PATH } from "./resources-endpoint.ts";

type ListedDocument = DocumentLink & { readonly group: "Documentation" | "Discovery" | "Optional" };

type PortfolioDocument = ListedDocument & {
  readonly operationId: string;
  readonly type: string;
  readonly schema: JsonSchema;
  readonly render: () => StaticDocument;
};

const TYPES_PATH = "/portfolio-snapshot.d.ts";

/** The types of a snapshot for clients without a package of ours. */
export function renderSnapshotTypes(): string {
  const types = listRecords(portfolioSnapshotSchema).map(
    ([name, record]) => `export type ${name} = ${formatType(record)};\n`,
  );
  return [
    "// The response to a portfolio request, generated from its schema: amounts are decimal text, null is unknown.\n",
    ...types,
  ].join("\n");
}

// Served elsewhere, and only listed here.
const OTHER_DOCUMENTS: readonly ListedDocument[] = [
  {
    path: "/openapi.json",
    title: "OpenAPI",
    description: "Every route with its parameters and responses.",
    group: "Documentation",
  },
  {
    path: "/docs",
    title: "API page",
    description: "The same as a page, with a form to try it.",
    group: "Documentation",
  },
  {
    path: RESOURCES_PATH,
    title: "Resources",
    description: "Paid resources with full terms, as x402 directories list them.",
    group: "Discovery",
  },
  { path: "/health", title: "Health", description: "Whether the process is running.", group: "Optional" },
  {
    path: "/ready",
    title: "Readiness",
    description: "Whether it can serve requests, or why not.",
    group: "Optional",
  },
];

// Errors of a request, in addition to those of payments.
const FAULT_CODES: readonly FaultCode[] = [
  "INPUT_INVALID",
  "ROUTE_UNKNOWN",
  "METHOD_NOT_ALLOWED",
  "RATE_LIMITED",
  "PROVIDER_FAILED",
  "INTERNAL",
  "FACILITATOR_UNAVAILABLE",
  "DATABASE_UNREACHABLE",
  "OVERLOADED",
  "SHUTTING_DOWN",
  "TIMED_OUT",
];

export function createPortfolioDocuments(
  offering: Offering,
  sold: readonly SoldRoute[],
  endpoints: readonly Endpoint[],
): readonly PortfolioDocument[] {
  const renderFull = (listed: readonly DocumentLink[]) => renderFullText(offering, sold, endpoints, listed);
  // The front page and llms.txt list all documents, so they read the list when they are rendered.
  const listed = () => [...documents, ...OTHER_DOCUMENTS];
  const documents: readonly PortfolioDocument[] = [
    ...createTextDocuments(offering, renderFull, listed),
    ...createDiscoveryDocuments(offering),
  ];
  return documents;
}

function createTextDocuments(
  offering: Offering,
  renderFull: (listed: readonly DocumentLink[]) => string,
  listed: () => readonly ListedDocument[],
): readonly PortfolioDocument[] {
  const plain = (value: string): StaticDocument => ({ content: value, contentType: "text/plain" });
  return [
    {
      path: "/",
      title: "Front page",
      description: "About this service.",
      operationId: "getFrontPage",
      type: "text/html",
      schema: text,
      group: "Optional",
      render: () => {
        const links = listed().filter(({ path }) => path !== "/");
        const paymentChainName = namePaymentChain(offering);
        const { html, contentSecurityPolicy } = renderFrontPage({ offering, links, paymentChainName });
        return { content: html, contentType: "text/html", contentSecurityPolicy };
      },
    },
    {
      path: "/llms.txt",
      title: "llms.txt",
      description: "Index of the documents, for language models.",
      operationId: "getLlms",
      type: "text/plain",
      schema: text,
      group: "Optional",
      render: () => plain(renderLlmsText(offering, groupLinks(listed()))),
    },
    {
      path: "/llms-full.txt",
      title: "Full documentation",
      description: "How to pay for a response and how to read it, in one file.",
      operationId: "getLlmsFull",
      type: "text/plain",
      schema: text,
      group: "Documentation",
      render: () => plain(renderFull(listed())),
    },
    {
      path: VERIFY_PATH,
      title: "Check a response",
      description: "Checks the signature, receipt and proofs of a stored response in the browser.",
      operationId: "getVerifyPage",
      type: "text/html",
      schema: text,
      group: "Documentation",
      render: () => {
        const { html, contentSecurityPolicy } = renderVerifyPage({ links: listPayPages(offering) });
        return { content: html, contentType: "text/html", contentSecurityPolicy };
      },
    },
    {
      path: TYPES_PATH,
      title: "TypeScript types",
      description: "The types of a snapshot, for clients in TypeScript.",
      operationId: "getSnapshotTypes",
      type: "text/plain",
      schema: text,
      group: "Documentation",
      render: () => plain(renderSnapshotTypes()),
    },
  ];
}

/** As people call it; the CAIP-2 name of a chain that we do not know. */
function namePaymentChain(offering: Offering): string {
  const { network } = commonTermsOf(offering);
  return findChainById(chainIdOfNetwork(network))?.name ?? network;
}

function createDiscoveryDocuments(offering: Offering): readonly PortfolioDocument[] {
  const json = (value: unknown, contentType = "application/json"): StaticDocument => ({
    content: JSON.stringify(value),
    contentType,
  });
  return [
    {
      path: "/.well-known/x402.json",
      title: "x402.json",
      description: "Paid resources with price and network.",
      operationId: "getX402Discovery",
      type: "application/json",
      schema: x402DiscoverySchema,
      group: "Discovery",
      render: () => json(buildX402Discovery(offering)),
    },
    {
      path: "/.well-known/x402",
      title: "x402",
      description: "The URLs of the paid resources with their methods.",
      operationId: "getX402Resources",
      type: "application/json",
      schema: x402ResourcesSchema,
      group: "Discovery",
      render: () => json(buildX402Resources(offering)),
    },
    {
      path: "/.well-known/api-catalog",
      title: "API catalogue",
      description: "Links to the description, the documentation and the status (RFC 9727).",
      operationId: "getApiCatalog",
      type: "application/linkset+json",
      schema: apiCatalogSchema,
      group: "Discovery",
      render: () => json(buildApiCatalog(offering), API_CATALOG_TYPE),
    },
  ];
}

function groupLinks(links: readonly ListedDocument[]): LinkGroup[] {
  return (["Documentation", "Discovery", "Optional"] as const).map((title) => ({
    title,
    links: links.filter(({ group }) => group === title),
  }));
}

function renderFullText(
  offering: Offering,
  sold: readonly SoldRoute[],
  endpoints: readonly Endpoint[],
  documents: readonly DocumentLink[],
): string {
  const paymentCodes = (Object.keys(FAULTS) as FaultCode[]).filter((code) => code.startsWith("PAYMENT_"));
  const described = new Set<string>();
  return renderLlmsFullText({
    offering,
    routes: sold.map(({ declaration, sale }, index) => ({
      route: describePaidRoute({ declaration, sale }),
      parameters: endpoints[index]?.parameters ?? [],
      exampleBody: declaration.body?.example ?? null,
      exampleQuery: formatQuery(declaration.exampleQuery),
      exampleResponse: declaration.responseExample,
      records: listRecords(declaration.response).flatMap(([name, record]) => {
        if (described.has(name)) return [];
        described.add(name);
        return [{ name, fields: listFields(record) }];
      }),
      notes: declaration.notes,
    })),
    typesPath: TYPES_PATH,
    errorCodes: [...FAULT_CODES, ...paymentCodes],
    documents,
  });
}

/** As people write it: commas stay commas. */
function formatQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Every titled part of a schema by its title, outermost first. */
function listRecords(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const registry = createSchemaRegistry();
  registry.register(schema);
  return Object.entries(registry.schemas()).reverse();
}

function listFields({ properties = {} }: JsonSchema): RecordFields["fields"] {
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, type]) => ({
    name,
    type: formatSchemaType(type),
    description: String(type.description ?? ""),
  }));
}
