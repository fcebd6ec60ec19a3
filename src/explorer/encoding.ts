// Compression of pages, lists and assets: what a client accepts, and a response in it.
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type SerializedResponse, serializeResponse } from "../http/response.ts";

type Encoding = "br" | "gzip" | "identity";

/** In the order of our preference. Pages change with every block, and brotli takes ten times as long as gzip. */
export const OFFERED = { asset: ["br", "gzip"], page: ["gzip"] } as const;

/** The first of ours that the client accepts; identity if it accepts none, or says nothing. */
export function chooseEncoding(
  header: string | string[] | undefined,
  offered: readonly Encoding[],
): Encoding {
  const accepted = new Map<string, boolean>();
  for (const part of [header ?? ""].flat().join(",").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    const isRejected = parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
    if (name !== "") accepted.set(name, !isRejected);
  }
  return offered.find((encoding) => accepted.get(encoding) ?? accepted.get("*") ?? false) ?? "identity";
}

const COMPRESS = { br: brotliCompressSync, gzip: gzipSync } as const;

/** Another representation of the same response, with an ETag of its own. A failed response is short and stays as it is. */
export function encodeResponse(response: SerializedResponse, encoding: Encoding): SerializedResponse {
  const { route, status, headers, body } = response;
  if (encoding === "identity" || status !== 200) return response;
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ""] as const] : [],
  );
  return serializeResponse({
    route,
    body: COMPRESS[encoding](body),
    computeEtag: true,
    headers: { ...Object.fromEntries(pairs), "content-encoding": encoding },
  });
}
