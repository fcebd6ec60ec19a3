// The style and modules of the pages, cached by browsers forever, and the compression of assets and pages.
import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { buildForBrowser } from "../http/pages/build-for-browser.ts";
import { type SerializedResponse, serializeResponse } from "../http/response.ts";
import { EXPLORER_PATH } from "./context.ts";

const ENTRIES = {
  "explorer.css": new URL("./browser/explorer.css", import.meta.url),
  "page.js": new URL("./browser/page.ts", import.meta.url),
  "live-feed.js": new URL("./browser/live-feed.ts", import.meta.url),
};

export type AssetName = keyof typeof ENTRIES;

type Asset = {
  readonly path: string;
  readonly type: string;
  readonly text: string;
  /** Responses by encoding: compressing everything at once would take longer than the page that asks for it. */
  readonly responses: Map<string, SerializedResponse>;
};

const FOLDER = `${EXPLORER_PATH}/assets/`;
const HASH_LENGTH = 12;

let built: ReadonlyMap<string, Asset> | null = null;

/** The assets by their names. The first page builds them, so that a start does not wait for it. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const texts = built === null ? buildForBrowser(...Object.values(ENTRIES)) : [];
  built ??= new Map(Object.keys(ENTRIES).map((name, index) => [name, createAsset(name, texts[index] ?? "")]));
  return built;
}

function createAsset(name: string, text: string): Asset {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
  const path = FOLDER + name.replace(/\.(\w+)$/, `.${hash}.$1`);
  const type = name.endsWith(".css") ? "text/css" : "text/javascript";
  return { path, type, text, responses: new Map() };
}

export function assetPath(name: AssetName): string {
  return loadAssets().get(name)?.path ?? "";
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => void;

export function addAssetRoute(app: FastifyInstance, respondUnknown: Handler): void {
  app.get<{ Params: { file: string } }>(`${FOLDER}:file`, (request, reply) => {
    const path = FOLDER + request.params.file;
    const asset = [...loadAssets().values()].find((each) => each.path === path);
    if (asset === undefined) return respondUnknown(request, reply);
    const encoding = chooseEncoding(request.headers["accept-encoding"], OFFERED.asset);
    const response = asset.responses.get(encoding) ?? encodeResponse(serializeAsset(asset), encoding);
    asset.responses.set(encoding, response);
    reply.sendSerialized(response);
  });
}

// The name changes with the content, so that a copy is never stale.
const CACHE_CONTROL = "public, max-age=31536000, immutable";

function serializeAsset({ path, type, text }: Asset): SerializedResponse {
  return serializeResponse({
    route: path,
    body: Buffer.from(text),
    computeEtag: true,
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": CACHE_CONTROL,
      vary: "accept-encoding",
    },
  });
}

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
