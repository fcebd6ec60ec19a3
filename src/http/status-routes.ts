// The operational routes of every process: liveness, readiness and metrics.
import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";
import { withRequestTimeout } from "./internal-requests.ts";
import { type MetricsSource, openProcessMetrics } from "./metrics.ts";
import { sendErrorResponse } from "./response.ts";

export type Readiness =
  | { readonly ready: true; readonly details?: Readonly<Record<string, unknown>> }
  | { readonly ready: false; readonly reason: string };

export function addStatusRoutes(app: FastifyInstance, registry: MetricsSource): void {
  app.get("/health", async () => ({ status: "ok" }));
  addMetricsRoute(app, registry);
}

export function addMetricsRoute(app: FastifyInstance, registry: MetricsSource): void {
  // From the start of the service, not from the first time that it is scraped.
  openProcessMetrics();
  app.get("/metrics", async (_request, reply) => {
    const texts = await Promise.all([registry.metrics(), openProcessMetrics().metrics()]);
    return reply.type(registry.contentType).send(texts.join("\n"));
  });
}

export function addReadinessRoute(app: FastifyInstance, checkReadiness: () => Promise<Readiness>): void {
  app.get("/ready", async (request, reply) => {
    const readiness = await withRequestTimeout(app, checkReadiness());
    if (readiness.ready) return readiness;
    // Not thrown: probes come every few seconds, and the log already has the reason.
    return sendErrorResponse(reply, request.id, new Fault("NOT_READY", readiness.reason));
  });
}
