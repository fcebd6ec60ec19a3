// The API's reads behind a page: the page's own code sends them, so that their number and order are the page's.
import { ApiReader } from "../../src/explorer/api-reader.ts";
import type { PageRequest } from "../../src/explorer/context.ts";
import type { Page } from "../../src/explorer/page.ts";
import type { RouteDescription } from "../../src/http/openapi/route-description.ts";
import type { SendRequest } from "../../src/mcp/server.ts";
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

/** Sends what one visit of the page requests, one after another or at once as the page does. */
export async function sendPageReads(
  page: Page,
  request: PageRequest,
  routes: readonly RouteDescription[],
  sendOverHttp: SendOverHttp,
): Promise<PageReads> {
  let count = 0;
  const send: SendRequest = (each) => {
    count += 1;
    return sendOverHttp(each);
  };
  const api = new ApiReader(send, routes, request.block);
  const started = performance.now();
  await Promise.all([page.show(api, request), api.head()]);
  return { tookMs: performance.now() - started, count };
}
