// The routes of the API that a price is for, how a request to one is charged, and what the documents say about it.

import { createHash, randomUUID } from "node:crypto";
import { SIGN_IN } from "@sextant/client/payments/sign-in-message";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { EXPLORER_PATH } from "../../explorer/context.ts";
import { siteFiles } from "../../http/icon.ts";
import { readParameters, readQuery, withRequestTimeout } from "../../http/internal-requests.ts";
import type { RouteDescription } from "../../http/openapi/route-description.ts";
import { serializeResponse } from "../../http/response.ts";
import type { ResponseSigner } from "../../http/signing/response-signer.ts";
import { openTextStream } from "../../http/text-stream.ts";
import { formatAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { ClientSender } from "../../mcp/endpoint.ts";
import { parseChannelPayment } from "../../payments/channels/channel-payment.ts";
import { toStoredResponse } from "../../payments/ledger/row.ts";
import type { Sale } from "../../payments/paywall/gate.ts";
import { amountOf, type PaidResource } from "../../payments/paywall/offer.ts";
import { parsePaymentHeader } from "../../payments/paywall/payment-envelope.ts";
import { PAYMENT_IN_PROGRESS } from "../../payments/paywall/responses.ts";
import { SIGN_IN_PARAMETER } from "../../payments/sign-in/sign-in-parameter.ts";
import type { EndpointResponse, StreamedResponse } from "../../schema/endpoint.ts";
import type { Parameter } from "../../schema/parameter.ts";
import { channelRequiredSchema, X402_SECURITY } from "../../web/discovery.ts";
import { asksForStream } from "../events/endpoint.ts";
import type { ApiSale } from "./open-sale.ts";
import { PaidStreams } from "./paid-streams.ts";

/** GET routes that stay free besides the pages of the explorer: about the service, whether to trust it, and webhooks. */
export const FREE_PATHS: ReadonlySet<string> = new Set([
  ...["/", "/health", "/ready", "/metrics", "/openapi.json", "/docs", "/llms.txt", "/verify"],
  ...siteFiles.map(({ path }) => path),
  ...["/deployments", "/integrity", "/webhooks/:id"],
]);

const STREAM_MS = 60_000;
const STREAM_TYPE = "text/event-stream";
const SIGNATURE = "payment-signature";

/** The sale at one deployment. */
export type SaleOptions = ApiSale & {
  /** The URL of the deployment for clients. */
  readonly publicUrl: () => string;
  /** How long a stream is open for one payment: a minute, and less in tests. */
  readonly streamMs?: number;
};

type SoldRoute = {
  /** The route by its name among those that the process may call itself. */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** Headers that decide what is sent, besides the URL. */
  readonly headers: readonly string[];
  readonly sale: Sale;
  readonly price: string;
};

function isSold({ method, path, security }: RouteDescription): boolean {
  return method === "GET" && security === null && !FREE_PATHS.has(path);
}

/**
 * Charges for each request of a client. Pages and tools reach routes past it. Before the first route: one that is neither
 * sold nor free is a mistake.
 */
export function sellRoutes(
  app: FastifyInstance,
  described: readonly RouteDescription[],
  sale: SaleOptions,
  /** Signs what is sold; absent without keys. */
  signer?: ResponseSigner,
): void {
  const sold = new Map(
    described.filter(isSold).map(({ path, operationId, parameters, otherTypes }): [string, SoldRoute] => {
      const headers = otherTypes === undefined ? [] : ["accept", "last-event-id"];
      return [path, { name: operationId, parameters, headers, sale: sale.read, price: priceOf(sale) }];
    }),
  );
  if (signer !== undefined) {
    const signFree = app.signError;
    app.signError = (response, request) =>
      sold.has(response.route) ? signer.sign(response, request) : (signFree?.(response, request) ?? response);
  }
  app.addHook("onRoute", ({ method, url }) => {
    if (![method].flat().includes("GET") || sold.has(url) || FREE_PATHS.has(url)) return;
    const isPage = url === EXPLORER_PATH || url.startsWith(`${EXPLORER_PATH}/`);
    if (!isPage) throw new TypeError(`${url} is neither sold nor free`);
    if (!url.endsWith(".csv")) return;
    const price = formatUsd(sale.download);
    sold.set(url, {
      name: url,
      parameters: [],
      headers: [],
      sale: sale.download,
      price: `${price} a download`,
    });
  });
  const streams = new PaidStreams(STREAM_MS);
  app.addHook("preHandler", async (request, reply) => {
    const route = sold.get(request.routeOptions.url ?? "");
    if (route === undefined || !["GET", "HEAD"].includes(request.method)) return;
    const response = await charge(app, { route, sale, request, streams });
    if ("open" in response) openTextStream(request, reply, response);
    else {
      const sent = serializeResponse({ route: request.routeOptions.url ?? "", ...response });
      reply.sendSerialized(signer === undefined ? sent : signer.sign(sent, request));
    }
    return reply;
  });
}

type SoldRequest = {
  readonly route: SoldRoute;
  readonly sale: SaleOptions;
  readonly request: FastifyRequest;
  readonly streams: PaidStreams;
};

async function charge(
  app: FastifyInstance,
  { route, sale, request, streams }: SoldRequest,
): Promise<EndpointResponse | StreamedResponse> {
  const { url, params, client, body, raw } = request;
  // Stored with its payment, a response must suit every client that asks for it again.
  const headers = { ...request.headers, "accept-encoding": undefined };
  const respond = async () => {
    const internal = app.internalRoutes.get(route.name);
    if (internal === undefined) throw new TypeError(`${route.name} is sold and has no route`);
    return internal.respond({ url, params, headers, client, body, raw });
  };
  const query = readQuery(url);
  // A request that the route rejects is rejected before a price is named.
  readParameters(route.parameters, request, query);
  // A time leads to the file of its block.
  if (route.sale === sale.download && query.get("at")) return respond();
  const resource = describeResource(route, sale, request);
  const signature = request.headers[SIGNATURE];
  const isStream = route.headers.length > 0 && asksForStream({ headers: { accept: request.headers.accept } });
  if (typeof signature !== "string") {
    // No stream is stored, and the nonce of a sign-in is good for one body.
    const signIn = request.method === "HEAD" || isStream ? undefined : request.headers[SIGN_IN];
    if (typeof signIn === "string") {
      const again = route.sale.serve({ resource, signature: undefined, signIn, client }, runNothing);
      return withRequestTimeout(app, again, PAYMENT_IN_PROGRESS);
    }
    const price = resource.hasProofs ? describeProofPrice(route) : route.price;
    return route.sale.challenge(resource, `Payment required: ${price}, by payment channel.`);
  }
  const order = { resource, signature, client };
  // Its limits are checked and its slot is taken before anything is charged, also for a payment that is sent again.
  if (isStream) {
    const name = createHash("sha256").update(JSON.stringify(order)).digest("hex");
    const stream = await respond().catch(async (error: unknown) => {
      // The slot may be that of the stream which this one replaces.
      if (!isFull(error) || !(await streams.endFor(name))) throw error;
      return respond();
    });
    if ("open" in stream) return chargeStream(app, stream, { route, sale, order, streams, name });
  }
  const work = route.sale.serve(order, async () => {
    const signer = readSigner(signature, route.sale);
    sale.stored.check(signer);
    const response = await respond();
    if ("open" in response) throw new TypeError("a stream is sold as a page");
    if (response.status >= 400) return response;
    const stored = toStoredResponse(response);
    sale.stored.take(signer, stored.body.length);
    return stored;
  });
  return withRequestTimeout(app, work, PAYMENT_IN_PROGRESS);
}

/** The handler of a request that signs in. */
async function runNothing(): Promise<never> {
  throw new TypeError("a sign-in runs a handler");
}

const isFull = (error: unknown) =>
  error instanceof Fault && (error.code === "RATE_LIMITED" || error.code === "OVERLOADED");

/** The key that has signed a voucher which the gate has accepted. */
function readSigner(signature: string, { offer }: Sale): string {
  const what = "The voucher";
  const envelope = parsePaymentHeader(signature, offer);
  const payment = "unsupported" in envelope ? envelope : parseChannelPayment(envelope.payload, what);
  if ("unsupported" in payment) throw new TypeError("a read is sold for something else than a voucher");
  return payment.config.payerAuthorizer;
}

/** A payment that is sent again gets the same stream for what is left of its minute, in place of the one that it has open. */
async function chargeStream(
  app: FastifyInstance,
  stream: StreamedResponse,
  {
    route,
    sale,
    order,
    streams,
    name,
  }: Omit<SoldRequest, "request"> & { readonly order: Parameters<Sale["serve"]>[0]; readonly name: string },
): Promise<EndpointResponse | StreamedResponse> {
  let isSold = false;
  try {
    const work = route.sale.serve(order, async () => {
      const paidUntil = Date.now() + (sale.streamMs ?? STREAM_MS);
      return {
        status: 200,
        headers: stream.headers,
        body: { paid_until: paidUntil, stream: randomUUID() },
      };
    });
    const response = await withRequestTimeout(app, work, PAYMENT_IN_PROGRESS);
    isSold = response.headers?.["content-type"]?.startsWith(STREAM_TYPE) === true;
    return isSold ? streams.limit(stream, response, name) : response;
  } finally {
    if (!isSold) stream.cancel();
  }
}

/** All that decides what is sent: a payment for one response buys no other. */
function describeResource(
  { headers, parameters }: SoldRoute,
  { publicUrl }: SaleOptions,
  request: FastifyRequest,
): PaidResource {
  const [path = ""] = request.url.split("?", 1);
  const asked = headers.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  const base = new URL(publicUrl()).pathname.replace(/\/$/, "");
  const query = readQuery(request.url);
  return {
    method: "GET",
    path: base + path,
    query: Object.fromEntries(query),
    headers: Object.fromEntries(asked),
    hasProofs: isProvable(parameters) && query.get("proof") === "1",
  };
}

/** Tools do not pay: a result that is too large makes them ask twice, and a payment is for one request. */
export function rejectSoldTools(
  sendFor: ClientSender,
  described: readonly RouteDescription[],
  { publicUrl, ...sale }: SaleOptions,
): ClientSender {
  const sold = new Set(described.filter(isSold).map(({ operationId }) => operationId));
  return (client) => {
    const send = sendFor(client);
    return async (request, options) => {
      if (!sold.has(request.operation)) return send(request, options);
      const url = publicUrl().replace(/\/$/, "") + request.url;
      const error = `This server sells reads (${priceOf(sale)}), and tools do not pay: GET ${url} with a client of x402 that pays by channel.`;
      return {
        status: 402,
        headers: { "x-error-code": "PAYMENT_REQUIRED" },
        body: JSON.stringify({ error }),
      };
    };
  };
}

function formatUsd({ offer: { amount, decimals } }: Sale): string {
  return `$${formatAmount(amount, decimals)}`;
}

function isProvable(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name }) => name === "proof");
}

