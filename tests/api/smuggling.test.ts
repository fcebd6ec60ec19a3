// Request smuggling: ambiguous framing is rejected, and no request hides in another.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let emptyIndex: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
  api = await startTestApi(emptyIndex.database);
});

afterAll(async () => {
  await api?.close();
  await emptyIndex?.drop();
});

const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST = "GET /ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const LENGTH = "Content-Length: 2";
const CHUNKED = "Transfer-Encoding: chunked";

function post(headers: readonly string[], body: string): string {
  const lines = [
    "POST /preflight HTTP/1.1",
    "Host: a",
    "Content-Type: application/json",
    ...headers,
    "",
    body,
  ];
  return lines.join("\r\n");
}

function get(target: string, ...headers: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, "Host: a", ...headers, "", ""].join("\r\n");
}

function statuses(response: string): readonly number[] {
  return [...response.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

describe("ambiguous framing", () => {
  it.each([
    ["a length and chunks", post([LENGTH, CHUNKED], `0\r\n\r\n${HIDDEN}`)],
    ["chunks and a length", post([CHUNKED, LENGTH], `0\r\n\r\n${HIDDEN}`)],
    ["two lengths", post([LENGTH, "Content-Length: 3"], `{}${HIDDEN}`)],
    ["the same length twice", post([LENGTH, LENGTH], `{}${HIDDEN}`)],
    ["a list of lengths", post(["Content-Length: 2, 2"], `{}${HIDDEN}`)],
    ["a length with a sign", post(["Content-Length: +2"], `{}${HIDDEN}`)],
    ["a length in hex", post(["Content-Length: 0x2"], `{}${HIDDEN}`)],
    ["a blank before a colon", post(["Content-Length : 2"], `{}${HIDDEN}`)],
    ["a coding we do not know", post(["Transfer-Encoding: xchunked"], `0\r\n\r\n${HIDDEN}`)],
    ["chunks that are not last", post(["Transfer-Encoding: chunked, identity"], `0\r\n\r\n${HIDDEN}`)],
    ["two codings in two lines", post([CHUNKED, "Transfer-Encoding: identity"], `0\r\n\r\n${HIDDEN}`)],
    ["a coding behind a tab of another kind", post(["Transfer-Encoding: \x0bchunked"], `0\r\n\r\n${HIDDEN}`)],
    ["chunks in HTTP/1.0", post([CHUNKED], `0\r\n\r\n${HIDDEN}`).replace("HTTP/1.1", "HTTP/1.0")],
    ["a folded coding", post(["Transfer-Encoding:\r\n chunked"], `0\r\n\r\n${HIDDEN}`)],
    ["a folded header", get("/ready", "X-A: b\r\n c")],
    ["lines that end in LF", get("/ready").replaceAll("\r\n", "\n")],
    ["one line that ends in LF", get("/ready", "X-A: b\nX-C: d")],
    ["one line that ends in CR", get("/ready", "X-A: b\rX-C: d")],
    ["a chunk whose size ends in LF", post([CHUNKED], `2\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ["a chunk extension that ends in LF", post([CHUNKED], `2;a\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ["a chunk longer than it says", post([CHUNKED], `2\r\n{}..0\r\n\r\n${HIDDEN}`)],
    ["a chunk beyond any size", post([CHUNKED], "fffffffffffffffff\r\n{}")],
    ["a negative chunk", post([CHUNKED], `-2\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ["an endless chunk extension", post([CHUNKED], `2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ["a length in a trailer", post([CHUNKED], `2\r\n{}\r\n0\r\nContent-Length: 37\r\n\r\n${HIDDEN}`)],
    ["two hosts", get("/ready", "Host: b", "Connection: close")],
    ["no version", "GET /ready\r\n\r\n"],
    ["a version of another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a target that is not a path", get("elsewhere.example")],
    ["a NUL in the target", get("/ready\0")],
    ["a blank in the target", get("/ready /x")],
    ["a backslash for a slash", get("\\ready")],
  ])("rejects ambiguous framing and closes the connection: %s", async (_name, bytes) => {
    const response = await sendBytes(api.url, bytes, 2_000);
    expect(statuses(response), response).toEqual([400]);
    expect(response.toLowerCase()).toContain("x-error-code: input_invalid");
  });
});

describe("several requests on one connection", () => {
  it.each([
    ["one after another", get("/ready") + get("/nothing"), [200, 404, 200]],
    ["after chunks with an extension", post([CHUNKED], `2;a=b\r\n{}\r\n0\r\n\r\n`), [400, 200]],
    ["after an unread body", get("/ready", `Content-Length: ${HIDDEN.length}`) + HIDDEN, [200, 200]],
    [
      "after a body of the wrong kind",
      post([`Content-Length: ${HIDDEN.length}`], HIDDEN).replace("application/json", "text/plain"),
      [415, 200],
    ],
    ["after an unknown expectation", post([LENGTH, "Expect: a-miracle"], "{}"), [400, 200]],
  ])("responds in order to requests on one connection: %s", async (_name, bytes, expected) => {
    const response = await sendBytes(api.url, bytes + LAST, 2_000);
    expect(statuses(response), response).toEqual(expected);
    expect(response.match(/x-content-type-options: nosniff/gi)).toHaveLength(expected.length);
  });

  it.each(["h2c", "websocket"])("stays in HTTP/1.1 despite an upgrade to %s", async (protocol) => {
    const response = await sendBytes(api.url, get("/ready", "Connection: Upgrade", `Upgrade: ${protocol}`));
    expect(statuses(response)).toEqual([200]);
  });

  it("sends 100 Continue to a request that announces a body", async () => {
    const response = await sendBytes(api.url, post([LENGTH, "Expect: 100-continue"], `{}${LAST}`), 2_000);
    expect(statuses(response)).toEqual([100, 400, 200]);
  });
});

describe("alternative spellings of a path", () => {
  it.each([
    ["//ready", 404],
    ["/ready/", 404],
    ["/./ready", 404],
    ["/agents/../ready", 404],
    ["/%2fready", 404],
    ["/agents%2f1", 404],
    ["/agents/1%2f", 400],
    ["/agents/1%00", 400],
    ["/ready;x=1", 404],
    ["/READY", 404],
    ["http://elsewhere.example/ready", 200],
    ["/%72eady", 200],
  ])("routes %s literally", async (target, status) => {
    const response = await sendBytes(api.url, get(target, "Connection: close"), 2_000);
    expect(statuses(response)).toEqual([status]);
    expect(response).not.toContain("elsewhere.example");
  });

  it("rejects CONNECT and TRACE", async () => {
    const tunnel = "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: a\r\n\r\n";
    expect(await sendBytes(api.url, tunnel, 2_000)).toBe("");
    const mirror = get("/ready", "Cookie: mine", "Connection: close").replace("GET", "TRACE");
    const response = await sendBytes(api.url, mirror, 2_000);
    expect(statuses(response)).toEqual([405]);
    expect(response).not.toContain("mine");
  });
});
