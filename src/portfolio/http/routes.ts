// The portfolio service as the outside sees it: the paid route, its descriptions in every form, and signs of life.
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { openApiDocument } from "../../http/openapi/document.ts";
import {
  describeDocument,
  describeEndpoint,
  describeOwn,
  ownRoutes,
} from "../../http/openapi/route-description.ts";
import { addDescription, serveDocument } from "../../http/routes/documents.ts";
import { addEndpoints } from "../../http/routes/endpoints.ts";
import { addMetricsRoute } from "../../http/status-routes.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { checkedOffering, type Offering } from "../../web/offering.ts";
import { portfolioDocuments } from "./documents.ts";

export type PortfolioFaces = {
  readonly offering: Offering;
  readonly endpoint: Endpoint;
  /** Whether answers are given without payment, for development. */
  readonly devBypass: boolean;
  readonly registry: Registry;
};

// The version of the interface, which the specification names; the program's own is another matter.
const INTERFACE_VERSION = "1.0.0";

const text = { type: "string" };
const truth = { type: "boolean" };

export function addPortfolioFaces(app: FastifyInstance, faces: PortfolioFaces): void {
  const { endpoint, devBypass, registry } = faces;
  const offering = checkedOffering(faces.offering);
  const documents = portfolioDocuments(offering, endpoint);
  addEndpoints(app, [endpoint]);
  for (const { path, make } of documents) serveDocument(app, path, make);
  app.get("/health", async () => ({
    ok: true,
    service: "portfolio",
    name: "Sextant",
    x402DevBypass: devBypass,
  }));
  addMetricsRoute(app, registry);
  const health = describeOwn("/health", "getHealth", "Whether the process serves", "application/json", {
    200: { title: "Health", ...closedObject({ ok: truth, service: text, name: text, x402DevBypass: truth }) },
  });
  const routes = [
    describeEndpoint(endpoint),
    ...documents.map(({ path, operation, meaning, type, schema }) =>
      describeDocument(path, operation, meaning, type, { 200: schema }),
    ),
    health,
    ...ownRoutes.filter(({ path }) => path !== "/health"),
  ];
  const title = { title: offering.name, version: INTERFACE_VERSION, description: offering.about };
  addDescription(app, openApiDocument(title, routes));
}
