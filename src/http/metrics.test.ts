// Requests are counted by route and status, whatever becomes of them.
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createLog } from "../lib/log.ts";
import { createHttpServer } from "./server.ts";

it("counts answers, refusals and paths that are no route", async () => {
  const registry = new Registry();
  const log = createLog({ level: "silent", terminal: false, name: "test" });
  const ready = async () => ({ ready: true }) as const;
  const server = createHttpServer({
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
  expect(text).toContain("sextant_http_request_seconds_count 5");
  expect(await registry.metrics()).toBe(text);
  await server.close();
});
