// Sends the requests of tools to the services through the client, and pays for what is sold with its guard and journal.
import { createHash } from "node:crypto";
import { SextantError } from "@sextant/client/errors";
import { OPERATIONS } from "@sextant/client/generated/operations";
import { type Call, type CallContext, sendChecked, sendForDocument } from "@sextant/client/http/call";
import { giveAddress, locateRepeatably, locateWallet } from "@sextant/client/http/named-wallet";
import { sendRepeatedly } from "@sextant/client/http/repeat";
import { normalizeRequestUrl } from "@sextant/client/http/request-spelling";
import { type HttpRequest, type HttpResponse, parseJson } from "@sextant/client/http/transport";
import type { Operation } from "@sextant/client/operation";
import type { Sextant } from "@sextant/client/sextant";
import type { ServiceRequest } from "../mcp/tool.ts";
import type { CallOptions, SendRequest } from "../mcp/tool-calls.ts";
import { encodePayment, type ServiceResponse } from "../mcp/tool-result.ts";
import type { OpenClient } from "./client-settings.ts";
import { findPaidAction } from "./client-settings.ts";
import { PURCHASE_MS } from "./tool-price.ts";

// Agents wait for a minute, and can call again themselves.
const ATTEMPTS_MAX = 2;

type ToolSenderOptions = Pick<OpenClient, "sextant" | "calls" | "urls" | "payer"> & {
  readonly now?: () => number;
};

export function createToolSender(options: ToolSenderOptions): SendRequest {
  const { sextant, urls, payer, now = Date.now } = options;
  const calls: CallContext = { ...options.calls, writer: null, attemptsMax: ATTEMPTS_MAX };
  return async (request, { payment, signal }) => {
    const operation = findOperation(request.operation);
    try {
      if (operation.kind === "paid") {
        const given = normalizeRequestUrl(`${urls.portfolio ?? ""}${request.url}`);
        const asked = { method: request.method, url: given, signal };
        if (payer === null) return await passOn(calls, asked, payment);
        const locate = () => locateRepeatably(calls, asked);
        const purchase = await findPurchase(sextant, { given, locate, payer }, now());
        return await buy(sextant, request, { purchase, signal });
      }
      const call = toCall(request, { operation, signal });
      if (operation.kind === "document") return toResponse((await sendForDocument(calls, call)).text);
      const { text, headers } = await sendChecked(calls, call);
      return toResponse(JSON.stringify(parseJson(text)), Object.fromEntries(headers));
    } catch (error) {
      if (!(error instanceof SextantError)) throw error;
      return toFailure(error, operation.kind === "paid" || error.payment !== null);
    }
  };
}

function findOperation(id: string): Operation {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  const found = operations[id];
  if (found === undefined) throw new TypeError(`The client has no operation ${id}.`);
  return found;
}

function toCall(
  { operation: id, parameters, body }: ServiceRequest,
  { operation, signal }: Pick<Call, "operation"> & { readonly signal: AbortSignal },
): Call {
  const { block, at, min_block: minBlock } = parameters;
  if (block !== undefined && at !== undefined) {
    throw new SextantError("INPUT_INVALID", "at and block exclude each other: give the time or the block.");
  }
  return {
    id,
    // The service finds the block of a time itself, and says which it is.
    operation: at === undefined ? operation : { ...operation, query: [...operation.query, "at"] },
    parameters,
    body,
    findBlock: block === undefined ? null : async () => block,
    minBlock: minBlock === undefined ? undefined : BigInt(minBlock),
    signal,
  };
}

