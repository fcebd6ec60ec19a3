// Serves the explorer: pages, their lists as CSV, and their assets, cached and validated like reads of the API.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type RouteRequest, readQuery, withRequestTimeout } from "../http/internal-requests.ts";
import type { HtmlPage } from "../http/pages/document.ts";
import {
  addUnknownPage,
  type SerializedResponse,
  serializeResponse,
  toEndpointResponse,
} from "../http/response.ts";
import type { ResponseCache } from "../http/response-cache.ts";
import { Fault, publicMessage, toFault } from "../lib/fault.ts";
import { type Html, renderHtml } from "../lib/html.ts";
import { parseMoment } from "../lib/moment.ts";
import { clampTime, findBlockAt, formatAtBlock, parseAtBlock } from "../schema/reads/block-at.ts";
import { PinLostFault } from "../schema/reads/read.ts";
import { prefersHtml } from "../web/page.ts";
import { ApiReader, type PageApi } from "./api-reader.ts";
import {
  type ApiCall,
  type ApiRecord,
  EXPLORER_PATH,
  type ExplorerChain,
  fillPath,
  findRoute,
  formatUrl,
  type PageRequest,
  type Site,
  shownNumber,
} from "./context.ts";
import { fieldsOf, formatCsvHead, formatCsvRows } from "./csv.ts";
import {
  addAssetRoute,
  CONTENT_SECURITY_POLICY,
  chooseEncoding,
  createNavigation,
  encodeResponse,
  OFFERED,
  renderErrorPage,
  renderExplorerPage,
} from "./layout.ts";
import { type CsvSource, csvOf, listKeys, recordsKey } from "./list.ts";
import type { Page } from "./page.ts";
import { pages, sections } from "./pages.ts";

export type ExplorerOptions = {
  readonly chain: ExplorerChain;
  /** The URL under which clients reach the API. */
  readonly publicUrl: () => string;
};

type ExplorerDependencies = ExplorerOptions & {
  /** The path below which this deployment is served; empty at the root. */
  readonly base: string;
  /** All deployments of this server. */
  readonly deployments: Site["deployments"];
  readonly api: PageApi;
  readonly cache: ResponseCache;
};

type Serving = ExplorerDependencies & { readonly site: Site };

/** Returns the cached routes: what clients write may show on any of them. */
export function serveExplorer(dependencies: ExplorerDependencies): readonly string[] {
  const { app } = dependencies.api;
  const serving = {
    ...dependencies,
    site: createSite(dependencies),
  };
  // Instead of the JSON that an unknown path of the API gets.
  const respondUnknown = (request: FastifyRequest, reply: FastifyReply) =>
    sendError(new Fault("ROUTE_UNKNOWN", "The explorer has no page at this address."), {
      request,
      reply,
      serving,
    });
  addAssetRoute(app, respondUnknown);
  addFrontRoute(app, serving.base);
  for (const page of pages) addPageRoute(app, page, serving);
  const lists = pages.flatMap((page) => page.lists ?? []);
  for (const list of lists) addCsvRoute(app, list, serving);
  app.get(`${EXPLORER_PATH}/*`, respondUnknown);
  addUnknownPage(app, prefersHtml, (fault) => renderUnknownPage(fault, serving));
  return [...pages.map(({ path }) => path), ...lists.map(csvOf)].map((path) => EXPLORER_PATH + path);
}

/** For an address of neither the explorer nor the API: the way back is the navigation. */
function renderUnknownPage(fault: Fault, { site, base }: Serving): HtmlPage {
  const markup = renderErrorPage(fault, site, { block: null, base, path: "" });
  return { html: renderHtml(markup), contentSecurityPolicy: CONTENT_SECURITY_POLICY };
}

function createSite({ chain, publicUrl, api: { routes }, deployments }: ExplorerDependencies): Site {
  return {
    chain,
    publicUrl,
    routes,
    pagePaths: new Set(pages.map(({ path }) => path)),
    nav: createNavigation(sections),
    deployments,
  };
}

/** `/` leads people to the explorer and programs to the description of the API. */
function addFrontRoute(app: FastifyInstance, base: string): void {
  app.get("/", (request, reply) => {
    const body = {
      explorer: base + EXPLORER_PATH,
      openapi: `${base}/openapi.json`,
      reference: `${base}/docs`,
      texts: `${base}/llms.txt`,
    };
    const location = prefersHtml(request.headers.accept) ? body.explorer : body.openapi;
    reply.sendSerialized(
      serializeResponse({
        route: "/",
        status: 302,
        body,
        headers: { location, vary: "accept", "cache-control": "no-cache" },
      }),
    );
  });
}

