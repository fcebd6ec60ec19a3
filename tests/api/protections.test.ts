// Protections of the API and its clients over real connections: origins, headers, limits, proxies, floods, time-outs.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HttpServerOptions } from "../../src/http/server.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openApiClient } from "../support/http/api-client.ts";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

let index: EmptyIndex;
const servers = new Map<object, Promise<TestApi>>();

beforeAll(async () => {
  index = await openEmptyIndex();
});

afterAll(async () => {
  await Promise.all([...servers.values()].map(async (server) => (await server).close()));
  await index?.drop();
});

let nowMs = 1_000_000;
const clock = { ...systemClock, nowMs: () => nowMs };

const DEFAULTS: Partial<HttpServerOptions> = {};
const BEHIND_PROXY: Partial<HttpServerOptions> = { trustedProxies: 1 };
const REQUESTS_3: Partial<HttpServerOptions> = { requestsPerMinuteMax: 3, clock };
const BODY_BYTES: Partial<HttpServerOptions> = { bodyBytesMax: 10_000, bodyBytesPerMinuteMax: 30_000, clock };

/** The URL of a server with these options, shared by the tests that pass the same object. */
async function shared(options: Partial<HttpServerOptions>): Promise<string> {
  // Refills the limits that an earlier test has used up.
  nowMs += 120_000;
  const server = servers.get(options) ?? startTestApi(index.database, options);
  servers.set(options, server);
  return (await server).url;
}

/** A server of its own, for limits that no other test shares. */
async function start(options: Partial<HttpServerOptions>): Promise<string> {
  const api = await startTestApi(index.database, options);
  onTestFinished(() => api.close());
  return api.url;
}

function expectFault(response: string, status: number): void {
  const [head = "", body = ""] = response.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain("x-content-type-options: nosniff");
  expect(Object.keys(JSON.parse(body))).toEqual(["error"]);
}