function describeProofPrice({ sale: { offer } }: Pick<SoldRoute, "sale">): string {
  const { decimals, proofAmount = 0n } = offer;
  const sum = `$${formatAmount(amountOf(offer, { hasProofs: true }), decimals)}`;
  return proofAmount === 0n
    ? `${sum} a request`
    : `${sum} a request, of which $${formatAmount(proofAmount, decimals)} is for proof=1`;
}

function priceOf({ read }: Pick<ApiSale, "read">): string {
  return `${formatUsd(read)} a request, which for a stream is a minute`;
}

/** For people and programs that read the documents. */
export function describePrice(sale: ApiSale): string {
  return `Reads cost ${priceOf(sale)}; a CSV of the explorer costs ${formatUsd(sale.download)}. They are paid by payment channel (x402, scheme batch-settlement).`;
}

/** The route with its price, and what a payment adds to request and response. */
export function describeSold(route: RouteDescription, sale: ApiSale): RouteDescription {
  if (!isSold(route)) return route;
  const { description, parameters, responses, responseHeaders = {}, otherTypes, errorStatuses } = route;
  const minute = otherTypes === undefined ? "" : " A stream ends after each minute with the message ended.";
  return {
    ...route,
    description: `${description} Costs ${formatUsd(sale.read)}${describeAddition(parameters, sale)}.${minute}`,
    parameters: [...parameters, SIGNATURE_PARAMETER, SIGN_IN_PARAMETER],
    security: X402_SECURITY,
    responses: { ...responses, 402: { type: "application/json", schema: channelRequiredSchema } },
    responseHeaders: {
      ...responseHeaders,
      200: { ...responseHeaders[200], "payment-response": "The receipt: base64 of what was charged." },
      402: {
        "payment-required": "The payment requirements: base64 of the x402 version 2 requirements.",
        "x-error-code": "PAYMENT_REQUIRED.",
        "retry-after": "For a sign-in that was not looked at: seconds to wait.",
      },
    },
    errorStatuses: [...errorStatuses, 409],
    // A sold response is sent whole.
    hasEtag: false,
    extensions: {
      ...route.extensions,
      "x-payment-info": {
        price: { mode: "fixed", amount: sale.priceUsd, currency: "USD" },
        protocols: [{ x402: {} }],
      },
    },
  };
}

function describeAddition(parameters: readonly Parameter[], { read }: ApiSale): string {
  const { proofAmount = 0n, decimals } = read.offer;
  if (proofAmount === 0n || !isProvable(parameters)) return "";
  return `, and with \`proof=1\` $${formatAmount(proofAmount, decimals)} more`;
}

const SIGNATURE_PARAMETER: Parameter = {
  name: "PAYMENT-SIGNATURE",
  in: "header",
  required: false,
  kind: { json: { type: "string" }, parse: (text) => text },
  description: "A voucher of a payment channel: base64 of an x402 version 2 payload.",
  example: "eyJ4NDAyVmVyc2lvbiI6Mn0=",
};
