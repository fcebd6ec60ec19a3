// The endpoint of a paid route: validates the request, takes the payment and responds; browsers may get the pay page.
import { SIGN_IN } from "@sextant/client/payments/sign-in-message";
import type { HtmlPage } from "../../http/pages/document.ts";
import { sendsBody } from "../../http/routes/endpoints.ts";
import { Fault } from "../../lib/fault.ts";
import { readCredential } from "../../payments/mpp/credential.ts";
import type { PaidRequest, PaidResource } from "../../payments/paywall/offer.ts";
import { encodeX402Header } from "../../payments/paywall/offer.ts";
import { VERSION_1_MESSAGE } from "../../payments/paywall/payment-envelope.ts";
import { PAYMENT_IN_PROGRESS } from "../../payments/paywall/responses.ts";
import { SIGN_IN_PARAMETER } from "../../payments/sign-in/sign-in-parameter.ts";
import type { Endpoint, EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import type { Parameter } from "../../schema/parameter.ts";
import { exampleSnapshot } from "../../schema/portfolio/examples.ts";
import { buildPaymentExtension, paymentRequiredSchema, X402_SECURITY } from "../../web/discovery.ts";
import type { PaidRoute } from "../../web/offering.ts";
import { prefersHtml } from "../../web/page.ts";
import {
  datedRequestSchema,
  LOCATION_HEADER,
  namedWalletSchema,
  redirectDates,
  redirectNamedWallet,
} from "./dated-request.ts";
import { describePaidRoute, type SoldRoute } from "./offering.ts";
import type { PaidRouteDeclaration, RouteServices } from "./routes/paid-route.ts";

type PaidEndpointOptions = {
  readonly sold: SoldRoute;
  /** The slugs of the chains that are served. */
  readonly served: readonly string[];
  readonly services: RouteServices;
  /** Responds without payment: no terms and no receipt. */
  readonly free?: boolean;
  /** Rendered once, for the first visitor; null if browsers get what programs get. */
  readonly page: (() => HtmlPage) | null;
  /** Whether its responses are signed. */
  readonly isSigned?: boolean;
};

const SIGNATURE = "payment-signature";
const VERSION_1_SIGNATURE = "x-payment";

const RECEIPT = "The receipt: base64 of {success, transaction, network, payer, amount}.";
const MPP_RECEIPT =
  "For a credential: base64url of {method, challengeId, reference, status, timestamp, chainId}; the reference is the transaction.";

function describeHeaders(
  { takesMpp }: PaidRoute,
  { free = false, isSigned = false }: Pick<PaidEndpointOptions, "free" | "isSigned">,
): NonNullable<Endpoint["responseHeaders"]> {
  const signed = isSigned ? SIGNED_HEADERS : {};
  const receipts = { "payment-response": RECEIPT, ...(takesMpp ? { "payment-receipt": MPP_RECEIPT } : {}) };
  return {
    200: { ...(free ? {} : receipts), ...signed },
    307: { location: LOCATION_HEADER, ...signed },
    402: {
      "payment-required": "The payment requirements: base64 of the x402 version 2 requirements.",
      ...(takesMpp
        ? { "www-authenticate": "The challenge of the Machine Payments Protocol: method evm, intent charge." }
        : {}),
      "x-error-code": "PAYMENT_REQUIRED.",
      "retry-after": "For a sign-in that was not looked at: seconds to wait.",
    },
  };
}

const SIGNED_HEADERS = {
  "content-digest": "SHA-256 of the content (RFC 9530).",
  "signature-input": "What the signature covers, and by which key (RFC 9421).",
  signature: "The Ed25519 signature of this response to this request.",
};

const CREDENTIAL: Parameter = {
  name: "Payment-Authorization",
  in: "header",
  required: false,
  kind: { json: { type: "string" }, parse: (text) => text },
  description:
    "The payment by the Machine Payments Protocol: a credential for the challenge in WWW-Authenticate, which Authorization may carry as well. Sending the same credential with the same request again is free.",
  example: "Payment eyJjaGFsbGVuZ2UiOns...",
};

type SentPayment = Pick<PaidRequest, "signature" | "credential" | "signIn">;

/**
 * The payment of a request, or the sign-in of an account that has paid; null without either. A service that takes only x402
 * leaves Authorization to proxies.
 */
function readPayment(
  { sale }: SoldRoute,
  { headers, isHead }: Pick<RequestHead, "headers" | "isHead">,
): SentPayment | null {
  const signature = headers[SIGNATURE];
  const credential = sale.offer.mpp === undefined ? undefined : readCredential(headers);
  // Its nonce is good for one response, which needs a body.
  const signIn = isHead || sale.offer.signIn === undefined ? undefined : headers[SIGN_IN];
  const isUnpaid = signature === undefined && credential === undefined && signIn === undefined;
  return isUnpaid ? null : { signature, credential, signIn };
}

function describeSignature({ terms }: PaidRoute): Parameter {
  return {
    name: "PAYMENT-SIGNATURE",
    in: "header",
    required: false,
    kind: { json: { type: "string" }, parse: (text) => text },
    description:
      "The payment: base64 of an x402 version 2 payload. Repeating the same payment with the same request is free. The example has the right form, but its signature is not valid.",
    example: encodeX402Header({ x402Version: 2, accepted: terms, payload: examplePayload(terms) }),
  };
}

function examplePayload({ amount, payTo }: PaidRoute["terms"]) {
  const authorization = {
    from: exampleSnapshot.address,
    to: payTo,
    value: amount,
    validAfter: "0",
    validBefore: "1767225660",
    nonce: `0x${"00".repeat(32)}`,
  };
  return { authorization, signature: `0x${"00".repeat(65)}` };
}

/** The parameters and results of a route, whatever it costs. */
export function describePaidEndpoint(
  { path, operationId, summary, description, body, response, otherResponses = [] }: PaidRouteDeclaration,
  parameters: readonly Parameter[],
): Omit<Endpoint, "handle"> {
  return {
    method: body ? "POST" : "GET",
    path,
    operationId,
    summary,
    description,
    tag: "Portfolio",
    parameters,
    body: body?.schema ?? null,
    ...(body && { bodyExample: body.example, bodyBytesMax: body.bytesMax }),
    responses: { 200: otherResponses.length === 0 ? response : { anyOf: [response, ...otherResponses] } },
  };
}

export function createPaidEndpoint(options: PaidEndpointOptions): Endpoint {
  const { sold, services, free = false } = options;
  const { declaration, sale } = sold;
  const route = describePaidRoute(sold);
  const query = declaration.createQuery(options.served);
  const { method, path } = route;
  const page = renderOnce(options.page);
  const credential = route.takesMpp ? [CREDENTIAL] : [];
  const signIn = free ? [] : [SIGN_IN_PARAMETER];
  const parameters = [...query.parameters, describeSignature(route), ...credential, ...signIn];
  const description = describePaidEndpoint(declaration, parameters);
  return {
    ...description,
    responses: {
      ...description.responses,
      307: { anyOf: [namedWalletSchema, datedRequestSchema] },
      402: paymentRequiredSchema,
    },
    responseExample: declaration.responseExample,
    errorStatuses: [404, 409, 500],
    responseHeaders: describeHeaders(route, options),
    security: free ? null : X402_SECURITY,
    extensions: buildPaymentExtension(route),
    preHandler: (head) => {
      const early = (each: RequestHead) =>
        free ? respondWithPage(page, each) : respondUnpaid(sold, route, { page, head: each });
      const names = query.parameters.map(({ name }) => name);
      // A name leads to its address first, and the times of that request to their blocks.
      const redirected =
        redirectNamedWallet({ names: services.names, path }, head) ??
        redirectDates({ ...services, path, served: options.served, parameters: names }, head);
      return redirected === null ? early(head) : showPageOnFault(redirected, () => early(head));
    },
    onTimeout: (head) => (readPayment(sold, head) === null ? null : varyByAccept(PAYMENT_IN_PROGRESS)),
    async handle({ values, body, headers, isHead, client }) {
      const request = query.parse(values, body);
      const countPricedChains = async () =>
        sale.offer.amountPerChain ? request.countChains(services, client) : 1;
      const chainCount = await countPricedChains();
      const { isSummary = false, hasProofs = false } = request;
      const priced = {
        ...(chainCount > 1 && { chainCount }),
        ...(isSummary && { isSummary }),
        ...(hasProofs && { hasProofs }),
      };
      const resource: PaidResource = { method, path, query: request.query, ...priced };
      const payment = readPayment(sold, { headers, isHead });
      if (!free && payment === null) {
        await request.check(services, client);
        const warnings = [describePrice(route, { chainCount, isSummary, hasProofs }), request.warning];
        return varyByAccept(sale.challenge(resource, describeUnpaid(headers, warnings)));
      }
      const response = await sale.serve(
        { resource, signature: undefined, ...payment, client },
        async (signal) => {
          if ((await countPricedChains()) !== chainCount) throw soldMeanwhile();
          const read = () => request.read(services, signal);
          return { status: 200, body: await services.load.runFor(client, request.readCount, read) };
        },
      );
      if (response.status === 200) {
        await declaration.onDelivery?.(services, { query: request.query, body: response.body });
      }
      return varyByAccept(response);
    },
  };
}

/** The price that was paid is that of a difference from nothing. */
function soldMeanwhile(): Fault {
  return new Fault(
    "NOT_FOUND",
    "This wallet had no snapshot of that id when the price was named, and nothing was charged; ask for the price again.",
  );
}

type PageRenderer = () => HtmlPage;

function renderOnce(render: PageRenderer | null): PageRenderer | null {
  if (render === null) return null;
  let rendered: HtmlPage | null = null;
  return () => {
    rendered ??= render();
    return rendered;
  };
}

/** A request without payment, parameters and body: browsers get the page, other clients the terms. */
function respondUnpaid(
  sold: SoldRoute,
  route: PaidRoute,
  { page: renderer, head }: { readonly page: PageRenderer | null; readonly head: RequestHead },
): EndpointResponse | null {
  if (readPayment(sold, head) !== null) return null;
  const page = respondWithPage(renderer, head);
  // A body decides about the terms, and is not read yet.
  if (page === null && (head.query !== "" || sendsBody(head))) return null;
  const resource = { method: route.method, path: route.path, query: {} };
  const terms = sold.sale.challenge(
    resource,
    describeUnpaid(head.headers, [
      describePrice(route, { chainCount: 1, isSummary: false, hasProofs: false }),
    ]),
  );
  if (page === null) return varyByAccept(terms);
  return { ...page, status: terms.status, headers: { ...terms.headers, ...page.headers } };
}

/** A browser gets the page also for a name that leads nowhere: it says so when the visitor goes on. */
async function showPageOnFault(
  redirected: Promise<EndpointResponse>,
  early: () => EndpointResponse | null,
): Promise<EndpointResponse> {
  try {
    return varyByAccept(await redirected);
  } catch (error) {
    const page = error instanceof Fault ? early() : null;
    if (page === null) throw error;
    return page;
  }
}

/** Why a request counts as unpaid, and what its payer should know. */
function describeUnpaid(
  headers: RequestHead["headers"],
  warnings: readonly (string | null | undefined)[],
): string {
  const reason = headers[VERSION_1_SIGNATURE] === undefined ? "Payment required." : VERSION_1_MESSAGE;
  return [reason, ...warnings].filter((each) => each != null).join(" ");
}

/** Null if all requests of the route have one price. */
function describePrice(
  { priceUsdPerChain, priceUsdSummary, priceUsdProof }: PaidRoute,
  {
    chainCount,
    isSummary,
    hasProofs,
  }: Required<Pick<PaidResource, "chainCount" | "isSummary" | "hasProofs">>,
): string | null {
  const chains = chainCount === 1 ? "one chain" : `${chainCount} chains`;
  const sentences = [
    priceUsdPerChain === null
      ? []
      : [`This is the price of ${chains}: each one after the first adds $${priceUsdPerChain}.`],
    priceUsdSummary === null || isSummary
      ? []
      : [`With detail=summary ${priceUsdPerChain === null ? "it" : "one chain"} costs $${priceUsdSummary}.`],
    priceUsdProof === null || !hasProofs
      ? []
      : [
          `$${priceUsdProof} of it is for proof=1: a signed transfer has one amount, so that it is charged even if no node proves anything.`,
        ],
  ].flat();
  return sentences.length === 0 ? null : sentences.join(" ");
}

/** The pay page for a client that prefers HTML, otherwise null. */
function respondWithPage(page: PageRenderer | null, head: RequestHead): EndpointResponse | null {
  if (page === null || !prefersHtml(head.headers.accept)) return null;
  const { html, contentSecurityPolicy } = page();
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": contentSecurityPolicy,
  };
  return varyByAccept({ status: 200, headers, body: Buffer.from(html) });
}

/** Browsers and other clients get different responses from the same URL, so caches must distinguish them. */
function varyByAccept(response: EndpointResponse): EndpointResponse {
  return { ...response, headers: { ...response.headers, vary: "accept" } };
}
