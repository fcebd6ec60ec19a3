// The HTTP routes of the portfolio service: the paid route, its documents, health and metrics.
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

type PortfolioRoutesOptions = {
  readonly offering: Offering;
  readonly endpoint: Endpoint;
  /** Whether requests are served without payment, for development. */
  readonly devBypass: boolean;
  readonly registry: Registry;
};

// The API version that the specification names, independent of the version of Sextant.
const API_VERSION = "1.0.0";

const text = { type: "string" };
const boolean = { type: "boolean" };

export function addPortfolioRoutes(app: FastifyInstance, options: PortfolioRoutesOptions): void {
  const { endpoint, devBypass, registry } = options;
  const offering = validateOffering(options.offering);
  const documents = createPortfolioDocuments(offering, endpoint);
  addEndpointRoutes(app, [endpoint]);
  for (const { path, render } of documents) addStaticDocument(app, path, render);
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
    "Whether the process is running",
    "application/json",
    {
      200: {
        title: "Health",
        ...closedObject({ ok: boolean, service: text, name: text, x402DevBypass: boolean }),
      },
    },
  );
  const routes = [
    describeEndpoint(endpoint),
    ...documents.map(({ path, operationId, description, type, schema }) =>
      describeDocumentRoute(path, operationId, description, type, { 200: schema }),
    ),
    health,
    ...serviceRoutes.filter(({ path }) => path !== "/health"),
  ];
  const title = { title: offering.name, version: API_VERSION, description: offering.description };
  addOpenApiRoutes(app, buildOpenApiDocument(title, routes));
}
