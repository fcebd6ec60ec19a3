// The three kinds of hosted documents: where they live, how their parts are called, and which labels they carry.
import type { DocumentLabelName } from "./labels.ts";

export type DocumentKind = {
  /** As the documents table calls it. */
  readonly kind: "catalog" | "quote_request" | "quote_response";
  readonly title: string;
  readonly noun: string;
  readonly path: string;
  readonly textKey: string;
  readonly hashKey: string;
  /** In the order of the publish fields. */
  readonly labels: readonly DocumentLabelName[];
};

export const DOCUMENT_KINDS: readonly DocumentKind[] = [
  {
    kind: "catalog",
    title: "Catalog",
    noun: "catalog",
    path: "/catalogs",
    textKey: "catalog_json",
    hashKey: "catalog_hash",
    labels: ["merchant_id", "service_id"],
  },
  {
    kind: "quote_request",
    title: "QuoteRequest",
    noun: "quote request",
    path: "/quote-requests",
    textKey: "quote_request_json",
    hashKey: "request_hash",
    labels: ["request_id", "merchant_id", "service_numeric_id", "service_id", "agent"],
  },
  {
    kind: "quote_response",
    title: "QuoteResponse",
    noun: "quote response",
    path: "/quote-responses",
    textKey: "quote_response_json",
    hashKey: "response_hash",
    labels: ["request_hash", "request_id", "merchant_id", "service_numeric_id", "agent"],
  },
];
