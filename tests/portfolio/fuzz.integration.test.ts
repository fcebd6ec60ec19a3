// Fuzzing: the portfolio service responds in time to any request, never with a server error or a wrong charge.
// Main covers a part: conformance.test.ts, src/portfolio/query.test.ts.
import { Agent } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { createResponseChecker, openApiClient } from "../support/http/api-client.ts";
import { type HostileRequest, hostileRequests, operationsOf } from "../support/http/hostile-requests.ts";
import { sendRaw } from "../support/http/send-bytes.ts";
import { signPaymentFor } from "../support/payments/paid-client.ts";
import { isFullDepth, runsOf } from "../support/test-depth.ts";
import { openServiceStage, type PortfolioService, type ServiceStage } from "./service-stage.ts";

// The slowest response of a healthy service on a busy machine; anything longer is a hang.
const RESPONSE_MS_MAX = 8_000;
const REQUESTS_PER_RUN = 12;
const RUNS = { paid: runsOf(70), free: runsOf(12) };
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const TARGET = `/portfolio?address=${WALLET}&chains=base`;

const agent = new Agent({ keepAlive: true, maxSockets: REQUESTS_PER_RUN });
let stage: ServiceStage;
let service: PortfolioService;
/** A server, and the check of responses against its description. */
type Target = { readonly url: string; readonly check: ReturnType<typeof createResponseChecker> };
let document: OpenApiDocument;
let target: Target;
let requestCount = 0;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  ({ document } = await openApiClient(service.url));
  target = { url: service.url, check: createResponseChecker(document) };
});

afterAll(async () => {
  agent.destroy();
  await stage?.close();
});

async function expectValidResponse({ url, check }: Target, request: HostileRequest): Promise<number> {
  const response = await sendRaw(url, request, { agent, timeoutMs: RESPONSE_MS_MAX });
  requestCount += 1;
  const { method, target } = request;
  const where = `${method} ${target} ${JSON.stringify(request.headers)} ${response.text}`;
  expect(response.status, where).toBeLessThan(500);
  check(method, target, response);
  if (response.status < 400 || method === "HEAD") return response.status;
  const keys = response.status === 402 ? ["x402Version", "error", "accepts"] : ["error"];
  expect(Object.keys(response.body as object), where).toEqual(keys);
  expect((response.body as { error: unknown }).error, where).toMatch(/^[A-Z\w].*\.$/s);
  expect(response.headers.get("x-error-code"), where).toMatch(/^[A-Z_]+$/);
  return response.status;
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "").toString("base64");

/** Variations of a valid payment: unexpected values at every path, and text that is not a payload. */
function oddPayments(payload: Record<string, unknown>): fc.Arbitrary<string> {
  const paths = pathsIn(payload);
  const oddValue = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1e300, "", "0", "-1", "0x", "1e3", [], {}, [[[]]]),
    fc.constantFrom<unknown>(
      "9".repeat(80),
      `0x${"ff".repeat(32)}`,
      "\0",
      "\u202e",
      "eip155:1",
      "x".repeat(3_000),
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const changed = fc
    .array(fc.tuple(fc.constantFrom(...paths), oddValue), { minLength: 1, maxLength: 2 })
    .map((changes) => {
      const copy = structuredClone(payload);
      for (const [path, value] of changes) put(copy, path, value);
      return base64(copy);
    });
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map(base64) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme-ascii", maxLength: 60 }) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("base64")),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "e30=", "W10=", "bnVsbA==", "A".repeat(9_000), "%00", "eyI="),
    },
  );
}

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    ...(path.length > 0 ? [path] : []),
    ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key])),
  ];
}

function put(into: Record<string, unknown>, [key = "", ...path]: readonly string[], value: unknown): void {
  const inner = into[key];
  if (path.length === 0 || typeof inner !== "object" || inner === null) into[key] = value;
  else put(inner as Record<string, unknown>, path, value);
}

