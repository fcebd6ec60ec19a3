// Compression: what a client accepts decides, and each representation has its own ETag.
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { serializeResponse } from "../http/response.ts";
import { chooseEncoding, encodeResponse } from "./layout.ts";

it.each([
  [undefined, "identity"],
  ["gzip, deflate, br", "br"],
  ["gzip;q=1.0, br;q=0", "gzip"],
  ["*", "br"],
  ["identity", "identity"],
  ["br;q=0.0, *;q=0", "identity"],
])("a client that accepts %s gets %s", (header, encoding) => {
  expect(chooseEncoding(header, ["br", "gzip"])).toBe(encoding);
});

const plain = serializeResponse({
  route: "/x",
  body: Buffer.from("page ".repeat(100)),
  computeEtag: true,
  headers: { "content-type": "text/html", vary: "accept-encoding" },
});
const headerOf = ({ headers }: typeof plain, name: string) => headers[headers.indexOf(name) + 1];

it.each([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
] as const)("a response in %s is the same text under its own ETag", (encoding, decompress) => {
  const encoded = encodeResponse(plain, encoding);
  expect(decompress(encoded.body).toString()).toBe("page ".repeat(100));
  expect(encoded.body.length).toBeLessThan(plain.body.length);
  expect(headerOf(encoded, "content-encoding")).toBe(encoding);
  expect(headerOf(encoded, "content-type")).toBe("text/html");
  expect(encoded.etag).not.toBe(plain.etag);
  expect(encoded.headers.filter((name) => name === "etag")).toHaveLength(1);
});

it("a response stays as it is for a client that accepts no compression, and if compression failed", () => {
  expect(encodeResponse(plain, "identity")).toBe(plain);
  const failed = serializeResponse({ route: "/x", status: 404, body: Buffer.from("no") });
  expect(encodeResponse(failed, "gzip")).toBe(failed);
});
