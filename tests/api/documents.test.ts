// Documents over HTTP: no signature, the same bytes back, and the right errors.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWriteStage, type WriteStage } from "./write-stage.ts";

let stage: WriteStage;
beforeAll(async () => {
  stage = await openWriteStage();
});
afterAll(() => stage.close());

const SUBJECT = `0x${"Bb".repeat(32)}`;

describe("documents over HTTP", () => {
  it("stores documents without a signature, and returns them byte for byte as immutable", async () => {
    const catalog_json =
      '{ "price" : 115792089237316195423570985008687907853269984665640564039457584007913129639935 }';
    const { status, body } = await stage.signed.request(
      "POST",
      "/catalogs",
      { catalog_json },
      { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
    );
    expect([status, body.uri]).toEqual([201, `${stage.signed.url}/catalogs/${body.catalog_hash}`]);
    const fetched = await fetch(body.uri);
    expect(await fetched.text()).toBe(catalog_json);
    expect(fetched.headers.get("content-type")).toBe("application/json");
    expect(fetched.headers.get("etag")).toBe(`"${body.catalog_hash}"`);
    const again = await fetch(body.uri, { headers: { "if-none-match": `"${body.catalog_hash}"` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await fetch(body.uri, { method: "HEAD" })).status).toBe(200);
  });

  it("rejects invalid documents with the right status", async () => {
    const wrong = { catalog_json: "1", expected_hash: `0x${"00".repeat(32)}` };
    const outcomes = await Promise.all([
      stage.signed.request("POST", "/catalogs", wrong),
      stage.signed.request("POST", "/catalogs", { catalog_json: `"${"x".repeat(131_072)}"` }),
      stage.signed.request("POST", "/catalogs", { catalog_json: "{" }),
      stage.signed.request("POST", "/catalogs", { catalog_json: { a: 1 } }),
      stage.signed.request("POST", "/quote-responses", { quote_response_json: "1", request_hash: SUBJECT }),
      stage.get("/catalogs/0x12"),
      stage.get(`/catalogs/0x${"12".repeat(32)}`),
      stage.get(`/quote-requests/0x${"12".repeat(32)}/metadata`),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([409, 413, 400, 400, 404, 400, 404, 404]);
  });
});
