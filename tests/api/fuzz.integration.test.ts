// Thousands of hostile requests, derived from the OpenAPI document: the API responds quickly and never with a 5xx.
// Main covers a part: hostile and malformed requests in protections.test.ts, costly-requests.test.ts, events/hostile.test.ts.
import { Agent } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiExample, requestAllExamples } from "../../scripts/api-examples/sample-requests.ts";
import { createResponseChecker } from "../support/http/api-client.ts";
import { type HostileRequest, hostileRequests, operationsOf } from "../support/http/hostile-requests.ts";
import { sendRaw } from "../support/http/send-bytes.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { runsOf } from "../support/test-depth.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

// Slower than any response of a healthy API on a busy machine.
const RESPONSE_MS_MAX = 8_000;
const RUNS_PER_OPERATION = runsOf(8, { min: 1 });
const REQUESTS_PER_RUN = 12;

const agent = new Agent({ keepAlive: true, maxSockets: REQUESTS_PER_RUN });
let stage: ReadStage;
let samples: readonly ApiExample[];
let check: ReturnType<typeof createResponseChecker>;
let sent = 0;

beforeAll(async () => {
  stage = await openReadStage();
  samples = await requestAllExamples((method, target, body) =>
    stage.client.call(target, { method, ...(body === undefined ? {} : { body }) }),
  );
  check = createResponseChecker(stage.client.document);
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  agent.destroy();
  await stage?.close();
});

const send = (request: HostileRequest) => sendRaw(stage.url, request, { agent, timeoutMs: RESPONSE_MS_MAX });

async function expectManners(request: HostileRequest): Promise<void> {
  const response = await send(request);
  sent += 1;
  const { method, target } = request;
  expect(response.status, `${method} ${target} ${response.text}`).toBeLessThan(500);
  check(method, target, response);
  if (response.status < 400 || method === "HEAD") return;
  expect(Object.keys(response.body as object)).toEqual(["error"]);
  expect((response.body as { error: unknown }).error).toMatch(/^[A-Z\w].*\.$/s);
  expect(response.headers.get("x-error-code")).toMatch(/^[A-Z_]+$/);
}

describe("the API", () => {
  it("responds to every hostile request to every route with a proper error", {
    timeout: 120_000,
  }, async () => {
    const operations = operationsOf(stage.client.document);
    expect(operations.length).toBeGreaterThanOrEqual(45);
    for (const { path, method, operation } of operations) {
      const good = samples.find((each) => each.path === path && each.method === method.toUpperCase());
      if (!good) throw new Error(`no valid sample of ${method} ${path}`);
      const requests = hostileRequests(path, method, operation, good);
      await fc.assert(
        fc.asyncProperty(
          fc.array(requests, { minLength: REQUESTS_PER_RUN, maxLength: REQUESTS_PER_RUN }),
          async (all) => {
            await Promise.all(all.map(expectManners));
          },
        ),
        { numRuns: RUNS_PER_OPERATION },
      );
    }
    expect(sent).toBe(operations.length * RUNS_PER_OPERATION * REQUESTS_PER_RUN);
  });

  it("responds to any method on any path", async () => {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
    const paths = [
      ...Object.keys(stage.client.document.paths).map((path) => path.replace(/\{\w+\}/g, "1")),
      "/",
      "*",
      "//",
      "/nothing",
    ];
    for (const path of paths) {
      await Promise.all(
        methods.map(async (method) => {
          const response = await send({ method, target: path, headers: {}, body: null });
          expect(response.status, `${method} ${path}`).toBeLessThan(500);
          if (response.status >= 400 && method !== "HEAD")
            expect(Object.keys(response.body as object)).toEqual(["error"]);
        }),
      );
    }
  });

  it("still serves valid requests afterwards", async () => {
    for (const { method, target, response } of samples.filter((each) => each.method === "GET")) {
      if (["/metrics", "/intents/{id}/bids"].some((path) => target.startsWith(path.split("{")[0] ?? "")))
        continue;
      const again = await stage.client.call(target, { method });
      expect([target, again.status]).toEqual([target, response.status]);
    }
  });
});
