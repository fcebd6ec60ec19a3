// Signatures and receipts: what they cover, which keys count, and that each change of a response is found.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type ProofStage, startProofStage } from "../testing/proof-stage.ts";
import {
  createSigner,
  type ReceiptClaims,
  receiptOf,
  type StoredResponse,
  signReceipt,
  signResponse,
} from "../testing/signed-response.ts";
import { requireProven, type Verification, verify } from "./verify.ts";

const SECONDS = 1_794_900_000;
const NOW = new Date((SECONDS + 60) * 1000);
const signer = createSigner(7);
const outsider = createSigner(8);

let stage: ProofStage;
let body: string;
let url: string;
let blocks: Json[];
beforeAll(async () => {
  stage = await startProofStage();
  const snapshot = await stage.snapshot();
  body = JSON.stringify(snapshot);
  url = `https://api.example.com:8443/portfolio?address=${stage.wallet}`;
  blocks = snapshot.blocks as Json[];
});
afterAll(() => stage.chain.stop());

const check = (file: StoredResponse, keys: readonly unknown[] = [signer.jwk]) =>
  verify(JSON.stringify(file), { keys, now: NOW });
const statusOf = ({ rows }: Verification, path: string) => rows.find((row) => row.path === path)?.status;

describe("a signed response", () => {
  it("is signed only, in every value that has no better proof", async () => {
    const result = await check(signResponse(body, url, signer, SECONDS));
    expect(result.ok).toBe(true);
    expect(result.signer).toBe(signer.id);
    expect(statusOf(result, "signature")).toBe("signed");
    expect(statusOf(result, "/tokens/6/rawBalance")).toBe("signed");
    expect(statusOf(result, "/tokens/0/rawBalance")).toBe("proven-if");
  });

  it("is read from headers and body as well as from a stored file", async () => {
    const { request, response } = signResponse(body, url, signer, SECONDS);
    const headers = new Headers(response.headers);
    const result = await verify({ ...response, headers, request }, { keys: [signer.jwk.x], now: NOW });
    expect(statusOf(result, "signature")).toBe("signed");
  });

  it("a response of another kind is signed as a whole", async () => {
    const file = signResponse('{"intent_id":"15"}', "https://api.example.com/intents/15", signer, SECONDS);
    const result = await check(file);
    expect(result.ok).toBe(true);
    expect(statusOf(result, "")).toBe("signed");
  });

  it("is unknown without a key of the reader, whatever keys the file holds", async () => {
    const file = { ...signResponse(body, url, signer, SECONDS), keys: { keys: [signer.jwk] } };
    const result = await check(file, []);
    expect(result.ok).toBe(false);
    expect(statusOf(result, "signature")).toBe("unknown");
  });

  it.each([
    [400, "the service rejected the request: 400"],
    [402, "the service rejected the request: 402"],
    [404, "the service rejected the request: 404"],
    [503, "the service gave no result: 503"],
    [304, "the service gave no result: 304"],
  ])("a signed response with status %i is signed, and not ok", async (status, reason) => {
    const file = signResponse('{"error":{"code":"ANY"}}', url, signer, SECONDS, status);
    const result = await check(file);
    expect(result.ok).toBe(false);
    expect(result.rows.find(({ path }) => path === "status")).toMatchObject({
      ...{ value: String(status), status: "signed", reason },
    });
    expect(statusOf(result, "signature")).toBe("signed");
    expect(result.summary).toContain(reason.slice(1));
    expect(() => requireProven(result, "/error/code")).toThrow(String(status));
  });

  it("proofs in an unsigned response with status 404 are not ok", async () => {
    const { request, response } = signResponse(body, url, signer, SECONDS, 404);
    const [{ hash = "" } = {}] = blocks as { hash: string }[];
    const parts = { body: response.body, request, headers: {} };
    const options = { blockHashes: [hash], now: NOW };
    expect((await verify({ ...parts, status: 200 }, options)).ok).toBe(true);
    const result = await verify({ ...parts, status: 404 }, options);
    expect(result.ok).toBe(false);
    expect(statusOf(result, "status")).toBe("unknown");
  });

  it("a signed response with any status of success is ok, and one without a status counts as 200", async () => {
    expect((await check(signResponse(body, url, signer, SECONDS, 206))).ok).toBe(true);
    const { status: _, ...response } = signResponse(body, url, signer, SECONDS).response;
    const file = { ...signResponse(body, url, signer, SECONDS), response };
    const result = await verify(JSON.stringify(file), { keys: [signer.jwk], now: NOW });
    expect(result.ok).toBe(true);
    expect(statusOf(result, "status")).toBeUndefined();
  });

  it("says when it was signed, and how long ago", async () => {
    const result = await check(signResponse(body, url, signer, SECONDS - 3 * 86_400));
    const signed = { signedAt: "2026-11-14T07:20:00.000Z", ageSeconds: 3 * 86_400 + 60 };
    expect(result).toMatchObject({
      signedAt: signed.signedAt,
      signatureAgeSeconds: signed.ageSeconds,
    });
    expect(result.rows.find(({ path }) => path === "signature")).toMatchObject({
      ...{ ...signed, reason: expect.stringContaining("; of 2026-11-14T07:20:00.000Z, 3 days old") },
    });
    const unsigned = await verify(body, { now: NOW });
    expect(unsigned).toMatchObject({ signedAt: null, signatureAgeSeconds: null });
  });

  const changes: readonly (readonly [string, (file: StoredResponse) => void])[] = [
    ["the body", ({ response }) => Object.assign(response, { body: `${response.body} ` })],
    ["the status", ({ response }) => Object.assign(response, { status: 201 })],
    ["the method", ({ request }) => Object.assign(request, { method: "POST" })],
    ["the query", ({ request }) => Object.assign(request, { url: `${request.url}&chains=base` })],
    [
      "the path",
      ({ request }) => Object.assign(request, { url: request.url.replace("/portfolio", "/Portfolio") }),
    ],
    ["the host", ({ request }) => Object.assign(request, { url: request.url.replace(":8443", "") })],
    ["the type", ({ response }) => Object.assign(response.headers, { "content-type": "application/json" })],
    [
      "the time",
      ({ response }) => replaceHeader(response.headers, "signature-input", "=1794900000", "=1794900001"),
    ],
    [
      "the list of what is covered",
      ({ response }) => replaceHeader(response.headers, "signature-input", ' "@query";req', ""),
    ],
    [
      "the signature",
      ({ response }) => Object.assign(response.headers, { signature: `sextant=:${"A".repeat(86)}==:` }),
    ],
    [
      "the name of the key",
      ({ response }) => replaceHeader(response.headers, "signature-input", signer.id, outsider.id),
    ],
    ["the digest", ({ response }) => Object.assign(response.headers, { "content-digest": "sha-256=:AA==:" })],
    [
      "a header into two",
      ({ response }) => Object.assign(response.headers, { Signature: response.headers.signature }),
    ],
  ];
  it.each(changes)("is wrong after a change of %s", async (_, change) => {
    const file = signResponse(body, url, signer, SECONDS);
    change(file);
    const result = await check(file);
    expect(result.ok).toBe(false);
    expect(result.rows.some(({ status }) => status === "wrong")).toBe(true);
  });

  it("is wrong when a third party signed it, or no one did, and the reader named a key", async () => {
    expect((await check(signResponse(body, url, outsider, SECONDS))).ok).toBe(false);
    const unsigned = await verify(body, { keys: [signer.jwk], now: NOW });
    expect(statusOf(unsigned, "signature")).toBe("wrong");
  });

  it.each([
    ["before its key counted", { nbf: SECONDS + 1 }],
    ["after its key had retired", { exp: SECONDS }],
  ])("is wrong when it was signed %s", async (_, period) => {
    const result = await check(signResponse(body, url, signer, SECONDS), [
      { keys: [{ ...signer.jwk, ...period }] },
    ]);
    expect(statusOf(result, "signature")).toBe("wrong");
  });

  it("is wrong when it was signed in the future", async () => {
    const ahead = (seconds: number) => check(signResponse(body, url, signer, SECONDS + 60 + seconds));
    expect(statusOf(await ahead(61), "signature")).toBe("wrong");
    const minute = await ahead(60);
    expect(minute).toMatchObject({ ok: true, signatureAgeSeconds: -60 });
    expect(minute.rows[0]?.reason).toContain("later than your clock");
  });

  it("is wrong when it is about another wallet than its request", async () => {
    const other = url.replace(stage.wallet, `0x${"11".repeat(20)}`);
    const result = await check(signResponse(body, other, signer, SECONDS));
    expect(result.rows).toMatchObject([
      { status: "wrong", reason: expect.stringContaining("another wallet") },
    ]);
  });
});

