// What protects the API and its clients, asked over real connections: origins, headers, limits, proxies, floods, time.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HttpServerOptions } from "../../src/http/server.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openApiClient } from "../support/http/api-client.ts";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { openTestDatabase } from "../support/index/test-index.ts";

let place: EmptyIndex;

beforeAll(async () => {
  place = await openEmptyIndex();
});

afterAll(async () => {
  await place?.drop();
});

async function start(options: Partial<HttpServerOptions> = {}): Promise<string> {
  const api = await startTestApi(place.database, options);
  onTestFinished(() => api.close());
  return api.url;
}

function expectFault(answer: string, status: number): void {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain("x-content-type-options: nosniff");
  expect(Object.keys(JSON.parse(body))).toEqual(["error"]);
}

describe("origins", () => {
  it("may all read, and every header of the answer", async () => {
    const url = await start();
    for (const path of ["/agents/1", "/health", "/nothing", "/agents"]) {
      const { headers } = await fetch(url + path, { headers: { origin: "https://elsewhere.example" } });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toMatch(/^\*, PAYMENT-REQUIRED, /);
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  it("are told before they write what they may send", async () => {
    const url = await start();
    const asked = await fetch(`${url}/preflight`, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, x-write-signature",
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
    expect(asked.headers.get("access-control-allow-headers")).toMatch(/^\*, Content-Type, /);
    expect((await fetch(`${url}/nothing`, { method: "OPTIONS" })).status).toBe(404);
  });
});

describe("answers", () => {
  it("are neither sniffed, framed nor run as a page", async () => {
    const url = await start();
    for (const path of ["/agents/1", "/agents/x", "/nothing", "/ready", "/openapi.json", "/docs"]) {
      const { headers } = await fetch(url + path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
    }
  });

  it("are kept by nobody who is not told to", async () => {
    const url = await start();
    const kept = async (path: string) => (await fetch(url + path)).headers.get("cache-control");
    for (const path of [
      "/health",
      "/ready",
      "/metrics",
      "/agents/1",
      "/agents/x",
      "/nothing",
      "/preflight",
    ]) {
      expect([path, await kept(path)]).toEqual([path, "no-store"]);
    }
    expect(await kept("/intents")).toBe("no-cache");
    const published = await fetch(`${url}/catalogs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ catalog_json: "{}" }),
    });
    expect(published.headers.get("cache-control")).toBe("no-store");
    const { catalog_hash } = (await published.json()) as { catalog_hash: string };
    expect(await kept(`/catalogs/${catalog_hash}`)).toMatch(/^public, .*immutable$/);
    expect(await kept(`/catalogs/${catalog_hash}/metadata`)).toBe("no-store");
    expect(await kept(`/quote-requests/${catalog_hash}`)).toBe("no-store");
  });

  it("show nothing of the request's own host, however it is named", async () => {
    const url = await start({ trustedProxies: 1 });
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
      const answer = await fetch(url + path, { headers });
      expect(`${JSON.stringify([...answer.headers])}${await answer.text()}`).not.toContain(evil);
    }
    expect(
      await sendBytes(url, `GET /openapi.json HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`),
    ).not.toContain(evil);
  });

  it("to HEAD are those to GET without their body", async () => {
    const url = await start();
    for (const path of ["/intents", "/agents/1", "/openapi.json", "/docs", "/health"]) {
      const [head, get] = await Promise.all([fetch(url + path, { method: "HEAD" }), fetch(url + path)]);
      expect([head.status, await head.text()]).toEqual([get.status, ""]);
      expect(get.status).toBe(path === "/agents/1" ? 404 : 200);
      expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });
});

describe("the limit per client", () => {
  it("answers 429 with the time to wait, and leaves the probes alone", async () => {
    const clock = { ...systemClock, nowMs: () => 1_000_000 };
    const url = await start({ requestsPerMinuteMax: 6, clock });
    const client = await openApiClient(url);
    for (let each = 0; each < 5; each += 1) expect((await client.call("/intents")).status).toBe(200);
    const refused = await client.call("/intents");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(refused.headers.get("x-error-code")).toBe("RATE_LIMITED");
    expect(refused.body).toEqual({ error: "At most 6 requests per minute per client." });
    expect((await client.call("/nothing")).status).toBe(429);
    expect((await client.call("/health")).status).toBe(200);
    expect((await client.call("/ready")).status).toBe(200);
  });

  it("believes no X-Forwarded-For unless told how many proxies there are", async () => {
    const forged = (client: number) => ({ headers: { "x-forwarded-for": `203.0.113.${client}` } });
    const open = await start({ requestsPerMinuteMax: 2 });
    const direct = [];
    for (const client of [1, 2, 3]) direct.push((await fetch(`${open}/intents`, forged(client))).status);
    expect(direct).toEqual([200, 200, 429]);
    const behind = await start({ requestsPerMinuteMax: 2, trustedProxies: 1 });
    const proxied = [];
    for (const client of [1, 2, 3]) proxied.push((await fetch(`${behind}/intents`, forged(client))).status);
    expect(proxied).toEqual([200, 200, 200]);
    // What the client itself put in front of the proxy's entry counts for nothing.
    const forwarded = [];
    for (const fake of [1, 2, 3]) {
      const headers = { "x-forwarded-for": `198.51.100.${fake}, 203.0.113.9` };
      forwarded.push((await fetch(`${behind}/intents`, { headers })).status);
    }
    expect(forwarded).toEqual([200, 200, 429]);
  });
});

describe("a client that is over its limit", () => {
  it("loses its connection and whatever else it had sent on it", async () => {
    const url = await start({ requestsPerMinuteMax: 3 });
    const text = await sendBytes(url, "GET /intents HTTP/1.1\r\nHost: a\r\n\r\n".repeat(50), 5_000);
    const statuses = [...text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "200", "200", "429"]);
    expect(text.slice(text.indexOf(" 429 ")).toLowerCase()).toContain("connection: close");
  });

  it.each([
    ["a broken address", "GET /% HTTP/1.1\r\nHost: a\r\n"],
    ["no Host", "GET /intents HTTP/1.1\r\n"],
    ["two Hosts", "GET /intents HTTP/1.1\r\nHost: a\r\nHost: b\r\n"],
  ])("is not served requests with %s either", async (_name, head) => {
    const url = await start({ requestsPerMinuteMax: 3, clock: { ...systemClock, nowMs: () => 1_000_000 } });
    const statuses = [];
    for (let each = 0; each < 5; each += 1) {
      const text = await sendBytes(url, `${head}Connection: close\r\n\r\n`);
      expectFault(text, Number(text.slice(9, 12)));
      statuses.push(text.slice(9, 12));
    }
    expect(statuses).toEqual(["400", "400", "400", "429", "429"]);
  });

  it("is the same one whatever port, brackets or form its proxy writes", async () => {
    const url = await start({ requestsPerMinuteMax: 3, trustedProxies: 1 });
    const ask = async (address: string) =>
      (await fetch(`${url}/intents`, { headers: { "x-forwarded-for": address } })).status;
    const forms = [
      "203.0.113.7",
      "203.0.113.7:1024",
      "203.0.113.7:1025",
      "::ffff:203.0.113.7",
      "[::ffff:cb00:7107]:9",
    ];
    const statuses = [];
    for (const form of forms) statuses.push(await ask(form));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const networks = [
      "[2001:db8:1:2::1]:1",
      "[2001:db8:1:2::2]:2",
      "2001:db8:1:2:3:4:5:6",
      "[2001:db8:1:2::9]",
    ];
    const others = [];
    for (const form of networks) others.push(await ask(form));
    expect(others).toEqual([200, 200, 200, 429]);
    const unreadable = [];
    for (const form of ["_a", "_b", "unknown", "x".repeat(500)]) unreadable.push(await ask(form));
    expect(unreadable).toEqual([200, 200, 200, 429]);
  });
});

describe("the limit of bytes per client", () => {
  const body = JSON.stringify({ note: "x".repeat(8_000) });
  const limits = { bodyBytesMax: 10_000, bodyBytesPerMinuteMax: 30_000 };
  const clock = { ...systemClock, nowMs: () => 1_000_000 };
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

  // Where the length is not announced, there must be room for the largest body.
  it.each([
    ["announced", false, "5"],
    ["in chunks of any number", true, "9"],
  ])("counts bodies whose length is %s", async (_name, chunked, seconds) => {
    const url = await start({ ...limits, clock });
    expect(await statusesOf(3, () => post(url, chunked))).toEqual([400, 400, 400]);
    const limited = await post(url, chunked);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, seconds]);
    expect(await limited.json()).toEqual({
      error: "At most 30000 bytes of request bodies per minute per client.",
    });
    // What has no body costs none of it.
    expect((await fetch(`${url}/intents`)).status).toBe(200);
  });

  it("keeps its rate for chunks while the minute goes on", async () => {
    let nowMs = 1_000_000;
    const url = await start({ ...limits, clock: { ...systemClock, nowMs: () => nowMs } });
    const statuses = await statusesOf(40, () => {
      nowMs += 100;
      return post(url, true);
    });
    expect(statuses.filter((status) => status === 400)).toHaveLength(3);
  });

  it("counts a body in chunks that is larger than allowed as the largest", async () => {
    const url = await start({ ...limits, clock });
    const large = JSON.stringify({ note: "x".repeat(20_000) });
    expect(await statusesOf(4, () => post(url, true, large))).toEqual([413, 413, 413, 429]);
  });

  it("counts little of many small bodies in chunks", async () => {
    const url = await start({ ...limits, clock });
    expect(await statusesOf(20, () => post(url, true, "{}"))).toEqual(Array(20).fill(400));
  });

  it("counts nothing of a body that is rejected unread beyond the largest", async () => {
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
    ["an endless address", `GET /agents/${"9".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["a long address", `GET /agents/${"9".repeat(12_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["a long unknown path", `GET /${"a/".repeat(5_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 404],
    ["a long query", `GET /agents?owner=${"9".repeat(12_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["many keys", `GET /agents?${"a=1&b=2&".repeat(1_500)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    ["no host", "GET /health HTTP/1.1\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    ["a broken address", "GET /agents/%E0%A4%A HTTP/1.1\r\nHost: a\r\n\r\n", 400],
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
  ])("of %s are refused", async (_name, bytes, status) => {
    const url = await start();
    expectFault(await sendBytes(url, bytes.replace("\r\n", "\r\nConnection: close\r\n")), status);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});

describe("an index", () => {
  it("that no indexer has made yet is 503, not a defect", async () => {
    const empty = await openTestDatabase();
    onTestFinished(() => empty.drop());
    const api = await startTestApi(empty.database);
    onTestFinished(() => api.close());
    const client = await openApiClient(api.url);
    for (const path of ["/agents/1", "/intents", "/analytics/commerce"]) {
      const answer = await client.call(path);
      expect([answer.status, answer.headers.get("x-error-code")]).toEqual([503, "INDEX_EMPTY"]);
    }
  });
});

describe("time", () => {
  it("is limited: an answer that does not come is 503, and the next request is served", async () => {
    const url = await start({ requestMsMax: 100, checkReadiness: () => new Promise<never>(() => undefined) });
    const client = await openApiClient(url);
    const answer = await client.call("/ready");
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([503, "TIMED_OUT"]);
    expect((await client.call("/health")).status).toBe(200);
  });
});
