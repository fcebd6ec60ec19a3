// Responses of paid routes are signed for the public URL, errors too; keys and headers are described.
import { afterAll, beforeAll, expect, it } from "vitest";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { openApiClient } from "../support/http/api-client.ts";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  type TestPortfolioWeb,
} from "../support/http/test-portfolio-web.ts";
import { createTestKeys, isSignedFor } from "../support/signing/test-keys.ts";

const DIRECTORY = "/.well-known/http-message-signatures-directory";
const PATH = `/portfolio?address=${exampleSnapshot.address}`;
const PAYMENT = { "payment-signature": "e30=" };
let web: TestPortfolioWeb;
let keys: unknown;

beforeAll(async () => {
  web = await startTestPortfolioWeb({ signingKeys: createTestKeys() });
  keys = await (await fetch(web.url + DIRECTORY)).json();
});
afterAll(() => web.close());

it("signs a paid response for the public URL, whatever the request says about its host", async () => {
  const headers = { ...PAYMENT, "x-forwarded-host": "evil.example" };
  const response = await fetch(web.url + PATH, { headers });
  expect(response.status).toBe(200);
  const url = TEST_OFFER.resourceOrigin + PATH;
  expect(await isSignedFor(response, { url, keys })).toBe(true);
  expect(await isSignedFor(response, { url: web.url + PATH, keys })).toBe(false);
  expect(await isSignedFor(response, { url: `${url}&chains=base`, keys })).toBe(false);
});

it("signs the way from a name to its address", async () => {
  const path = "/portfolio?address=alice.eth";
  const response = await fetch(web.url + path, { redirect: "manual" });
  expect(response.status).toBe(307);
  expect(await isSignedFor(response, { url: TEST_OFFER.resourceOrigin + path, keys })).toBe(true);
});

it.each([
  ["an offer", PATH, {}, 402],
  ["a wallet that is not valid", "/portfolio?address=0x12", PAYMENT, 400],
  ["an unknown chain", `${PATH}&chains=nowhere`, {}, 400],
])("signs what a paid route rejects: %s", async (_, path, headers, status) => {
  const response = await fetch(web.url + path, { headers });
  expect(response.status).toBe(status);
  expect(response.headers.get("x-error-code")).not.toBeNull();
  expect(response.headers.get("x-request-id")).not.toBeNull();
  expect(await isSignedFor(response, { url: TEST_OFFER.resourceOrigin + path, keys })).toBe(true);
});

it("leaves all that is free unsigned", async () => {
  for (const [path, status] of [
    ["/health", 200],
    ["/llms.txt", 200],
    ["/nowhere", 404],
  ] as const) {
    const response = await fetch(web.url + path);
    expect([path, response.status, response.headers.get("signature")]).toEqual([path, status, null]);
  }
});

it("describes its keys and what a signed response carries", async () => {
  const client = await openApiClient(web.url);
  const described = client.document.paths["/portfolio"]?.get?.responses["200"];
  expect(JSON.stringify(described)).toContain("signature-input");
  await client.call(PATH, { headers: PAYMENT });
  expect((await client.call("/.well-known/did.json")).body).toMatchObject({ id: "did:web:sextant.example" });
  expect(keys).toMatchObject({ keys: [{ kty: "OKP", crv: "Ed25519", use: "sig" }] });
});
