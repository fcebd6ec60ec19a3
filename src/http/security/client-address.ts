// Which client a request came from, for whatever counts or shares out by client behind the routes.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** As the limits per client count it: an IPv4 address or an IPv6 network. */
    readonly client: string;
  }
}

/** Must be added before the first route. Computed when it is read: most requests need it only for their limit. */
export function addRequestClient(app: FastifyInstance, clientOf: (request: IncomingMessage) => string): void {
  app.decorateRequest("client", {
    getter() {
      return clientOf(this.raw);
    },
  });
}
