// Hashes that commit to documents: which of them are published here, so that a page links those and no others.
import { type Html, html } from "../lib/html.ts";
import type { ApiReader } from "./api-reader.ts";
import { badge, hash } from "./components.ts";
import type { PageContext } from "./context.ts";

const DOCUMENT_ROUTES = [
  "/catalogs/:hash/metadata",
  "/quote-requests/:hash/metadata",
  "/quote-responses/:hash/metadata",
] as const;

// A page asks for each hash in every kind: three requests each, of the forty that it may send.
const HASHES_MAX = 4;

/** Those of the hashes under which a document is published. */
export async function findPublished(
  api: ApiReader,
  hashes: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const given = hashes.filter((each): each is string => each !== null && !/^0x0*$/.test(each));
  const distinct = [...new Set(given)].slice(0, HASHES_MAX);
  const found = await Promise.all(
    distinct.map(async (each) => {
      const kinds = await Promise.all(
        DOCUMENT_ROUTES.map((route) => api.find(route, { params: { hash: each } })),
      );
      return kinds.some((kind) => kind !== null) ? [each] : [];
    }),
  );
  return new Set(found.flat());
}

/** A hash, with the document behind it where that is published. */
export function documentHash(page: PageContext, value: unknown, published: ReadonlySet<string>): Html {
  const isPublished = typeof value === "string" && published.has(value);
  return isPublished
    ? html`${hash(page, value, "document")} ${badge("published", "good")}`
    : hash(page, value);
}
