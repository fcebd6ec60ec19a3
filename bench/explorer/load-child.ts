// Measures pages: first byte from the cache, a cold page in turns with the reads behind it, and what a visit weighs.
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { EXPLORER_PATH, type PageRequest } from "../../src/explorer/context.ts";
import type { Page } from "../../src/explorer/page.ts";
import { pages } from "../../src/explorer/pages.ts";
import type { RouteDescription } from "../../src/http/openapi/route-description.ts";
import { type Quantiles, quantilesOf } from "../harness/measurement.ts";
import { sendToParent } from "../harness/progress.ts";
import { type ApiDescription, describeRoutes, type SendOverHttp, sendPageReads } from "./page-reads.ts";
import type { ExplorerReady } from "./server-child.ts";

export type ExplorerLoadTask = ExplorerReady & { readonly rounds: number };

export type PageReport = {
  readonly path: string;
  /** First byte of a cached page. */
  readonly cached: Quantiles;
  /** Last byte of a page that is made again, and of the API's responses behind it, requested as the page does. */
  readonly cold: Quantiles;
  readonly reads: Quantiles;
  readonly readCount: number;
  /** Whether the page may come from the cache at all. */
  readonly isCached: boolean;
  readonly hasCharts: boolean;
  /** Compressed bytes of the page alone, and with style and modules. */
  readonly pageBytes: number;
  readonly allBytes: number;
};

export type ExplorerLoadReport = { readonly pages: readonly PageReport[]; readonly left: readonly string[] };

const { url, coldUrl, rounds } = JSON.parse(process.argv[2] ?? "") as ExplorerLoadTask;
const agent = new Agent({ keepAlive: true });
const WARM_UP = 5;

type PageResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly body: Buffer;
};

type Sent = { readonly method?: string; readonly encoding?: string; readonly body?: object | null };

function get(target: string, { method = "GET", encoding = "gzip", body = null }: Sent = {}) {
  return new Promise<PageResponse>((resolve, reject) => {
    const started = performance.now();
    const type = body === null ? {} : { "content-type": "application/json" };
    const headers = { "accept-encoding": encoding, ...type };
    const sent = request(target, { agent, method, headers }, (response) => {
      let firstMs = 0;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => {
        if (chunks.length === 0) firstMs = performance.now() - started;
        chunks.push(chunk);
      });
      response.on("end", () => {
        const lastMs = performance.now() - started;
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, firstMs, lastMs, body: Buffer.concat(chunks) });
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body === null ? undefined : JSON.stringify(body));
  });
}

const getText = async (target: string) => (await get(target, { encoding: "identity" })).body.toString();

/** To the server without a cache, as any client sends it. */
const sendRead: SendOverHttp = async ({ method, url: target, body: sent }) => {
  const { status, headers, body } = await get(coldUrl + target, { method, encoding: "identity", body: sent });
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status, headers: Object.fromEntries(texts), body: body.toString() };
};

type Example = { readonly page: Page; readonly path: string; readonly request: PageRequest };

/** A page with its example; null if the generated rows have none. */
async function findExample(page: Page): Promise<Example | null> {
  try {
    const { params = {}, query = {} } = await page.findExample(async (target) =>
      JSON.parse(await getText(url + target)),
    );
    const path = page.path.replace(/:(\w+)/g, (_match, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const text = new URLSearchParams(query).toString();
    const target = `${EXPLORER_PATH}${path}${text && `?${text}`}`;
    const { status } = await get(url + target);
    return status === 200
      ? { page, path: target, request: { params, query, block: null, asked: null, base: "" } }
      : null;
  } catch {
    return null;
  }
}

async function measure(
  { page, path, request }: Example,
  routes: readonly RouteDescription[],
): Promise<PageReport> {
  const [cached, cold, behind]: [number[], number[], number[]] = [[], [], []];
  let readCount = 0;
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const hot = await get(url + path);
    // In turns, so that what else the machine does meets both alike.
    const made = await get(coldUrl + path);
    const reads = await sendPageReads(page, request, routes, sendRead);
    if (round < 0) continue;
    cached.push(hot.firstMs);
    cold.push(made.lastMs);
    behind.push(reads.tookMs);
    readCount = reads.count;
  }
  return {
    path,
    isCached: page.isUncached !== true,
    cached: quantilesOf(cached),
    cold: quantilesOf(cold),
    reads: quantilesOf(behind),
    readCount,
    ...(await weigh(path)),
  };
}

/** The bytes that a first visit loads, compressed. */
async function weigh(path: string): Promise<Pick<PageReport, "hasCharts" | "pageBytes" | "allBytes">> {
  const text = await getText(url + path);
  const assets = [...text.matchAll(/(?:href|src)="(\/explorer\/assets\/[^"]+)"/g)];
  const bytes = await Promise.all(
    assets.map(async ([, asset = ""]) => (await get(url + asset, { encoding: "br" })).body.length),
  );
  const pageBytes = (await get(url + path)).body.length;
  return {
    hasCharts: /<figure class="chart"|<svg class="flow"/.test(text),
    pageBytes,
    allBytes: bytes.reduce((sum, each) => sum + each, pageBytes),
  };
}

const routes = describeRoutes(JSON.parse(await getText(`${url}/openapi.json`)) as ApiDescription);
const measured: PageReport[] = [];
const left: string[] = [];
for (const page of pages) {
  const example = await findExample(page);
  if (example === null) left.push(page.path);
  else measured.push(await measure(example, routes));
}
const report: ExplorerLoadReport = { pages: measured, left };
sendToParent(report);
agent.destroy();
