// Measures pages: first byte from the cache, a cold page in turns with the reads behind it, and what a visit weighs.
import { Agent, request } from "node:http";
import { EXPLORER_PATH } from "../../src/explorer/context.ts";
import { pages } from "../../src/explorer/pages.ts";
import { type Quantiles, quantilesOf } from "../harness/measurement.ts";
import { sendToParent } from "../harness/progress.ts";
import type { ExplorerReady } from "./server-child.ts";

export type ExplorerLoadTask = ExplorerReady & { readonly rounds: number };

export type PageReport = {
  readonly path: string;
  /** First byte of a cached page. */
  readonly cached: Quantiles;
  /** Last byte of a page that is made again, and of the API's responses behind it, requested at once. */
  readonly cold: Quantiles;
  readonly reads: Quantiles;
  readonly readCount: number;
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
  readonly firstMs: number;
  readonly lastMs: number;
  readonly bytes: number;
  readonly text: string;
};

function get(target: string, encoding = "gzip"): Promise<PageResponse> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request(target, { agent, headers: { "accept-encoding": encoding } }, (response) => {
      let firstMs = 0;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => {
        if (chunks.length === 0) firstMs = performance.now() - started;
        chunks.push(chunk);
      });
      response.on("end", () => {
        const body = Buffer.concat(chunks);
        const lastMs = performance.now() - started;
        const text = encoding === "identity" ? body.toString() : "";
        resolve({ status: response.statusCode ?? 0, firstMs, lastMs, bytes: body.length, text });
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The path of a page with its example; null where the generated rows have none. */
async function findPath(page: (typeof pages)[number]): Promise<string | null> {
  try {
    const { params = {}, query = {} } = await page.findExample(async (target) =>
      JSON.parse((await get(url + target, "identity")).text),
    );
    const path = page.path.replace(/:(\w+)/g, (_match, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const text = new URLSearchParams(query).toString();
    const target = `${EXPLORER_PATH}${path}${text && `?${text}`}`;
    return (await get(url + target)).status === 200 ? target : null;
  } catch {
    return null;
  }
}

async function measure(path: string): Promise<PageReport> {
  const { text } = await get(url + path, "identity");
  // The page names its reads itself; its head is one more.
  const named = [...text.matchAll(/<summary><span>Source<\/span> <code>GET ([^<]+)<\/code>/g)];
  const reads = ["/head", ...new Set(named.map(([, read = ""]) => read.replaceAll("&amp;", "&")))];
  const assets = [...text.matchAll(/(?:href|src)="(\/explorer\/assets\/[^"]+)"/g)].map(
    ([, asset = ""]) => asset,
  );
  const [cached, cold, behind]: number[][] = [[], [], []];
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const hot = await get(url + path);
    // In turns, so that what else the machine does meets both alike.
    const page = await get(coldUrl + path);
    const started = performance.now();
    await Promise.all(reads.map((read) => get(coldUrl + read)));
    const readsMs = performance.now() - started;
    if (round < 0) continue;
    cached?.push(hot.firstMs);
    cold?.push(page.lastMs);
    behind?.push(readsMs);
  }
  const { bytes: pageBytes } = await get(url + path);
  const assetBytes = (await Promise.all(assets.map((asset) => get(url + asset, "br")))).map(
    ({ bytes }) => bytes,
  );
  return {
    path,
    cached: quantilesOf(cached ?? []),
    cold: quantilesOf(cold ?? []),
    reads: quantilesOf(behind ?? []),
    readCount: reads.length,
    pageBytes,
    allBytes: assetBytes.reduce((sum, bytes) => sum + bytes, pageBytes),
  };
}

const measured: PageReport[] = [];
const left: string[] = [];
for (const page of pages) {
  const path = await findPath(page);
  if (path === null) left.push(page.path);
  else measured.push(await measure(path));
}
const report: ExplorerLoadReport = { pages: measured, left };
sendToParent(report);
agent.destroy();
