// Describes the indexing API: its routes and its OpenAPI document, with examples recorded from a local run.

import { readFileSync } from "node:fs";
import { readVersion } from "../config/version.ts";
import { type ApiInfo, buildOpenApiDocument, type OpenApiDocument } from "../http/openapi/document.ts";
import {
  type ApiExamples,
  describeDocumentRoute,
  describeEndpoint,
  describeRead,
  type RouteDescription,
  serviceRoutes,
} from "../http/openapi/route-description.ts";
import { keyRoutes } from "../http/signing/key-routes.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import type { Read } from "../schema/reads/read.ts";
import type { ApiSale } from "./sale/open-sale.ts";
import { describePrice, describeSold } from "./sale/sold-routes.ts";

const TAGS = {
  Agents: "Programs that hold a key and act on chain, as they are registered in AgentRegistry.",
  Intents: "Intents of owners, their fills, and the data that a solver needs for execution.",
  Bids: "Offers of solvers to fill an intent.",
  Policies: "The rules that an account has set for itself, and whether a transaction would pass them.",
  Attestations: "Statements about subjects, and the schemas that say what they mean.",
  Solvers: "Solvers that fill intents, with their records.",
  Attestors: "Attestors, and the number of their attestations.",
  Commerce: "Merchants and their services, quotes, receipts, disputes and trust signals.",
  Transactions: "Transactions of the protocol in plain words.",
  Index: "The position of the index.",
  Events: "Events in order, as a stream or as pages, with undo after a reorg.",
  Webhooks: "Events delivered to a server of the owner, by the Standard Webhooks specification.",
  Documents: "Texts that records on chain name by their hash: catalogs, quote requests and quote responses.",
};

// A process has one of each, at its root; below a path there is one deployment.
const OF_THE_PROCESS = ["/health", "/metrics"];

function describeInfo(sale: ApiSale | null, isSigned: boolean): ApiInfo {
  return {
    title: "Sextant indexing API",
    version: readVersion(),
    description: [
      DESCRIPTION,
      ...(isSigned ? [SIGNED] : []),
      ...(sale === null ? [] : [describePrice(sale)]),
    ].join(" "),
  };
}

const DESCRIPTION =
  'Agents, intents, bids, policies, solvers, attestations and commerce of the protocol, indexed from its chain, and the documents they reference. Addresses and hex data are lower-case; numbers are strings unless their type is integer; every error is {"error": "one sentence"} with its code in the header x-error-code. Every indexed resource can be read as of an earlier block.';

type DescribedParts = {
  /** Null if reads are free. */
  readonly sale?: ApiSale | null;
  /** Whether the process has keys that sign responses. */
  readonly isSigned?: boolean;
};

const SIGNED =
  "With signed=1 in its query, the response to a GET request carries Content-Digest (RFC 9530) and an HTTP message signature (RFC 9421, Ed25519) that covers status, content and request; the keys are in /.well-known/http-message-signatures-directory.";

export function describeApi(
  reads: readonly Read[],
  endpoints: readonly Endpoint[],
  /** The path below which the API is served; empty at the root. */
  base = "",
  { sale = null, isSigned = false }: DescribedParts = {},
): {
  readonly info: ApiInfo;
  readonly routes: readonly RouteDescription[];
  readonly buildDocument: () => OpenApiDocument;
} {
  const info = describeInfo(sale, isSigned);
  const own = [...reads.map(describeRead), ...endpoints.map((each) => describeEndpoint(each))];
  const routes = [
    ...(sale === null ? own : own.map((route) => describeSold(route, sale))),
    ...serviceRoutes.filter(({ path }) => base === "" || !OF_THE_PROCESS.includes(path)),
    ...(isSigned ? keyRoutes : []),
    describeDocumentRoute({
      path: "/llms.txt",
      operationId: "getLlms",
      summary: "Index of the API, for language models",
      description: "Every operation with its summary and a link to its place on the page (llmstxt.org).",
      type: "text/plain",
      schema: { type: "string" },
    }),
    describeDocumentRoute({
      path: "/verify",
      operationId: "getVerifyPage",
      summary: "Check a response",
      description:
        "Checks the signature and the proofs of a stored response in the browser, which sends nothing.",
      type: "text/html",
      schema: { type: "string" },
    }),
  ];
  const samples = {
    variable: "SEXTANT_API_URL",
    fallback: `http://127.0.0.1:3001${base}`,
    // Our client buys snapshots, not reads.
    client: sale === null ? ({ option: "api" } as const) : null,
  } as const;
  const input = { info, routes, tags: TAGS, examples: recordedExamples, samples, base };
  return { info, routes, buildDocument: () => buildOpenApiDocument(input) };
}

export const recordedExamples = JSON.parse(
  readFileSync(new URL("recorded-examples.json", import.meta.url), "utf8"),
) as Required<ApiExamples>;
