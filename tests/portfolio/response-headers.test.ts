// Every kind of response of the portfolio service has the security and cache headers.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";

const REQUEST = "/portfolio?address=0x70997970c51812dc3a010c7d01b50e0d17dc79c8&chains=base";
const page = { accept: "text/html" };
const paid = { "payment-signature": "anything" };
const NO_SCRIPTS = /^default-src 'none'; frame-ancestors 'none'$/;
const OWN_PAGE = /^default-src 'none'; style-src 'sha256-[^;]*;.*base-uri 'none'.*frame-ancestors 'none'$/;

let web: TestPortfolioWeb;

beforeAll(async () => {
  web = await startTestPortfolioWeb();
});

afterAll(() => web?.close());

function expectSafe(headers: Headers): void {
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("content-security-policy")).not.toMatch(/unsafe|\*|https?:/);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  expect(headers.get("access-control-expose-headers")).toMatch(
    /PAYMENT-REQUIRED, PAYMENT-RESPONSE.*WWW-Authenticate, Payment-Receipt/,
  );
  for (const name of ["server", "x-powered-by", "set-cookie"]) expect(headers.get(name)).toBeNull();
}

type RequestOptions = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };

describe("a response of the portfolio service", () => {
  it.each<[number, string, RequestOptions, string, RegExp]>([
    [200, "/", {}, "no-cache", OWN_PAGE],
    [200, "/docs", {}, "no-cache", OWN_PAGE],
    [200, "/llms-full.txt", {}, "no-cache", NO_SCRIPTS],
    [200, "/openapi.json", {}, "no-cache", NO_SCRIPTS],
    [200, "/health", {}, "no-store", NO_SCRIPTS],
    [200, "/ready", {}, "no-store", NO_SCRIPTS],
    [200, "/metrics", {}, "no-store", NO_SCRIPTS],
    [402, "/portfolio", {}, "no-store", NO_SCRIPTS],
    [402, REQUEST, {}, "no-store", NO_SCRIPTS],
    [402, REQUEST, { headers: page }, "no-store", OWN_PAGE],
    [200, REQUEST, { headers: paid }, "no-store", NO_SCRIPTS],
    [400, "/portfolio?address=x", {}, "no-store", NO_SCRIPTS],
    [404, "/nothing", {}, "no-store", NO_SCRIPTS],
    [405, "/portfolio", { method: "DELETE" }, "no-store", NO_SCRIPTS],
    [204, "/portfolio", { method: "OPTIONS" }, "no-store", NO_SCRIPTS],
  ])(
    "a response with %i to %s %o has security headers and the right cache control",
    async (status, path, options, cacheControl, policy) => {
      const response = await fetch(web.url + path, options);
      await response.arrayBuffer();
      expect(response.status).toBe(status);
      expectSafe(response.headers);
      expect(response.headers.get("cache-control")).toBe(cacheControl);
      expect(response.headers.get("content-security-policy")).toMatch(policy);
    },
  );

  it("a response with 304 has security headers", async () => {
    for (const path of ["/", "/docs", "/llms.txt"]) {
      const etag = (await fetch(web.url + path)).headers.get("etag") ?? "";
      const response = await fetch(web.url + path, { headers: { "if-none-match": etag } });
      expect(response.status).toBe(304);
      expectSafe(response.headers);
    }
  });

  it("the response to bytes that are not a request has security headers", async () => {
    for (const bytes of ["hello\r\n\r\n", `GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`]) {
      const [head = ""] = (await sendBytes(web.url, bytes, 2_000)).split("\r\n\r\n");
      const lines = head.split("\r\n").slice(1);
      expectSafe(new Headers(lines.map((line) => line.split(": ", 2) as [string, string])));
      expect(head).toContain("cache-control: no-store");
    }
  });

  it("allows another origin to send a payment and read the receipt", async () => {
    const preflight = await fetch(web.url + REQUEST, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "payment-signature",
      },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toContain(
      "PAYMENT-SIGNATURE, Authorization, Payment-Authorization",
    );
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  });
});