async function fuzz(
  requests: fc.Arbitrary<HostileRequest>,
  numRuns: number,
  server: Target = target,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const several = fc.array(requests, { minLength: REQUESTS_PER_RUN, maxLength: REQUESTS_PER_RUN });
  await fc.assert(
    fc.asyncProperty(several, async (all) => {
      for (const status of await Promise.all(all.map((each) => expectValidResponse(server, each))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
    { numRuns },
  );
  return statuses;
}

function expectOnly(statuses: ReadonlyMap<number, number>, known: readonly number[]): void {
  expect(known).toEqual(expect.arrayContaining([...statuses.keys()]));
}

/** Odd text with a dot is a name: one that leads nowhere, or one more than a client may resolve in a minute. */
const PAID_STATUSES = [400, 404, 429, 503];

describe("the portfolio service", () => {
  it("responds to every hostile request on every route as described", { timeout: 60_000 }, async () => {
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThanOrEqual(11);
    let runs = 0;
    for (const { path, method, operation } of operations) {
      const isPaid = path === "/portfolio";
      const good = { target: isPaid ? TARGET : path };
      const requests = hostileRequests(path, method, operation, good);
      const numRuns = isPaid ? RUNS.paid : RUNS.free;
      runs += numRuns;
      const statuses = await fuzz(requests, numRuns);
      if (!isPaid) continue;
      expectOnly(statuses, [...PAID_STATUSES, 402]);
      if (isFullDepth()) expect([...statuses.keys()]).toEqual(expect.arrayContaining([400, 402]));
    }
    expect(requestCount).toBe(runs * REQUESTS_PER_RUN);
    if (isFullDepth()) expect(requestCount).toBeGreaterThan(2_000);
  });

  it("charges only for a valid payment", { timeout: 60_000 }, async () => {
    const payer = await stage.paid.payer();
    const { payload } = await signPaymentFor(service.url + TARGET, payer, stage.paid.asset);
    // The gate never reads the Bazaar extension, whose many paths would take the place of those it does read.
    const { bazaar: _, ...extensions } = payload.extensions ?? {};
    const paying = (header: string): HostileRequest => ({
      method: "GET",
      target: TARGET,
      // A client cannot send other characters in a header.
      headers: { "payment-signature": header.replace(/[^\x20-\x7e]/g, "?") },
      body: null,
    });
    // One of each kind for certain: a few random runs may meet none.
    const unsigned = structuredClone(payload) as unknown as Record<string, unknown>;
    put(unsigned, ["payload", "signature"], `0x${"11".repeat(65)}`);
    expect(await expectValidResponse(target, paying("e30="))).toBe(400);
    expect(await expectValidResponse(target, paying(base64(unsigned)))).toBe(402);
    const statuses = await fuzz(oddPayments({ ...payload, extensions }).map(paying), RUNS.paid);
    // 409: a payment that is settled, under another identifier.
    expectOnly(statuses, [200, 400, 402, 409]);
    if (isFullDepth()) {
      expect(statuses.get(400)).toBeGreaterThan((RUNS.paid * 10) / 7);
      expect(statuses.get(402)).toBeGreaterThan(RUNS.paid / 7);
    }
    // A change outside the signed data leaves the payment valid, once.
    const charged = await stage.paid.transfersFrom(payer.address);
    expect(charged.length).toBe(statuses.has(200) ? 1 : 0);
  });

  it("responds as described with the development bypass", { timeout: 60_000 }, async () => {
    const { url } = await stage.serve({ bypass: true });
    const { document } = await openApiClient(url);
    const operation = document.paths["/portfolio"]?.get;
    if (!operation) throw new Error("GET /portfolio is not described");
    const odd = hostileRequests("/portfolio", "get", operation, { target: TARGET });
    const requests = fc.tuple(odd, fc.boolean()).map(([request, named]) => {
      const joint = request.target.includes("?") ? "&" : "?";
      return named ? { ...request, target: `${request.target}${joint}address=${WALLET}` } : request;
    });
    const statuses = await fuzz(requests, RUNS.free, { url, check: createResponseChecker(document) });
    expectOnly(statuses, [...PAID_STATUSES, 200]);
    if (isFullDepth()) expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400]));
  });

  it("the service still sells a snapshot after all hostile requests", async () => {
    const client = await openApiClient(service.url);
    expect((await client.call("/health")).status).toBe(200);
    expect((await client.call(TARGET)).status).toBe(402);
    const payer = await stage.paid.payer();
    const { header } = await signPaymentFor(service.url + TARGET, payer, stage.paid.asset);
    expect((await client.call(TARGET, { headers: { "payment-signature": header } })).status).toBe(200);
  });
});