type Asked = { readonly request: RouteRequest; readonly serving: Serving };
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly serving: Serving };

function addPageRoute(app: FastifyInstance, page: Page, serving: Serving): void {
  const route = EXPLORER_PATH + page.path;
  const listed = page.filtered === undefined ? [] : listKeys(serving.api.routes, page.filtered);
  const keys = [...(page.query ?? []), ...listed];
  app.get(route, (request, reply) => {
    const create = (read: PageRequest) => createPage(page, read, serving, request);
    const reject = (read: PageRequest, fault: Fault) =>
      createRejectedPage(page, read, serving, request, fault);
    const isCached = page.isUncached !== true;
    return respond(app, { request, reply, serving }, { route, keys, isCached, create, reject });
  });
}

function addCsvRoute(app: FastifyInstance, list: CsvSource, serving: Serving): void {
  const route = EXPLORER_PATH + csvOf(list);
  const keys = listKeys(serving.api.routes, list);
  const workFor = (request: RouteRequest): Work => {
    const create = (read: PageRequest) => createCsv(list, read, serving, request);
    return { route, keys, isCached: true, create };
  };
  app.get(route, (request, reply) => respond(app, { request, reply, serving }, workFor(request)));
  // For a server that sells the file.
  app.internalRoutes.set(route, {
    path: route,
    bodyBytesMax: 0,
    respond: async (request) =>
      toEndpointResponse(await findResponse(app, { request, serving }, workFor(request))),
  });
}

type Work = {
  readonly route: string;
  readonly keys: readonly string[];
  readonly isCached: boolean;
  readonly create: (request: PageRequest) => Promise<SerializedResponse>;
  /** The response to what the API rejects; null for the page of the error. */
  readonly reject?: (request: PageRequest, fault: Fault) => Promise<SerializedResponse | null>;
};

/** Served from the cache of the API's responses, whose rules apply: a page is stale as soon as one of its reads is. */
async function findResponse(
  app: FastifyInstance,
  exchange: Asked,
  { route, keys, isCached, create }: Work,
  onRead: (read: PageRequest) => void = () => undefined,
): Promise<SerializedResponse> {
  const { request, serving } = exchange;
  const asked = await readRequest(request, keys, serving);
  onRead(asked);
  const at = readQuery(request.url).get("at");
  if (at) return redirectToBlock(exchange, route, at);
  const encoding = chooseEncoding(request.headers["accept-encoding"], OFFERED.page);
  const canonicalKey = `${route} ${JSON.stringify([asked.params, asked.query, asked.block, asked.asked])}`;
  const keep = (variant: string, make: () => Promise<SerializedResponse>) =>
    isCached
      ? serving.cache.getOrCreate({ route, canonicalKey: canonicalKey + variant, url: null }, make)
      : make();
  const plain = () => keep("", () => create(asked));
  const work =
    encoding === "identity"
      ? plain()
      : keep(` ${encoding}`, async () => encodeResponse(await plain(), encoding));
  return withRequestTimeout(app, work);
}

async function respond(app: FastifyInstance, exchange: Exchange, work: Work): Promise<void> {
  const { request, reply } = exchange;
  const { reject } = work;
  let read: PageRequest | null = null;
  try {
    const onRead = (asked: PageRequest) => {
      read = asked;
    };
    reply.sendSerialized(await findResponse(app, exchange, work, onRead));
  } catch (error) {
    const fault = toFault(error);
    const shown =
      fault.status === 400 && read !== null && reject !== undefined
        ? await reject(read, fault).catch(() => null)
        : null;
    if (shown === null) return sendError(error, exchange);
    app.logRequestError(fault, error, request.id);
    reply.sendSerialized(shown);
  }
}

/** Leads from a time to the same page as of its block, which all links of the page then have. */
async function redirectToBlock(
  { request, serving }: Asked,
  route: string,
  at: string,
): Promise<SerializedResponse> {
  const { api } = serving;
  const finding = findBlockAt(api.run, { text: at, client: request.client, nowMs: Date.now() });
  const found = await withRequestTimeout(api.app, finding);
  const query = new URLSearchParams([...readQuery(request.url)]);
  query.delete("at");
  query.set("block", formatAtBlock(found));
  query.set("asked", at);
  const [path] = request.url.split("?");
  const headers = { location: `${serving.base}${path}?${query}`, "cache-control": "no-store" };
  return serializeResponse({ route, status: 303, body: Buffer.alloc(0), headers });
}

