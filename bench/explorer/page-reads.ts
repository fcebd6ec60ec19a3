// The API's reads behind a page: the page's own code sends them, so that their number and order are the page's.
import type { FastifyInstance } from "fastify";
import { ApiReader } from "../../src/explorer/api-reader.ts";
import type { PageRequest } from "../../src/explorer/context.ts";
import type { Page } from "../../src/explorer/page.ts";
import type { RouteRequest } from "../../src/http/internal-requests.ts";
import type { RouteDescription } from "../../src/http/openapi/route-description.ts";
import { Fault } from "../../src/lib/fault.ts";
import type { ServiceRequest } from "../../src/mcp/tool.ts";
import type { ServiceResponse } from "../../src/mcp/tool-result.ts";

type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
};
export type ApiDescription = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

export type SendOverHttp = (
  request: Pick<ServiceRequest, "method" | "url" | "body">,
) => Promise<ServiceResponse>;

type PageReads = { readonly tookMs: number; readonly count: number };

/** Finds in a description of the API what a page needs to know of the routes that it requests. */
export function describeRoutes({ paths }: ApiDescription): readonly RouteDescription[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId, parameters = [] }]) =>
        ({
          method: method.toUpperCase(),
          path: path.replace(/\{(\w+)\}/g, ":$1"),
          operationId,
          parameters,
        }) as unknown as RouteDescription,
    ),
  );
}

/** The limit is for requests of a page that joins its reads; here each read is a request of its own. */
class UnlimitedApiReader extends ApiReader {
  override countRequest(): void {}
}

/** Sends what one visit of the page requests, one after another or at once as the page does. */
export async function sendPageReads(
  page: Page,
  request: PageRequest,
  routes: readonly RouteDescription[],
  sendOverHttp: SendOverHttp,
): Promise<PageReads> {
  let count = 0;
  const internalRoutes = routes.map(({ operationId, method, path }) => [
    operationId,
    {
      path,
      bodyBytesMax: Number.POSITIVE_INFINITY,
      respond: async ({ url, body }: RouteRequest) => {
        count += 1;
        const sent = body === undefined ? null : JSON.parse(String(body));
        const { status, headers, body: text } = await sendOverHttp({ method, url, body: sent });
        if (status !== 200) throw new Fault(status === 404 ? "NOT_FOUND" : "INPUT_INVALID", text);
        return { status, headers, body: JSON.parse(text) };
      },
    },
  ]);
  const app = { internalRoutes: new Map(internalRoutes as []) } as unknown as FastifyInstance;
  // Without reads that could run together, each is a request of its own.
  const run = () => Promise.reject(new Error("everything is read over HTTP"));
  const api = new UnlimitedApiReader({ app, routes, reads: [], run }, { client: "", block: request.block });
  const started = performance.now();
  await Promise.all([page.show(api, request), api.head()]);
  return { tookMs: performance.now() - started, count };
}
