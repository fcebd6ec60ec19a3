// The portfolio service as the outside sees it: the paid route, its descriptions in every form, and signs of life.
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { buildOpenApiDocument } from "../../http/openapi/document.ts";
import {
  describeDocumentRoute,
  describeEndpoint,
  describeServiceRoute,
  serviceRoutes,
} from "../../http/openapi/route-description.ts";
import { addOpenApiRoutes, addStaticDocument } from "../../http/routes/documents.ts";
import { addEndpointRoutes } from "../../http/routes/endpoints.ts";
import { addMetricsRoute } from "../../http/status-routes.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { type Offering, validateOffering } from "../../web/offering.ts";
import { createPortfolioDocuments } from "./documents.ts";

export type PortfolioRoutesOptions = {
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

export function addPortfolioRoutes(app: FastifyInstance, faces: PortfolioRoutesOptions): void {
  const { endpoint, devBypass, registry } = faces;
  const offering = validateOffering(faces.offering);
  const documents = createPortfolioDocuments(offering, endpoint);
  addEndpointRoutes(app, [endpoint]);
  for (const { path, render: make } of documents) addStaticDocument(app, path, make);
  app.get("/health", async () => ({
    ok: true,
    service: "portfolio",
    name: "Sextant",
    x402DevBypass: devBypass,
  }));
  addMetricsRoute(app, registry);
  const health = describeServiceRoute(
    "/health",
    "getHealth",
    "Whether the process serves",
    "application/json",
    {
      200: {
        title: "Health",
        ...closedObject({ ok: truth, service: text, name: text, x402DevBypass: truth }),
      },
    },
  );
  const routes = [
    describeEndpoint(endpoint),
    ...documents.map(({ path, operationId: operation, description: meaning, type, schema }) =>
      describeDocumentRoute(path, operation, meaning, type, { 200: schema }),
    ),
    health,
    ...serviceRoutes.filter(({ path }) => path !== "/health"),
  ];
  const title = { title: offering.name, version: INTERFACE_VERSION, description: offering.description };
  addOpenApiRoutes(app, buildOpenApiDocument(title, routes));
}