async function readRequest(
  request: RouteRequest,
  keys: readonly string[],
  { api, base }: Serving,
): Promise<PageRequest> {
  const all = readQuery(request.url);
  const query = keys.flatMap((key) => {
    const value = all.get(key);
    // A form sends every field, also the empty ones.
    return value === undefined || value === "" ? [] : [[key, value]];
  });
  const block = all.get("block") || undefined;
  const asked = all.get("asked") ?? "";
  // The page and its links name the time that counts, whatever time the URL has.
  const atBlock =
    block === undefined ? null : clampTime(api.run, parseAtBlock(block, "block"), request.client);
  const shown = atBlock === null ? null : await withRequestTimeout(api.app, atBlock);
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: Object.fromEntries(query),
    block: shown === null ? null : formatAtBlock(shown),
    asked: block !== undefined && isPastMoment(asked) ? asked : null,
    base,
  };
}

/** Whether a text can lead to a block: any other would only fill the cache. */
function isPastMoment(text: string): boolean {
  try {
    parseMoment(text, "asked", Date.now());
    return true;
  } catch {
    return false;
  }
}

// Reorgs come minutes apart at most: a second attempt meets the chain that has replaced the first one.
const ATTEMPTS_MAX = 3;

/** Every part of a page shows the same block: the page is read again only if a reorg has replaced it meanwhile. */
async function readAtOneBlock<T>(
  { block }: PageRequest,
  { api: pageApi }: Serving,
  { client }: Pick<RouteRequest, "client">,
  use: (api: ApiReader) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const api = new ApiReader(pageApi, { client, block });
    try {
      const result = await use(api);
      await api.verify();
      return result;
    } catch (error) {
      if (!(error instanceof PinLostFault) || attempt >= ATTEMPTS_MAX) throw error;
    }
  }
}

async function createPage(
  page: Page,
  read: PageRequest,
  serving: Serving,
  request: FastifyRequest,
): Promise<SerializedResponse> {
  const [render, head] = await readAtOneBlock(read, serving, request, (api) =>
    Promise.all([page.show(api, read), api.head()]),
  );
  // Built from the parsed request: another spelling of the URL must not get into the links of a cached page.
  const path = fillPath(page.path, read.params);
  const context = { ...read, path, head, site: serving.site };
  const route = EXPLORER_PATH + page.path;
  const view = render(context);
  if (view.redirect === undefined) return serializePage(route, renderExplorerPage(view, context));
  const headers = { location: view.redirect, "cache-control": "no-store" };
  return serializeResponse({ route, status: 303, body: Buffer.alloc(0), headers });
}

/** The page without its rows, as of the same block: its filters show what was rejected, and why. */
async function createRejectedPage(
  page: Page,
  read: PageRequest,
  serving: Serving,
  request: FastifyRequest,
  fault: Fault,
): Promise<SerializedResponse | null> {
  if (page.showRejected === undefined) return null;
  const head = await readAtOneBlock(read, serving, request, (api) => api.head());
  const path = fillPath(page.path, read.params);
  const text = publicMessage(fault);
  // A sentence of the API about a parameter begins with its name; one about a time, also with the time.
  const filter = read.query.at === undefined ? (/^\w+/.exec(text)?.[0] ?? "") : "at";
  const context = { ...read, path, head, site: serving.site, problem: { filter, text } };
  return serializePage(EXPLORER_PATH + page.path, renderExplorerPage(page.showRejected(context), context), {
    status: fault.status,
    headers: { "cache-control": "no-store", "x-error-code": fault.code },
  });
}

/** The path that was requested, below /explorer. */
function pathOf({ url }: FastifyRequest): string {
  const [path = ""] = url.split("?", 1);
  return path.slice(EXPLORER_PATH.length).replace(/\/$/, "");
}

function serializePage(
  route: string,
  markup: Html,
  parts: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): SerializedResponse {
  const { status = 200, headers = { "cache-control": "no-cache" } } = parts;
  return serializeResponse({
    route,
    status,
    body: Buffer.from(renderHtml(markup)),
    computeEtag: status === 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": CONTENT_SECURITY_POLICY,
      vary: "accept-encoding",
      ...headers,
    },
  });
}

