// The style and modules of the pages: named by their content, compressed once, cached by browsers forever.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { type SerializedResponse, serializeResponse } from "../http/response.ts";
import { EXPLORER_PATH } from "./context.ts";
import { chooseEncoding, encodeResponse, OFFERED } from "./encoding.ts";

type Asset = { readonly path: string; readonly type: string; readonly bytes: Buffer };

type Assets = {
  /** The path of an asset, by its name: `explorer.css`. */
  readonly pathOf: (name: string) => string;
  readonly all: readonly Asset[];
};

// Later files of a sheet override earlier ones of the same specificity. The first is that of all our pages.
const SHEETS: Readonly<Record<string, readonly string[]>> = {
  "explorer.css": [
    "../web/pay-page/theme.css",
    "./assets/base.css",
    "./assets/components.css",
    "./assets/pages.css",
  ],
};

// Each after the modules that it imports.
const MODULES = ["page.js", "sentence-parts.js", "live-feed.js"];

const HASH_LENGTH = 12;

export function readAssets(): Assets {
  const assets = new Map<string, Asset>();
  const add = (name: string, type: string, text: string) => {
    const bytes = Buffer.from(text);
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);
    const path = `${EXPLORER_PATH}/assets/${name.replace(/\.(\w+)$/, `.${hash}.$1`)}`;
    assets.set(name, { path, type, bytes });
  };
  for (const [name, files] of Object.entries(SHEETS)) add(name, "text/css", files.map(readText).join(""));
  const pathOf = (name: string) => {
    const asset = assets.get(name);
    if (!asset) throw new TypeError(`there is no asset ${name}`);
    return asset.path;
  };
  for (const name of MODULES) {
    const text = readText(`./assets/${name}`);
    const linked = text.replace(
      /(from |import )"\.\/([\w-]+\.js)"/g,
      (_match, word: string, other: string) => `${word}"${pathOf(other)}"`,
    );
    add(name, "text/javascript", linked);
  }
  return { pathOf, all: [...assets.values()] };
}

function readText(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}

// The name changes with the content, so that a copy is never stale.
const CACHE_CONTROL = "public, max-age=31536000, immutable";

export function addAssetRoutes(app: FastifyInstance, { all }: Assets): void {
  for (const asset of all) {
    // At the first request: compressing everything takes longer than the rest of a start.
    const responses = new Map<string, SerializedResponse>();
    app.get(asset.path, (request, reply) => {
      const encoding = chooseEncoding(request.headers["accept-encoding"], OFFERED.asset);
      const response = responses.get(encoding) ?? encodeResponse(serializeAsset(asset), encoding);
      responses.set(encoding, response);
      reply.sendSerialized(response);
    });
  }
}

function serializeAsset({ path, type, bytes }: Asset): SerializedResponse {
  return serializeResponse({
    route: path,
    body: bytes,
    computeEtag: true,
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "cache-control": CACHE_CONTROL,
      vary: "accept-encoding",
    },
  });
}
