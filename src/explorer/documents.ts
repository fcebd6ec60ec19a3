// Hashes that commit to documents: which of them are published here, so that a page links those and no others.
import { type Html, html } from "../lib/html.ts";
import type { ApiReader } from "./api-reader.ts";
import { badge, hash } from "./components.ts";
import type { PageContext } from "./context.ts";

/** As GET /documents has them. */
export type HostedDocuments = {
  readonly documents: readonly {
    readonly hash: string;
    readonly kind: "catalog" | "quote_request" | "quote_response";
    readonly request_hash: string | null;
    readonly request_id: string | null;
    readonly merchant_id: string | null;
    readonly service_numeric_id: string | null;
    readonly agent: string | null;
    readonly size_bytes: number;
    readonly created_at: string;
  }[];
};

/** The hashes under which a document is published. */
export async function findPublished(
  api: ApiReader,
  hashes: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const given = hashes.filter((each): each is string => each !== null && !/^0x0*$/.test(each));
  if (given.length === 0) return new Set();
  const { body } = await api.get<HostedDocuments>("/documents", { query: { hash: given.join(",") } });
  return new Set(body.documents.map(({ hash: found }) => found));
}

/** A hash, with the document behind it where that is published. */
export function documentHash(page: PageContext, value: unknown, published: ReadonlySet<string>): Html {
  const isPublished = typeof value === "string" && published.has(value);
  return isPublished
    ? html`${hash(page, value, "document")} ${badge("published", "good")}`
    : hash(page, value);
}