// A thousand rows are ten requests to the API, and more than a person reads; programs use the API.
const CSV_PAGES_MAX = 10;
const CSV_PAGE_ROWS = 100;
// Rows may be large, and files are kept in the cache: after this, the page that is being read is the last.
const CSV_BYTES_MAX = 2 * 1024 * 1024;

type CsvRows = {
  /** Lines of the file. */
  readonly parts: readonly string[];
  readonly count: number;
  /** The request for the rows that the file does not have; null if it has all of them. */
  readonly rest: ApiCall | null;
};

async function readCsvRows(
  api: ApiReader,
  list: CsvSource,
  read: PageRequest,
  fields: ReturnType<typeof fieldsOf>,
): Promise<CsvRows> {
  const { cursor: _cursor, trail: _trail, ...given } = read.query;
  // Backwards, a file begins at the shown block.
  const filters = given.order === "desc" ? { from: shownNumber(read), ...given } : given;
  const { parameter } = list.paging ?? { parameter: "cursor" };
  const parts: string[] = [];
  let cursor: string | null = null;
  for (let bytes = 0, count = 0; ; ) {
    const query: Readonly<Record<string, string | null>> = {
      ...filters,
      limit: String(CSV_PAGE_ROWS),
      ...(cursor !== null && { [parameter]: cursor }),
    };
    const page = await api.records<ApiRecord>(list, { params: read.params, query });
    const records = recordsUpTo(page.records, shownNumber(read), list);
    const text = formatCsvRows(fields, records);
    parts.push(text);
    bytes += Buffer.byteLength(text);
    count += records.length;
    cursor = records.length < page.records.length ? null : page.next;
    if (cursor === null) return { parts, count, rest: null };
    if (parts.length >= CSV_PAGES_MAX || bytes >= CSV_BYTES_MAX) {
      return { parts, count, rest: { ...page.call, query: { ...page.call.query, [parameter]: cursor } } };
    }
  }
}

/** The records up to the shown block; the API has no others if its route takes the block. */
function recordsUpTo(
  records: readonly ApiRecord[],
  block: string | null,
  { blockOf }: CsvSource,
): readonly ApiRecord[] {
  if (block === null || blockOf === undefined) return records;
  return records.filter((each) => BigInt(blockOf(each)) <= BigInt(block));
}

async function createCsv(
  list: CsvSource,
  read: PageRequest,
  serving: Serving,
  request: RouteRequest,
): Promise<SerializedResponse> {
  const fields = fieldsOf(
    findRoute(serving.api.routes, list.route).responses[200]?.schema ?? {},
    recordsKey(list),
  );
  const { parts, count, rest } = await readAtOneBlock(read, serving, request, (api) =>
    readCsvRows(api, list, read, fields),
  );
  // CSV has no place for a remark: the name of the file tells people that it is cut, and the link tells programs.
  const name = `${recordsKey(list).replaceAll("_", "-")}${rest === null ? "" : `-first-${count}`}`;
  return serializeResponse({
    route: EXPLORER_PATH + csvOf(list),
    body: Buffer.from([formatCsvHead(fields), ...parts].join("")),
    computeEtag: true,
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${name}.csv"`,
      ...(rest === null
        ? {}
        : { link: `<${read.base}${formatUrl(rest)}>; rel="next"; type="application/json"` }),
      "cache-control": "no-cache",
      vary: "accept-encoding",
    },
  });
}

function sendError(error: unknown, { request, reply, serving }: Exchange): void {
  const fault = toFault(error);
  serving.api.app.logRequestError(fault, error, request.id);
  const given = /[?&]block=([0-9]{1,20})(?:&|$)/.exec(request.url)?.[1] ?? null;
  const markup = renderErrorPage(fault, serving.site, {
    block: given,
    base: serving.base,
    path: pathOf(request),
  });
  reply.sendSerialized(
    serializePage(request.routeOptions.url ?? EXPLORER_PATH, markup, {
      status: fault.status,
      headers: {
        "cache-control": "no-store",
        "x-error-code": fault.code,
        ...(fault.retryAfterSeconds === null ? {} : { "retry-after": String(fault.retryAfterSeconds) }),
      },
    }),
  );
}
