// Quotes as answers: /quotes/:quoteHash.
import { hashParameter } from "../../schema/parameter.ts";
import { columnFields, defineRecord, defineRecordRead } from "../../schema/reads/record.ts";
import { quotes } from "../domains/quotes.ts";

const quote = defineRecord({
  name: "Quote",
  table: quotes,
  fields: columnFields(quotes, [
    "quote_hash",
    "merchant_id",
    "service_numeric_id",
    "agent",
    "token",
    "facilitator",
    "amount",
    "payment_rail",
    "protocol_fee_bps",
    "protocol_fee_amount",
    "expires_at",
    "payment_nonce",
    "resource_hash",
    "terms_hash",
    "x402_payload_hash",
    "settled",
  ]),
});

export const quoteReads = [
  defineRecordRead("/quotes/:quoteHash", quote, {
    operationId: "getQuote",
    summary: "One quote",
    tag: "Commerce",
    parameter: "quoteHash",
    kind: hashParameter,
    column: "quote_hash",
    notFoundMessage: "There is no quote with this hash.",
  }),
];