/** Without a payer the caller pays: terms and payment pass through, as over HTTP. */
async function passOn(
  calls: Pick<CallContext, "transport" | "attemptsMax">,
  asked: HttpRequest,
  payment: CallOptions["payment"],
): Promise<ServiceResponse> {
  if (payment === null) {
    const request = { ...asked, url: await locateWallet(calls, asked) };
    const { transport, attemptsMax } = calls;
    return toPassed(await sendRepeatedly(transport, request, { attemptsMax, accepted: [200, 402] }));
  }
  const request = { ...asked, headers: { "payment-signature": encodePayment(payment) } };
  try {
    // Sent with the payment, an age leads to the blocks that were paid for; without it, to later ones each time.
    const url = await locateWallet(calls, request);
    return toPassed(await calls.transport.send({ ...request, url }));
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    // The service says itself why the payment leads nowhere, and what to do.
    if ((error.status ?? 0) >= 400) return toFailure(error, false);
    throw error.forPayment("", "unknown", "same-signature");
  }
}

function toPassed({ status, headers, text }: HttpResponse): ServiceResponse {
  return { status, headers: Object.fromEntries(headers), body: text };
}

async function buy(
  sextant: Sextant,
  { operation, parameters }: ServiceRequest,
  options: { readonly purchase: string; readonly signal: AbortSignal },
): Promise<ServiceResponse> {
  const { data, receipt } = await findPaidAction(sextant, operation)(parameters, options);
  if (receipt === null) return toResponse(JSON.stringify(data));
  const settled = { success: true, ...receipt, amount: receipt.amount.toString() };
  return toResponse(JSON.stringify(data), { "payment-response": encodePayment(settled) });
}

/** The name of the purchase that this call repeats, or one that all processes choose which make it at the same time. */
async function findPurchase(
  sextant: Sextant,
  { given, locate, payer }: { readonly given: string; locate(): Promise<string>; readonly payer: string },
  nowMs: number,
): Promise<string> {
  const payments = (await sextant.payments.list()).filter(
    (each) => each.payer === payer.toLowerCase() && each.purchase?.startsWith(PREFIX),
  );
  const findLast = (asked: string) =>
    payments.findLast(({ url, givenUrl }) =>
      [url, givenUrl ?? url, giveAddress(givenUrl ?? url, url)].some(
        (each) => normalizeRequestUrl(each) === asked,
      ),
    );
  const findStandingName = (asked: string) => {
    const last = findLast(asked);
    // Paid, or not known to be over: under its name the client signs another one only when it is.
    const isRecent = last?.state !== "paid" || nowMs - last.at < PURCHASE_MS;
    return last?.state !== "released" && isRecent ? (last?.purchase ?? null) : null;
  };
  // Keyed by what the agent asked for first: only the service says to which address a name leads.
  const asGiven = findStandingName(given);
  if (asGiven !== null) return asGiven;
  const located = await locate();
  const byAddress = findStandingName(located);
  if (byAddress !== null) return byAddress;
  // A name is for one request.
  const request = createHash("sha256").update(located).digest("hex").slice(0, 12);
  return `${PREFIX}${Math.floor(nowMs / PURCHASE_MS)}-${request}`;
}

const PREFIX = "mcp-";

function toResponse(body: string, headers: ServiceResponse["headers"] = {}): ServiceResponse {
  return { status: 200, headers, body };
}

function toFailure(error: SextantError, isPaid: boolean): ServiceResponse {
  const { code, status, retryAfterMs, message, charged, retry } = error;
  const retryAfter = retryAfterMs === null ? undefined : String(Math.ceil(retryAfterMs / 1_000));
  return {
    // Without a response there is no status; a service that does not respond gets this one.
    status: status === null || status < 400 ? 503 : status,
    headers: { "x-error-code": code, "retry-after": retryAfter },
    body: JSON.stringify({ error: message }),
    ...(isPaid ? { payment: { charged, advice: `${CHARGED[charged]} ${ADVICE[retry]}` } } : {}),
  };
}

const CHARGED: Readonly<Record<SextantError["charged"], string>> = {
  no: "Nothing was charged.",
  once: "It was charged once.",
  unknown: "Whether it was charged is not known yet.",
};

const ADVICE: Readonly<Record<SextantError["retry"], string>> = {
  "same-signature": "Call again in the same way: the same payment is sent, and it is never charged twice.",
  "sign-again": "Call again in the same way: a new payment is made.",
  never: "Do not call again in the same way; tell the user.",
};
