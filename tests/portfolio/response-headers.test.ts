// Every kind of answer of the portfolio service carries what protects its reader, and none is kept that must not be.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";

const QUESTION = "/portfolio?address=0x70997970c51812dc3a010c7d01b50e0d17dc79c8&chains=base";
const page = { accept: "text/html" };
const paid = { "payment-signature": "anything" };
const NOTHING_RUNS = /^default-src 'none'; frame-ancestors 'none'$/;
const OWN_PAGE = /^default-src 'none'; style-src 'sha256-[^;]*;.*base-uri 'none'.*frame-ancestors 'none'$/;

let faces: TestPortfolioWeb;

beforeAll(async () => {
  faces = await startTestPortfolioWeb();
});

afterAll(() => faces?.close());

function expectSafe(headers: Headers): void {
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("content-security-policy")).not.toMatch(/unsafe|\*|https?:/);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  expect(headers.get("access-control-expose-headers")).toMatch(/PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
  for (const name of ["server", "x-powered-by", "set-cookie"]) expect(headers.get(name)).toBeNull();
}

type Asked = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };

describe("an answer of the portfolio service", () => {
  it.each<[number, string, Asked, string, RegExp]>([
    [200, "/", {}, "no-cache", OWN_PAGE],
    [200, "/docs", {}, "no-cache", OWN_PAGE],
    [200, "/llms-full.txt", {}, "no-cache", NOTHING_RUNS],
    [200, "/openapi.json", {}, "no-cache", NOTHING_RUNS],
    [200, "/health", {}, "no-store", NOTHING_RUNS],
    [200, "/ready", {}, "no-store", NOTHING_RUNS],
    [200, "/metrics", {}, "no-store", NOTHING_RUNS],
    [402, "/portfolio", {}, "no-store", NOTHING_RUNS],
    [402, QUESTION, {}, "no-store", NOTHING_RUNS],
    [402, QUESTION, { headers: page }, "no-store", OWN_PAGE],
    [200, QUESTION, { headers: paid }, "no-store", NOTHING_RUNS],
    [400, "/portfolio?address=x", {}, "no-store", NOTHING_RUNS],
    [404, "/nothing", {}, "no-store", NOTHING_RUNS],
    [405, "/portfolio", { method: "DELETE" }, "no-store", NOTHING_RUNS],
    [204, "/portfolio", { method: "OPTIONS" }, "no-store", NOTHING_RUNS],
  ])(
    "of %i to %s %o is safe to show, and kept as long as it says",
    async (status, path, asked, kept, policy) => {
      const answer = await fetch(faces.url + path, asked);
      await answer.arrayBuffer();
      expect(answer.status).toBe(status);
      expectSafe(answer.headers);
      expect(answer.headers.get("cache-control")).toBe(kept);
      expect(answer.headers.get("content-security-policy")).toMatch(policy);
    },
  );

  it("that has not changed says no less than the one before", async () => {
    for (const path of ["/", "/docs", "/llms.txt"]) {
      const etag = (await fetch(faces.url + path)).headers.get("etag") ?? "";
      const answer = await fetch(faces.url + path, { headers: { "if-none-match": etag } });
      expect(answer.status).toBe(304);
      expectSafe(answer.headers);
    }
  });

  it("to what never became a request is no exception", async () => {
    for (const bytes of ["hello\r\n\r\n", `GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`]) {
      const [head = ""] = (await sendBytes(faces.url, bytes, 2_000)).split("\r\n\r\n");
      const lines = head.split("\r\n").slice(1);
      expectSafe(new Headers(lines.map((line) => line.split(": ", 2) as [string, string])));
      expect(head).toContain("cache-control: no-store");
    }
  });

  it("from another page's point of view can be paid for: what must be sent and read is allowed", async () => {
    const asked = await fetch(faces.url + QUESTION, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "payment-signature",
      },
    });
    expect(asked.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
    expect(asked.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  });
});
