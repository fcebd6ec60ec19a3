// Whatever is sent, the portfolio service answers, soon, never blames itself, and charges nobody by accident.
import { Agent } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { createResponseChecker, openApiClient } from "../support/http/api-client.ts";
import { type HostileRequest, hostileRequests, operationsOf } from "../support/http/hostile-requests.ts";
import { sendRaw } from "../support/http/send-bytes.ts";
import { signPaymentFor } from "../support/payments/paid-client.ts";
import { openServiceStage, type PortfolioService, type ServiceStage } from "./service-stage.ts";

// The slowest answer of a healthy service on a busy machine; anything longer is a hang.
const ANSWER_MS_MAX = 8_000;
const REQUESTS_PER_RUN = 12;
const RUNS = { paid: 70, free: 12 };
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const TARGET = `/portfolio?address=${WALLET}&chains=base`;

const agent = new Agent({ keepAlive: true, maxSockets: REQUESTS_PER_RUN });
let stage: ServiceStage;
let service: PortfolioService;
/** Where, and held against which description. */
type Place = { readonly url: string; readonly check: ReturnType<typeof createResponseChecker> };
let document: OpenApiDocument;
let place: Place;
let asked = 0;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  ({ document } = await openApiClient(service.url));
  place = { url: service.url, check: createResponseChecker(document) };
});

afterAll(async () => {
  agent.destroy();
  await stage?.close();
});

async function expectManners({ url, check }: Place, request: HostileRequest): Promise<number> {
  const answer = await sendRaw(url, request, { agent, timeoutMs: ANSWER_MS_MAX });
  asked += 1;
  const { method, target } = request;
  const where = `${method} ${target} ${JSON.stringify(request.headers)} ${answer.text}`;
  expect(answer.status, where).toBeLessThan(500);
  check(method, target, answer);
  if (answer.status < 400 || method === "HEAD") return answer.status;
  const keys = answer.status === 402 ? ["error", "accepts"] : ["error"];
  expect(Object.keys(answer.body as object), where).toEqual(keys);
  expect((answer.body as { error: unknown }).error, where).toMatch(/^[A-Z\w].*\.$/s);
  expect(answer.headers.get("x-error-code"), where).toMatch(/^[A-Z_]+$/);
  return answer.status;
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "").toString("base64");

/** Odd variations of a good payment: values of every other kind in every place, and text that is no payload at all. */
function oddPayments(payload: Record<string, unknown>): fc.Arbitrary<string> {
  const places = pathsIn(payload);
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
    .array(fc.tuple(fc.constantFrom(...places), oddValue), { minLength: 1, maxLength: 2 })
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

function put(into: Record<string, unknown>, [key = "", ...rest]: readonly string[], value: unknown): void {
  const inner = into[key];
  if (rest.length === 0 || typeof inner !== "object" || inner === null) into[key] = value;
  else put(inner as Record<string, unknown>, rest, value);
}

async function fuzz(
  requests: fc.Arbitrary<HostileRequest>,
  numRuns: number,
  at: Place = place,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const several = fc.array(requests, { minLength: REQUESTS_PER_RUN, maxLength: REQUESTS_PER_RUN });
  await fc.assert(
    fc.asyncProperty(several, async (all) => {
      for (const status of await Promise.all(all.map((each) => expectManners(at, each))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
    { numRuns },
  );
  return statuses;
}

describe("the portfolio service", () => {
  it("answers every hostile request to every route in good manners", { timeout: 60_000 }, async () => {
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThanOrEqual(11);
    for (const { path, method, operation } of operations) {
      const isPaid = path === "/portfolio";
      const good = { target: isPaid ? TARGET : path };
      const requests = hostileRequests(path, method, operation, good);
      const statuses = await fuzz(requests, isPaid ? RUNS.paid : RUNS.free);
      if (isPaid) expect([...statuses.keys()].sort()).toEqual([400, 402]);
    }
    expect(asked).toBeGreaterThan(2_000);
  });

  it("charges for no payment that is not exactly good", { timeout: 60_000 }, async () => {
    const payer = await stage.paid.payer();
    const { payload } = await signPaymentFor(service.url + TARGET, payer, stage.paid.asset);
    const requests = oddPayments(payload as unknown as Record<string, unknown>).map((header) => ({
      method: "GET",
      target: TARGET,
      // What is no header at all never leaves a client.
      headers: { "payment-signature": header.replace(/[^\x20-\x7e]/g, "?") },
      body: null,
    }));
    const statuses = await fuzz(requests, RUNS.paid);
    expect(statuses.get(400)).toBeGreaterThan(100);
    expect(statuses.get(402)).toBeGreaterThan(10);
    // Where only what nobody signs was changed, the payment is good; it is good once.
    const charged = await stage.paid.transfersFrom(payer.address);
    expect(charged.length).toBe(statuses.has(200) ? 1 : 0);
  });

  it("has the same manners where it gives its answers away", { timeout: 60_000 }, async () => {
    const { url } = await stage.serve({ bypass: true });
    const { document } = await openApiClient(url);
    const operation = document.paths["/portfolio"]?.get;
    if (!operation) throw new Error("nothing is sold");
    const odd = hostileRequests("/portfolio", "get", operation, { target: TARGET });
    const requests = fc.tuple(odd, fc.boolean()).map(([request, named]) => {
      const joint = request.target.includes("?") ? "&" : "?";
      return named ? { ...request, target: `${request.target}${joint}address=${WALLET}` } : request;
    });
    const statuses = await fuzz(requests, RUNS.free, { url, check: createResponseChecker(document) });
    expect([...statuses.keys()].sort()).toEqual([200, 400]);
  });

  it("still answers as before", async () => {
    const client = await openApiClient(service.url);
    expect((await client.call("/health")).status).toBe(200);
    expect((await client.call(TARGET)).status).toBe(402);
    const payer = await stage.paid.payer();
    const { header } = await signPaymentFor(service.url + TARGET, payer, stage.paid.asset);
    expect((await client.call(TARGET, { headers: { "payment-signature": header } })).status).toBe(200);
  });
});
