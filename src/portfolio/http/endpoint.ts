// GET /portfolio: the question is checked, then paid for, then answered; browsers that have not paid are shown a page.

import type { Gate } from "../../payments/paywall/gate.ts";
import type { PaidResource } from "../../payments/paywall/paid-request.ts";
import { toErrorResponse } from "../../payments/paywall/responses.ts";
import type { Endpoint, EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import type { Parameter } from "../../schema/parameter.ts";
import { buildPaymentExtension, paymentRequiredSchema } from "../../web/discovery.ts";
import type { PaidRoute } from "../../web/offering.ts";
import type { HtmlPage } from "../../web/page.ts";
import { prefersHtml } from "../../web/prefers-html.ts";
import type { PortfolioParameters, PortfolioRequest } from "../query.ts";
import type { SnapshotReader } from "../snapshot.ts";
import { excludeSpam } from "../valuation/value-snapshot.ts";
import { portfolioSnapshotSchema } from "./snapshot-schema.ts";

export type PortfolioEndpointOptions = {
  readonly route: PaidRoute;
  readonly query: PortfolioParameters;
  readonly gate: Pick<Gate, "challenge" | "serve">;
  readonly snapshots: SnapshotReader;
  /** Answers without payment: nobody is told terms first, and no receipt comes with an answer. */
  readonly free?: boolean;
  /** Asked when the first visitor comes, and then never again. */
  readonly page: () => HtmlPage;
};

const SIGNATURE = "payment-signature";

const RECEIPT = "How it was paid: base64 of {success, transaction, network, payer, amount}.";

const signatureParameter: Parameter = {
  name: "PAYMENT-SIGNATURE",
  in: "header",
  required: false,
  kind: { json: { type: "string" }, parse: (text) => text },
  description:
    "The payment: base64 of an x402 version 2 payload. The same one with the same request again is free.",
};

const error = {
  title: "Error",
  ...closedObject({ error: { type: "string", description: "One clear sentence." } }),
};

export function createPortfolioEndpoint(needs: PortfolioEndpointOptions): Endpoint {
  const { route, query, gate, snapshots, free = false } = needs;
  const { method, path } = route;
  let made: HtmlPage | null = null;
  const once = {
    ...needs,
    page: () => {
      made ??= needs.page();
      return made;
    },
  };
  return {
    method,
    path,
    operationId: "getPortfolio",
    summary: "What a wallet holds, and what it is worth",
    tag: "Portfolio",
    parameters: [...query.parameters, signatureParameter],
    body: null,
    responses: { 200: portfolioSnapshotSchema, 402: paymentRequiredSchema, 500: error },
    errorStatuses: [409],
    responseHeaders: {
      200: free ? {} : { "payment-response": RECEIPT },
      402: {
        "payment-required": "What must be paid, and to whom: base64 of the x402 version 2 requirements.",
      },
    },
    extensions: buildPaymentExtension(route),
    preHandler: (head) => (free ? shown(once, head) : unpaid(once, head)),
    onTimeout: ({ headers }) => (headers[SIGNATURE] === undefined ? null : varying(UNDER_WAY)),
    async handle({ values, headers }) {
      const request = query.parse(values);
      const resource: PaidResource = { method, path, query: canonicalQuery(request) };
      const answer = await gate.serve({ resource, signature: headers[SIGNATURE] }, async (signal) => {
        const snapshot = await snapshots.read(request, signal);
        return { status: 200, body: request.spam === "exclude" ? excludeSpam(snapshot) : snapshot };
      });
      return varying(answer);
    },
  };
}

// Whoever has paid must not be told to try again in a way that could make him sign anew.
const UNDER_WAY = toErrorResponse(
  "PAYMENT_PENDING",
  "The payment is being worked on; send the same signature again to get the answer.",
  2,
);

/** What is told to whoever looks before asking: browsers get the page, probes the terms. */
function unpaid(needs: PortfolioEndpointOptions, head: RequestHead): EndpointResponse | null {
  const { route, gate } = needs;
  if (head.headers[SIGNATURE] !== undefined) return null;
  const page = shown(needs, head);
  if (page === null && head.query !== "") return null;
  const terms = gate.challenge({ method: route.method, path: route.path, query: {} });
  if (page === null) return varying(terms);
  return { ...page, status: terms.status, headers: { ...terms.headers, ...page.headers } };
}

/** The page, for who would rather look than read. */
function shown({ page }: PortfolioEndpointOptions, head: RequestHead): EndpointResponse | null {
  if (!prefersHtml(head.headers.accept)) return null;
  const { html, contentSecurityPolicy: policy } = page();
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
  return varying({ status: 200, headers, body: Buffer.from(html) });
}

/** The same address answers people and programs differently; caches must know. */
function varying(answer: EndpointResponse): EndpointResponse {
  return { ...answer, headers: { ...answer.headers, vary: "accept" } };
}

function canonicalQuery({ wallet, slugs, spam }: PortfolioRequest): Readonly<Record<string, string>> {
  return { address: wallet, chains: slugs.join(","), ...(spam === "include" ? {} : { spam }) };
}
