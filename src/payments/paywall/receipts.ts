// Signed receipts of what was sold: the x402 extension offer-receipt, and our statement about the response itself.
import { issueStatement } from "../../http/signing/jws.ts";
import { contentDigest } from "../../http/signing/response-signer.ts";
import { systemClock } from "../../lib/clock.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { EndpointResponse } from "../../schema/endpoint.ts";
import type { StoredResponse } from "../ledger/row.ts";
import { type PaidResource, type PaymentOffer, resourceUrl } from "./offer.ts";
import { listSchema, OFFER_RECEIPT, offeredUrl } from "./signed-offers.ts";

/** A payment as receipts state it. */
type ReceiptPayment = {
  readonly payer: string;
  readonly amount: bigint;
} & (
  | { readonly transaction: string }
  | {
      readonly channelId: string;
      /** The sum of the channel with this purchase; means nothing for a free one. */
      readonly cumulative: bigint;
    }
);

/** The part of a receipt that states something about the response; noted when it is stored, so that every delivery has the same receipt. */
type ResponseNote = {
  readonly issuedAt: number;
  readonly digest: string;
  readonly blocks: readonly unknown[];
};

/** The stored header with the note. It is never sent. */
const NOTE = "sextant-answer";
const STATEMENT = "sextant-answer";
// A snapshot of all chains twice, as a difference has them.
const BLOCKS_MAX = 100;

/** The response with the note for its receipt; unchanged without keys. */
export function noteResponse(
  { signingKeys }: Pick<PaymentOffer, "signingKeys">,
  { body }: EndpointResponse,
  stored: StoredResponse,
): StoredResponse {
  if (signingKeys === undefined) return stored;
  const note: ResponseNote = {
    issuedAt: Math.floor(systemClock.nowMs() / 1_000),
    digest: contentDigest(stored.body),
    blocks: findBlocks(body, stored.headers).slice(0, BLOCKS_MAX),
  };
  return { ...stored, headers: { ...stored.headers, [NOTE]: JSON.stringify(note) } };
}

/** The blocks that a response names: in its body or summary, on both sides of a difference, or in the headers of the index. */
function findBlocks(body: unknown, headers: StoredResponse["headers"]): readonly unknown[] {
  const { "x-indexed-block": number, "x-indexed-block-hash": hash } = headers;
  if (number !== undefined && hash !== undefined) return [{ number, hash }];
  if (!isJsonObject(body)) return [];
  const named = [body, body.from, body.to].flatMap((part) =>
    isJsonObject(part) && Array.isArray(part.blocks) ? (part.blocks as readonly unknown[]) : [],
  );
  const read = isJsonObject(body.summary) && Array.isArray(body.summary.chains) ? body.summary.chains : [];
  return [
    ...named,
    ...read.flatMap((part) =>
      isJsonObject(part) && typeof part.blockNumber === "number"
        ? [{ chain: part.chain, number: part.blockNumber }]
        : [],
    ),
  ];
}

/** The response without the note. */
export function withoutNote<T extends Pick<EndpointResponse, "headers">>(response: T): T {
  if (response.headers?.[NOTE] === undefined) return response;
  const { [NOTE]: _, ...headers } = response.headers;
  return { ...response, headers };
}

/** The member `extensions` of PAYMENT-RESPONSE; empty for a response without a note, such as one from before the keys. */
export function receiptExtensions(
  offer: PaymentOffer,
  resource: PaidResource,
  { status, headers }: StoredResponse,
  payment: ReceiptPayment,
): Readonly<Record<string, unknown>> {
  const { signingKeys, resourceOrigin: origin, network } = offer;
  const note = parseNote(headers[NOTE]);
  if (signingKeys === undefined || note === null) return {};
  const { digest, blocks, issuedAt: seconds } = note;
  const transaction = "transaction" in payment ? payment.transaction : "";
  const receipt = issueStatement(signingKeys, { origin, seconds }, (issuedAt) => ({
    version: 1,
    network,
    resourceUrl: offeredUrl(offer),
    payer: payment.payer,
    issuedAt,
    ...(transaction === "" ? {} : { transaction }),
  }));
  const type = `${STATEMENT}+jws`;
  const statement = issueStatement(signingKeys, { origin, seconds, type }, (issuedAt) => ({
    version: 1,
    issuedAt,
    request: { method: resource.method, url: resourceUrl(origin, resource) },
    status,
    contentType: headers["content-type"] ?? "",
    digest,
    blocks,
    payment: describePayment(offer, payment),
  }));
  return {
    extensions: {
      [OFFER_RECEIPT]: {
        info: { receipt: { format: "jws", signature: receipt } },
        schema: listSchema("receipt", "object"),
      },
      [STATEMENT]: { signature: statement },
    },
  };
}

function describePayment({ network, asset, payTo }: PaymentOffer, payment: ReceiptPayment): JsonObject {
  const { payer, amount } = payment;
  const common = { network, asset, payTo, payer, amount: amount.toString() };
  if ("transaction" in payment) return { ...common, scheme: "exact", transaction: payment.transaction };
  const cumulative = amount === 0n ? "0" : payment.cumulative.toString();
  return { ...common, scheme: "batch-settlement", channel: payment.channelId, cumulative };
}

function parseNote(text: string | undefined): ResponseNote | null {
  if (text === undefined) return null;
  const note: unknown = JSON.parse(text);
  if (!isJsonObject(note) || !Array.isArray(note.blocks)) return null;
  return { issuedAt: Number(note.issuedAt), digest: String(note.digest), blocks: note.blocks };
}