describe("origins", () => {
  it("lets every origin read responses and every header", async () => {
    const url = await shared(DEFAULTS);
    for (const path of ["/agents/1", "/health", "/nothing", "/agents"]) {
      const { headers } = await fetch(url + path, { headers: { origin: "https://elsewhere.example" } });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toMatch(/^\*, PAYMENT-REQUIRED, /);
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  it("responds to a preflight request with the allowed methods and headers", async () => {
    const url = await shared(DEFAULTS);
    const preflight = await fetch(`${url}/preflight`, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, x-write-signature",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/^\*, Content-Type, /);
    expect((await fetch(`${url}/nothing`, { method: "OPTIONS" })).status).toBe(404);
  });
});

describe("responses", () => {
  it("forbids sniffing, framing and scripts in every response", async () => {
    const url = await shared(DEFAULTS);
    for (const path of ["/agents/1", "/agents/x", "/nothing", "/ready", "/openapi.json", "/docs"]) {
      const { headers } = await fetch(url + path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
    }
  });

  it("allows caches to store only responses that say so", async () => {
    const url = await shared(DEFAULTS);
    const cacheControl = async (path: string) => (await fetch(url + path)).headers.get("cache-control");
    for (const path of [
      "/health",
      "/ready",
      "/metrics",
      "/agents/1",
      "/agents/x",
      "/nothing",
      "/preflight",
    ]) {
      expect([path, await cacheControl(path)]).toEqual([path, "no-store"]);
    }
    expect(await cacheControl("/intents")).toBe("no-cache");
    const published = await fetch(`${url}/catalogs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ catalog_json: "{}" }),
    });
    expect(published.headers.get("cache-control")).toBe("no-store");
    const { catalog_hash } = (await published.json()) as { catalog_hash: string };
    expect(await cacheControl(`/catalogs/${catalog_hash}`)).toMatch(/^public, .*immutable$/);
    expect(await cacheControl(`/catalogs/${catalog_hash}/metadata`)).toBe("no-store");
    expect(await cacheControl(`/quote-requests/${catalog_hash}`)).toBe("no-store");
  });

  it("never echoes the host of the request, in whatever header", async () => {
    const url = await shared(BEHIND_PROXY);
    const evil = "evil.example";
    const headers = {
      "x-forwarded-host": evil,
      forwarded: `host=${evil};proto=https`,
      "x-forwarded-proto": evil,
      "x-forwarded-for": "192.0.2.1",
      "x-original-url": `/${evil}`,
      referer: `https://${evil}/`,
    };
    for (const path of ["/openapi.json", "/docs", "/agents/1", "/nothing", "/"]) {
      const response = await fetch(url + path, { headers });
      expect(`${JSON.stringify([...response.headers])}${await response.text()}`).not.toContain(evil);
    }
    expect(
      await sendBytes(url, `GET /openapi.json HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`),
    ).not.toContain(evil);
  });

  it("responds to HEAD as to GET without the body", async () => {
    const url = await shared(DEFAULTS);
    for (const path of ["/intents", "/agents/1", "/openapi.json", "/docs", "/health"]) {
      const [head, get] = await Promise.all([fetch(url + path, { method: "HEAD" }), fetch(url + path)]);
      expect([head.status, await head.text()]).toEqual([get.status, ""]);
      expect(get.status).toBe(path === "/agents/1" ? 404 : 200);
      expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });
});

describe("the request limit per client", () => {
  it("responds 429 with Retry-After, except for probes", async () => {
    const url = await start({ requestsPerMinuteMax: 6, clock });
    const client = await openApiClient(url);
    for (let each = 0; each < 5; each += 1) expect((await client.call("/intents")).status).toBe(200);
    const limited = await client.call("/intents");
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(limited.headers.get("x-error-code")).toBe("RATE_LIMITED");
    expect(limited.body).toEqual({ error: "At most 6 requests per minute per client." });
    expect((await client.call("/nothing")).status).toBe(429);
    expect((await client.call("/health")).status).toBe(200);
    expect((await client.call("/ready")).status).toBe(200);
  });

  it("ignores X-Forwarded-For unless proxies are configured", async () => {
    const forged = (client: number) => ({ headers: { "x-forwarded-for": `203.0.113.${client}` } });
    const open = await start({ requestsPerMinuteMax: 2 });
    const direct = [];
    for (const client of [1, 2, 3]) direct.push((await fetch(`${open}/intents`, forged(client))).status);
    expect(direct).toEqual([200, 200, 429]);
    const behind = await start({ requestsPerMinuteMax: 2, trustedProxies: 1 });
    const proxied = [];
    for (const client of [1, 2, 3]) proxied.push((await fetch(`${behind}/intents`, forged(client))).status);
    expect(proxied).toEqual([200, 200, 200]);
    // Entries that the client put before the proxy's own are ignored.
    const forwarded = [];
    for (const fake of [1, 2, 3]) {
      const headers = { "x-forwarded-for": `198.51.100.${fake}, 203.0.113.9` };
      forwarded.push((await fetch(`${behind}/intents`, { headers })).status);
    }
    expect(forwarded).toEqual([200, 200, 429]);
  });
});

describe("a client over its limit", () => {
  it("loses its connection and the requests pipelined on it", async () => {
    const url = await start({ requestsPerMinuteMax: 3 });
    const text = await sendBytes(url, "GET /intents HTTP/1.1\r\nHost: a\r\n\r\n".repeat(50), 5_000);
    const statuses = [...text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "200", "200", "429"]);
    expect(text.slice(text.indexOf(" 429 ")).toLowerCase()).toContain("connection: close");
  });

  it.each([
    ["a malformed URL", "GET /% HTTP/1.1\r\nHost: a\r\n"],
    ["no Host", "GET /intents HTTP/1.1\r\n"],
    ["two Hosts", "GET /intents HTTP/1.1\r\nHost: a\r\nHost: b\r\n"],
  ])("responds 429 to a client over its limit also for %s", async (_name, head) => {
    const url = await shared(REQUESTS_3);
    const statuses = [];
    for (let each = 0; each < 5; each += 1) {
      const text = await sendBytes(url, `${head}Connection: close\r\n\r\n`);
      expectFault(text, Number(text.slice(9, 12)));
      statuses.push(text.slice(9, 12));
    }
    expect(statuses).toEqual(["400", "400", "400", "429", "429"]);
  });

  it("recognizes a client in every address format that a proxy writes", async () => {
    const url = await start({ requestsPerMinuteMax: 3, trustedProxies: 1 });
    const statusFrom = async (address: string) =>
      (await fetch(`${url}/intents`, { headers: { "x-forwarded-for": address } })).status;
    const forms = [
      "203.0.113.7",
      "203.0.113.7:1024",
      "203.0.113.7:1025",
      "::ffff:203.0.113.7",
      "[::ffff:cb00:7107]:9",
    ];
    const statuses = [];
    for (const form of forms) statuses.push(await statusFrom(form));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const networks = [
      "[2001:db8:1:2::1]:1",
      "[2001:db8:1:2::2]:2",
      "2001:db8:1:2:3:4:5:6",
      "[2001:db8:1:2::9]",
    ];
    const others = [];
    for (const form of networks) others.push(await statusFrom(form));
    expect(others).toEqual([200, 200, 200, 429]);
    const unreadable = [];
    for (const form of ["_a", "_b", "unknown", "x".repeat(500)]) unreadable.push(await statusFrom(form));
    expect(unreadable).toEqual([200, 200, 200, 429]);
  });
});

describe("the body byte limit per client", () => {
  const body = JSON.stringify({ note: "x".repeat(8_000) });
  const post = (url: string, chunked = false, text = body) =>
    fetch(`${url}/preflight`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: chunked ? new Blob([text]).stream() : text,
      ...(chunked ? { duplex: "half" } : {}),
    } as RequestInit);
  const statusesOf = async (times: number, send: () => Promise<Response>) => {
    const statuses = [];
    for (let each = 0; each < times; each += 1) statuses.push((await send()).status);
    return statuses;
  };

  // Without Content-Length, the largest body must fit into the limit.
  it.each([
    ["announced by Content-Length", false, "5"],
    ["unknown (chunked)", true, "9"],
  ])("counts bodies whose length is %s", async (_name, chunked, seconds) => {
    const url = await shared(BODY_BYTES);
    expect(await statusesOf(3, () => post(url, chunked))).toEqual([400, 400, 400]);
    const limited = await post(url, chunked);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, seconds]);
    expect(await limited.json()).toEqual({
      error: "At most 30000 bytes of request bodies per minute per client.",
    });
    // Requests without a body are not counted.
    expect((await fetch(`${url}/intents`)).status).toBe(200);
  });

  it("refills at its rate for chunked bodies", async () => {
    const url = await shared(BODY_BYTES);
    const statuses = await statusesOf(40, () => {
      nowMs += 100;
      return post(url, true);
    });
    expect(statuses.filter((status) => status === 400)).toHaveLength(3);
  });

  it("counts an oversized chunked body as the largest allowed one", async () => {
    const url = await shared(BODY_BYTES);
    const large = JSON.stringify({ note: "x".repeat(20_000) });
    expect(await statusesOf(4, () => post(url, true, large))).toEqual([413, 413, 413, 429]);
  });

  it("counts small chunked bodies by their size", async () => {
    const url = await shared(BODY_BYTES);
    expect(await statusesOf(20, () => post(url, true, "{}"))).toEqual(Array(20).fill(400));
  });

  it("does not count an announced oversized body that is rejected unread", async () => {
    const url = await start({ bodyBytesPerMinuteMax: 300_000 });
    const head = "POST /preflight HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    expectFault(await sendBytes(url, `${head}Content-Length: 99999999999\r\n\r\n{`), 413);
    expect((await post(url)).status).toBe(400);
  });
});

describe("floods", () => {
  it.each([
    ["headers", `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`, 431],
    ["many headers", `GET /health HTTP/1.1\r\nHost: a\r\n${"a: b\r\n".repeat(20_000)}\r\n`, 431],
    ["an endless URL", `GET /agents/${"9".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["a long URL", `GET /agents/${"9".repeat(12_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["a long unknown path", `GET /${"a/".repeat(5_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 404],
    ["a long query", `GET /agents?owner=${"9".repeat(12_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["many keys", `GET /agents?${"a=1&b=2&".repeat(1_500)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["no host", "GET /health HTTP/1.1\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["a malformed URL", "GET /agents/%E0%A4%A HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a NUL in a header", "GET /health HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400],
    [
      "two lengths",
      "POST /preflight HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
      400,
    ],
    [
      "a length and chunks",
      "POST /preflight HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "a huge body announced",
      "POST /preflight HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{",
      413,
    ],
  ])("rejects an abusive request (%s), and keeps serving", async (_name, bytes, status) => {
    const url = await shared(DEFAULTS);
    expectFault(await sendBytes(url, bytes.replace("\r\n", "\r\nConnection: close\r\n")), status);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});

describe("an index that no indexer has written", () => {
  it("responds 503 INDEX_EMPTY", async () => {
    const empty = await openTestDatabase();
    onTestFinished(() => empty.drop());
    const api = await startTestApi(empty.database);
    onTestFinished(() => api.close());
    const client = await openApiClient(api.url);
    for (const path of ["/agents/1", "/intents", "/analytics/commerce"]) {
      const response = await client.call(path);
      expect([response.status, response.headers.get("x-error-code")]).toEqual([503, "INDEX_EMPTY"]);
    }
  });
});

describe("the request time limit", () => {
  it("responds 503 TIMED_OUT and serves the next request", async () => {
    const url = await start({ requestMsMax: 100, checkReadiness: () => new Promise<never>(() => undefined) });
    const client = await openApiClient(url);
    const response = await client.call("/ready");
    expect([response.status, response.headers.get("x-error-code")]).toEqual([503, "TIMED_OUT"]);
    expect((await client.call("/health")).status).toBe(200);
  });
});