function replaceHeader(headers: Record<string, string>, name: string, from: string, to: string): void {
  expect(headers[name]).toContain(from);
  headers[name] = headers[name]?.replace(from, to) ?? "";
}

describe("keys of a reader", () => {
  const did = { verificationMethod: [{ publicKeyJwk: signer.jwk }] };
  it.each([
    ["a bare key", signer.jwk.x],
    ["a key directory", { keys: [outsider.jwk, { ...signer.jwk, kid: signer.id }] }],
    ["a DID document", did],
  ])("keys are read from %s", async (_, source) => {
    expect((await check(signResponse(body, url, signer, SECONDS), [source])).ok).toBe(true);
  });

  it.each([
    ["has another id than its thumbprint", { keys: [{ ...signer.jwk, kid: outsider.id }] }],
    ["is of another curve", { keys: [{ kty: "EC", crv: "P-256", x: signer.jwk.x }] }],
    ["is too short", "AAAA"],
  ])("keys are rejected when one %s", async (_, source) => {
    await expect(check(signResponse(body, url, signer, SECONDS), [source])).rejects.toThrow(/key/);
  });
});

describe("keys that a host lists", () => {
  const HOST = "api.example.com:8443";
  const listed = (host: string) => ({ hostKeys: [{ host, source: { keys: [signer.jwk] } }], now: NOW });

  it("vouch for that host", async () => {
    const file = signResponse(body, url, signer, SECONDS);
    file.response.headers["payment-response"] = signReceipt(
      receiptOf(body, url, SECONDS, blocks),
      HOST,
      signer,
    );
    const result = await verify(JSON.stringify(file), listed(HOST));
    expect([statusOf(result, "signature"), statusOf(result, "receipt")]).toEqual(["signed", "signed"]);
  });

  it.each([
    ["other.example.com", false],
    ["api.example.com", false],
    ["API.example.com:8443", true],
  ])("a host that is %s lets its keys count for its own signatures: %s", async (host, isSame) => {
    const signed = signResponse(body, url, signer, SECONDS);
    const result = await verify(JSON.stringify(signed), listed(host));
    const row = result.rows.find(({ path }) => path === "signature");
    expect(row).toMatchObject(
      isSame ? { status: "signed" } : { status: "wrong", reason: expect.stringContaining("another host") },
    );
    const receipt = signReceipt(receiptOf(body, url, SECONDS, blocks), HOST, signer);
    const paid = await verify({ body, receipt }, listed(host));
    expect(statusOf(paid, "receipt")).toBe(isSame ? "signed" : "wrong");
  });
});

