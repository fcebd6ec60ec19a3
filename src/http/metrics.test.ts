// Requests are counted by route and status, whatever their outcome.

import { Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { Fault } from "../lib/fault.ts";
import { createLog } from "../lib/log.ts";
import { sendToRoute } from "./internal-requests.ts";
import { createRequestMetrics } from "./metrics.ts";
import { createHttpServer } from "./server.ts";

describe("request metrics", () => {
  it("counts responses, errors and unknown paths by route", async () => {
    const registry = new Registry();
    const log = createLog({ level: "silent", terminal: false, name: "test" });
    const ready = async () => ({ ready: true }) as const;
    const server = createHttpServer({
      ...NO_LIMITS,
      log,
      bodyBytesMax: 1_024,
      requestMsMax: 5_000,
      registry,
      checkReadiness: ready,
    });
    server.app.get("/things/:id", async () => ({ ok: true }));
    const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
    for (const path of ["/things/1", "/things/2", "/nothing", "/else"]) await fetch(url + path);
    await fetch(`${url}/things/1`, { method: "POST" });
    const text = await registry.metrics();
    expect(text).toContain('sextant_http_requests_total{route="/things/:id",status="200"} 2');
    expect(text).toContain('sextant_http_requests_total{route="none",status="404"} 2');
    expect(text).toContain('sextant_http_requests_total{route="none",status="405"} 1');
    expect(text).toContain('sextant_http_request_seconds_count{route="/things/:id"} 2');
    expect(text).toContain('sextant_http_request_seconds_count{route="none"} 3');
    expect(text).not.toContain("nothing");
    expect(await registry.metrics()).toBe(text);
    await server.close();
  });

  it("counts what a tool calls by the status of its route", async () => {
    const registry = new Registry();
    const log = createLog({ level: "silent", terminal: false, name: "test" });
    const checkReadiness = async () => ({ ready: true }) as const;
    const limits = { ...NO_LIMITS, bodyBytesMax: 1_024, requestMsMax: 5_000 };
    const { app } = createHttpServer({ ...limits, log, registry, checkReadiness });
    const respond = async () => {
      throw new Fault("NODE_UNAVAILABLE", "No node responds.");
    };
    app.internalRoutes.set("getThing", { path: "/things/:id", bodyBytesMax: 0, respond });
    const { signal } = new AbortController();
    const request = { operationId: "getThing", url: "/things/1", body: null, client: "a", signal };
    const { status } = await sendToRoute(app, request);
    expect(await registry.metrics()).toContain(
      `sextant_http_requests_total{route="/things/:id",status="${status}"} 1`,
    );
  });

  it("reports durations as a labelled histogram of prom-client does", async () => {
    const [ours, reference] = [new Registry(), new Registry()];
    const observe = createRequestMetrics(ours);
    const histogram = new Histogram({
      name: "sextant_http_request_seconds",
      help: "Reference.",
      labelNames: ["route"],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
      registers: [reference],
    });
    for (const [route, ms] of [
      ["/a", 0.2],
      ["/a", 1],
      ["/a", 5.5],
      ["/a", 40_000],
      ["none", 500],
    ] as const) {
      observe(route, 200, ms);
      histogram.observe({ route }, ms / 1_000);
    }
    const seriesOf = async (registry: Registry) => {
      const text = await registry.getSingleMetricAsString("sextant_http_request_seconds");
      // Labels may come in any order.
      return text
        .split("\n")
        .filter((line) => !line.startsWith("# HELP"))
        .map((line) => line.replace(/\{(.*)\}/, (_all, labels: string) => labels.split(",").sort().join()))
        .sort();
    };
    expect(await seriesOf(ours)).toEqual(await seriesOf(reference));
    expect(await seriesOf(ours)).toHaveLength(1 + 2 * 11);
  });
});
