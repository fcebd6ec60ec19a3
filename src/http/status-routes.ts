// The routes every process of ours has beside its own: alive, and measured.
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";

export function addStatusRoutes(app: FastifyInstance, registry: Registry): void {
  app.get("/health", async () => ({ status: "ok" }));
  addMetricsRoute(app, registry);
}

export function addMetricsRoute(app: FastifyInstance, registry: Registry): void {
  app.get("/metrics", async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