describe("a receipt", () => {
  const HOST = "api.example.com:8443";
  const verifyReceipt = (claims: ReceiptClaims, host = HOST, by = signer, head = {}) =>
    verify({ body, receipt: signReceipt(claims, host, by, head) }, { keys: [signer.jwk], now: NOW });

  it("makes a body that was stored alone a signed one", async () => {
    const result = await verifyReceipt(receiptOf(body, url, SECONDS, blocks));
    expect(result.ok).toBe(true);
    expect(result.rows.find(({ path }) => path === "receipt")).toMatchObject({
      ...{ status: "signed", reason: expect.stringContaining("amount 10000") },
    });
    expect(statusOf(result, "/tokens/6/rawBalance")).toBe("signed");
    expect(result).toMatchObject({ signedAt: "2026-11-17T07:20:00.000Z", signatureAgeSeconds: 60 });
    expect(result.rows.find(({ path }) => path === "receipt")).toMatchObject({
      ...{ ageSeconds: 60, reason: expect.stringContaining("; of 2026-11-17T07:20:00.000Z, 60 seconds old") },
    });
  });

  it.each([
    ["another body", { digest: "sha-256=:AA==:" }],
    ["another status", { status: 404 }],
    ["another version", { version: 2 }],
    ["another host than its key", { request: { method: "GET", url: "https://other.example.com/portfolio" } }],
    ["other blocks", { blocks: [{ chain: "ethereum", number: 1, hash: `0x${"00".repeat(32)}` }] }],
    ["a later time", { issuedAt: SECONDS + 1_000 }],
    ["a time that no date can hold", { issuedAt: -9_000_000_000_000 }],
  ])("is wrong for %s", async (_, change) => {
    const result = await verifyReceipt({ ...receiptOf(body, url, SECONDS, blocks), ...change });
    expect(statusOf(result, "receipt")).toBe("wrong");
  });

  it("tells the public host of a service that is reached under another one", async () => {
    const file = signResponse(body, url, signer, SECONDS);
    file.request.url = url.replace(HOST, "10.0.0.7:3002");
    expect(statusOf(await check(file), "signature")).toBe("wrong");
    file.response.headers["payment-response"] = signReceipt(
      receiptOf(body, url, SECONDS, blocks),
      HOST,
      signer,
    );
    expect(statusOf(await check(file), "signature")).toBe("signed");
  });

  it("is wrong when it is for another request than the stored one", async () => {
    const file = signResponse(body, url, signer, SECONDS);
    const other = receiptOf(body, url.replace("/portfolio", "/exposure"), SECONDS, blocks);
    file.response.headers["payment-response"] = signReceipt(other, HOST, signer);
    expect(statusOf(await check(file), "receipt")).toBe("wrong");
  });

  it.each([
    ["by a third party", outsider, {}],
    ["as something else", signer, { typ: "JWT" }],
    ["without a signature that counts", signer, { alg: "none" }],
  ])("is wrong when it is signed %s", async (_, by, head) => {
    const result = await verifyReceipt(receiptOf(body, url, SECONDS, blocks), HOST, by, head);
    expect(statusOf(result, "receipt")).toBe("wrong");
  });
});
