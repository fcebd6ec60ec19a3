// Every page of the table over a simulated history whose names, links and texts are hostile.
// A page responds, is well-formed and safe, and its links lead somewhere.

import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTENT_SECURITY_POLICY } from "../../src/explorer/layout.ts";
import type { Page } from "../../src/explorer/page.ts";
import { tables } from "../../src/protocol/domains.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { runsOf } from "../support/test-depth.ts";
import { type ExplorerStage, findExamplePaths, openExplorerStage } from "./explorer-stage.ts";
import { type PageElement, parsePage } from "./well-formed.ts";

const HOSTILE = `javascript:alert(1)//"><script>alert('x')</script><img src=x onerror=alert(1)>\u202e\u200b&lt;`;
/** A name within metadata, which is as hostile. */
const NAME = "Weather <b>bot\u202e";
const SHOWN_NAME = /Weather &lt;b&gt;bot<span class="escape"[^>]*>\\u\{202e\}<\/span>/;
/** Every column in which a third party can write any text. */
const HOSTILE_COLUMNS = tables.flatMap((table) =>
  Object.keys(table.columns)
    .filter((column) => /^(metadata_uri|service_id|intent_type)$/.test(column))
    .map((column) => ({ table: table.name, column })),
);

type OpenedPage = { readonly text: string; readonly elements: readonly PageElement[] };
type ExamplePage = { readonly page: Page; readonly path: string; readonly at: string };

let stage: ExplorerStage;
let examples: readonly ExamplePage[];
/** The examples by path, without a block and as of the latest block: each is read and parsed once. */
const opened = new Map<string, OpenedPage>();

beforeAll(async () => {
  stage = await openExplorerStage();
  for (const { table, column } of HOSTILE_COLUMNS) {
    await stage.database.query({ text: `update ${table} set ${column} = $1`, values: [HOSTILE] });
  }
  await stage.database.query({
    text: "update agents set metadata_uri = $1 where agent_id = 1",
    values: [`data:application/json,${encodeURIComponent(JSON.stringify({ name: NAME }))}`],
  });
  examples = (await findExamplePaths(stage.url)).map(({ page, path }) => {
    const at = `${path}${path.includes("?") ? "&" : "?"}block=${stage.head}`;
    return { page, path, at };
  });
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

async function openOnce(path: string): Promise<OpenedPage> {
  const page = opened.get(path) ?? (await open(path));
  opened.set(path, page);
  return page;
}

async function open(path: string, status = 200): Promise<OpenedPage> {
  const response = await stage.get(path);
  const text = await response.text();
  expect(response.status, `${path} ${text.slice(0, 300)}`).toBe(status);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toBe(CONTENT_SECURITY_POLICY);
  return { text, elements: parsePage(text) };
}

const hrefs = (elements: readonly PageElement[]) =>
  elements.flatMap(({ attributes }) =>
    attributes.href === undefined ? [] : [attributes.href.replaceAll("&amp;", "&")],
  );

// Links of one kind lead to the same page with another id: one of each shows that they work.
const LINKS_PER_KIND = runsOf(4, { min: 1 });

function sampleLinks(links: Iterable<string>): readonly string[] {
  const kinds = new Map<string, string[]>();
  for (const link of links) {
    const kind = link.replace(/0x[0-9a-f]+|(?<=[/=])[0-9]+/g, "*");
    kinds.set(kind, [...(kinds.get(kind) ?? []), link]);
  }
  return [...kinds.values()].flatMap((each) => each.slice(0, LINKS_PER_KIND));
}

describe("every page", () => {
  it("responds, is well-formed, and has nothing that its policy forbids", async () => {
    for (const { path } of examples) {
      const { text, elements } = await openOnce(path);
      expect(
        elements.filter(({ name }) => name === "h1"),
        path,
      ).toHaveLength(1);
      expect(
        elements.filter(({ name }) => name === "style"),
        path,
      ).toEqual([]);
      // Compared once for all elements: an expectation for each took most of the time.
      const forbidden = elements.filter(
        ({ name, attributes }) =>
          Object.keys(attributes).some((key) => key === "style" || key.startsWith("on")) ||
          ((name === "script" || name === "img") &&
            !/^\/(explorer\/assets\/|favicon)/.test(attributes.src ?? "")),
      );
      expect(forbidden, path).toEqual([]);
      expect(text.match(/<script[^>]*>[^<]/), path).toBeNull();
    }
  });

  it("shows hostile names, links and texts without effect", async () => {
    expect(HOSTILE_COLUMNS.length).toBeGreaterThan(4);
    let shown = 0;
    for (const { path } of examples) {
      const { text, elements } = await openOnce(path);
      expect(/[\u202e\u200b]/.test(text), path).toBe(false);
      const links = elements.flatMap(({ attributes }) => attributes.href ?? []);
      expect(
        links.filter((href) => /^\s*(javascript|data|vbscript):/i.test(href)),
        path,
      ).toEqual([]);
      if (text.includes("\\u{202e}")) shown += 1;
    }
    expect(shown).toBeGreaterThan(0);
  });

  it("leads only to pages that exist, and keeps the block in every link of the explorer", async () => {
    const seen = new Set<string>();
    for (const { path, at } of examples) {
      const { elements } = await openOnce(at);
      for (const href of hrefs(elements)) {
        if (!href.startsWith("/explorer") || href.startsWith("/explorer/assets/")) continue;
        const isBackToLive = href === path || !href.includes("block=");
        if (isBackToLive) expect(href.split("?")[0], `${href} on ${at}`).toBe(path.split("?")[0]);
        seen.add(href);
      }
    }
    expect(seen.size).toBeGreaterThan(20);
    const unopened = sampleLinks(seen).filter((href) => !opened.has(href));
    for (const href of unopened) expect([200, 303], href).toContain((await stage.get(href)).status);
  });

  it("every page has the same tables as of the latest block as without a block", async () => {
    const tables = (text: string) =>
      (text.match(/<tbody>[\s\S]*?<\/tbody>/g) ?? []).map((each) =>
        each.replaceAll("&amp;", "&").replace(/[?&]block=[0-9]+/g, ""),
      );
    for (const { path, at } of examples) {
      const [live, past] = [await openOnce(path), await openOnce(at)];
      expect(tables(past.text), path).toEqual(tables(live.text));
      expect(past.text, path).toContain("back to live");
      expect(live.text, path).not.toContain("back to live");
    }
  });

  it("every page has an etag for GET and HEAD, and is compressed if the client accepts it", async () => {
    for (const { path } of examples) {
      const plain = await stage.get(path, { "accept-encoding": "identity" });
      const etag = plain.headers.get("etag") ?? "";
      const text = await plain.text();
      expect(etag, path).not.toBe("");
      const again = { "accept-encoding": "identity", "if-none-match": etag };
      expect((await stage.get(path, again)).status, path).toBe(304);
      const { status, headers, body } = await requestRaw(path, "GET", "gzip");
      expect([status, headers["content-encoding"], headers.vary]).toEqual([200, "gzip", "accept-encoding"]);
      expect(headers.etag).not.toBe(etag);
      expect(gunzipSync(body).toString()).toBe(text);
      // 30 kB for a page without charts; its style and modules come once.
      expect(body.length, path).toBeLessThan(20_000);
      const head = await requestRaw(path, "HEAD", "identity");
      expect([head.status, head.body.length, head.headers.etag]).toEqual([200, 0, etag]);
    }
  });
});

type RawResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
};

/** fetch would decompress, and resolve dots in the path. */
function requestRaw(path: string, method: string, encoding: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      stage.url,
      { method, path, headers: { "accept-encoding": encoding } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

describe("an error", () => {
  it("rejects a parameter that would lead to another route", async () => {
    for (const kind of ["accounts", "merchants", "solvers", "documents", "schemas"]) {
      for (const segment of ["%2e", "%2e%2e", ".%2E"]) {
        const { status, headers } = await requestRaw(`/explorer/${kind}/${segment}`, "GET", "identity");
        expect([status, headers["x-error-code"]], `${kind} ${segment}`).toEqual([400, "INPUT_INVALID"]);
      }
    }
  });

  it.each([
    ["/explorer/intents/99999999", 404, "No intent has this id."],
    ["/explorer/intents/x", 400, "id must be a whole number"],
    ["/explorer/nothing/here", 404, "The explorer has no page at this address."],
    ["/explorer?block=99999999", 400, "is not indexed yet"],
    ["/explorer?block=x", 400, "block must be a whole number"],
    ["/explorer/intents?status=open&status=filled", 400, "given twice"],
  ])("the error at %s is a page with %i that says what to do", async (path, status, sentence) => {
    const { text } = await open(path, status);
    expect(text).toContain(sentence);
    expect(text).toContain("What you can do");
  });

  it("shows people a page with a way back outside the explorer, and programs JSON", async () => {
    const shown = await fetch(`${stage.url}/intnets`, { headers: { accept: "text/html" } });
    const text = await shown.text();
    expect([shown.status, shown.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(text).toContain("There is nothing at this path.");
    expect(text).toContain('<a href="/explorer">first page</a>');
    parsePage(text);
    const listed = await fetch(`${stage.url}/intnets`);
    expect(await listed.json()).toEqual({ error: "There is nothing at this path." });
  });

  it.each([
    ["/explorer/intents?status=strange", "There is no such choice"],
    ["/explorer/agents?owner=1", "owner must be"],
    ["/explorer/events?solver=x", "solver must be"],
    ["/explorer/intents?cursor=strange", "cursor must be the next_cursor"],
  ])("keeps the filters of the page at %s, with the reason and without rows", async (path, sentence) => {
    const { text } = await open(path, 400);
    expect(text).toContain(sentence);
    expect(text).toContain('<form class="filters"');
    expect(text.includes('aria-invalid="true"')).toBe(!path.includes("cursor"));
    expect(text).not.toContain('class="stack"');
  });

  it("an intent that does not exist yet at a block leads to the latest block", async () => {
    const { intents } = (await (await stage.get("/intents?limit=1")).json()) as {
      intents: { intent_id: string; block_number: string }[];
    };
    const [newest] = intents;
    const before = Number(newest?.block_number) - 1;
    const { text } = await open(`/explorer/intents/${newest?.intent_id}?block=${before}`, 404);
    expect(text).toContain(`It may not exist yet at block ${before}`);
    expect(text).toContain(`href="/explorer/intents/${newest?.intent_id}"`);
  });

  it("an error echoes nothing of the address as markup", async () => {
    const { text } = await open("/explorer/intents/%3Cscript%3Ealert(1)%3C%2Fscript%3E?block=1", 400);
    expect(text).not.toContain("alert(1)</");
  });
});

describe("a list", () => {
  it("says how many events there are, as far as that is known", async () => {
    const count = ({ text }: { text: string }) => /<p class="soft note count">([^<]*)</.exec(text)?.[1];
    const first = await open("/explorer/events");
    expect(count(first)).toBe("More than 100.");
    const older = first.elements.find(({ attributes }) => attributes.rel === "next")?.attributes.href;
    const second = await open(older?.replaceAll("&amp;", "&") ?? "");
    expect(count(second)).toMatch(/^(More follow|These are the last)\.$/);
    const found = await stage.get("/events?type=SolverRegistered&from=genesis&limit=100");
    const { events } = (await found.json()) as { readonly events: readonly unknown[] };
    expect(count(await open("/explorer/events?type=SolverRegistered"))).toBe(`${events.length} in all.`);
  });

  it("goes on by cursor and back again", async () => {
    const all = (await (await stage.get("/intents?limit=100")).json()) as {
      intents: { intent_id: string }[];
    };
    expect(all.intents.length).toBeGreaterThan(20);
    const link = ({ elements }: { elements: readonly PageElement[] }, rel: string) =>
      elements.find(({ attributes }) => attributes.rel === rel)?.attributes.href?.replaceAll("&amp;", "&");
    const ids = ({ text }: { text: string }) =>
      [...text.matchAll(/href="\/explorer\/intents\/([0-9]+)"/g)].map(([, id]) => id);
    const walked = [await open("/explorer/intents?limit=10")];
    for (let next = link(walked[0] ?? { elements: [] }, "next"); next !== undefined; ) {
      const opened = await open(next);
      walked.push(opened);
      next = link(opened, "next");
    }
    expect(walked.flatMap(ids)).toEqual(all.intents.map(({ intent_id }) => intent_id));
    const count = ({ text }: { text: string }) => /<p class="soft note count">([^<]*)</.exec(text)?.[1];
    expect(count(walked[0] ?? { text: "" })).toBe("More than 10.");
    expect(count(walked[1] ?? { text: "" })).toBe("Page 2, more follow.");
    expect(count(walked.at(-1) ?? { text: "" })).toBe(`Page ${walked.length}, the last one.`);
    expect(
      count(await open("/explorer/intents?limit=10&owner=0x00000000000000000000000000000000000000ff")),
    ).toBe("0 in all.");
    for (let at = walked.length - 1; at > 0; at -= 1) {
      const previous = await open(link(walked[at] ?? { elements: [] }, "prev") ?? "");
      expect(ids(previous)).toEqual(ids(walked[at - 1] ?? { text: "" }));
    }
  });

  it("the CSV of a list has the rows and the filters of the API", async () => {
    const { intents } = (await (await stage.get("/intents?status=filled&limit=100")).json()) as {
      intents: Record<string, unknown>[];
    };
    const response = await stage.get("/explorer/intents.csv?status=filled");
    expect(response.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="intents.csv"');
    const [head = "", ...rows] = (await response.text()).trimEnd().split("\r\n");
    const column = (name: string) => head.split(",").indexOf(name);
    expect(rows.map((row) => row.split(",")[column("intent_id")])).toEqual(
      intents.map(({ intent_id }) => intent_id),
    );
    expect(rows.map((row) => row.split(",")[column("fill.amount_out")])).toEqual(
      intents.map(({ fill }) => (fill as Record<string, string>).amount_out),
    );
  });

  it("every list of a page has a CSV", async () => {
    for (const { page, path } of examples) {
      const { text } = await openOnce(path);
      const links = [...text.matchAll(/href="([^"]+\.csv[^"]*)"/g)].map(([, link = ""]) =>
        link.replaceAll("&amp;", "&"),
      );
      expect(links.length, path).toBeGreaterThanOrEqual(page.lists?.length ?? 0);
      for (const link of links) {
        const response = await stage.get(link);
        expect([response.status, response.headers.get("content-type")?.slice(0, 8)], link).toEqual([
          200,
          "text/csv",
        ]);
      }
    }
  });
});

describe("search", () => {
  const found = async (q: string) => {
    const response = await stage.get(`/explorer/search?q=${encodeURIComponent(q)}`);
    return response.headers.get("location") ?? (await response.text());
  };

  it("leads to the only record of that name, and lists several", async () => {
    expect(await found("intent 3")).toBe("/explorer/intents/3");
    expect(await found(" Intents #3 ")).toBe("/explorer/intents/3");
    expect(await found("1")).toMatch(
      /Intent <code title="1">#1<\/code>[\s\S]*Agent <code title="1">#1<\/code>/,
    );
  });

  it("finds transactions and addresses, and says what it takes", async () => {
    const { events } = (await (await stage.get("/events?limit=1")).json()) as {
      events: { tx_hash: string }[];
    };
    expect(await found(events[0]?.tx_hash ?? "")).toMatch(/Transaction|^\/explorer\/transactions\//);
    expect(await found(`0x${"AB".repeat(20)}`)).toMatch(/Account|^\/explorer\/accounts\//);
    expect(await found("99999999")).toContain("Nothing has this id");
    expect(await found("<style>")).toContain("Search for an id");
  });
});

it("the name in metadata is on the page of its record, in the gallery of agents, and can be searched", async () => {
  expect((await open("/explorer/agents/1")).text).toMatch(SHOWN_NAME);
  const { owner } = (await (await stage.get("/agents/1")).json()) as { owner: string };
  const { text } = await open(`/explorer/agents?owner=${owner}`);
  expect(text).toMatch(SHOWN_NAME);
  const { counts } = (await (await stage.get(`/accounts/${owner}`)).json()) as {
    counts: { receipts: string };
  };
  expect(text.replace(/<[^>]*>/g, "")).toContain(`${counts.receipts} receipts`);
  const found = await stage.get("/explorer/search?q=wEATHER");
  expect([found.headers.get("location"), await found.text()]).toEqual([
    null,
    expect.stringContaining('href="/explorer/agents/1"'),
  ]);
});

describe("/", () => {
  it("leads browsers to the explorer and programs to the description", async () => {
    const browser = await stage.get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([browser.status, browser.headers.get("location"), browser.headers.get("vary")]).toEqual([
      302,
      "/explorer",
      "accept",
    ]);
    const program = await stage.get("/", { accept: "*/*" });
    expect([program.status, program.headers.get("location")]).toEqual([302, "/openapi.json"]);
  });
});

describe("an asset", () => {
  it("assets are immutable and compressed", async () => {
    const { elements } = await open("/explorer");
    const paths = elements.flatMap(({ name, attributes }) =>
      name === "script"
        ? [attributes.src ?? ""]
        : attributes.rel === "stylesheet"
          ? [attributes.href ?? ""]
          : [],
    );
    expect(paths.length).toBeGreaterThan(2);
    let bytes = 0;
    for (const path of paths) {
      const { status, headers, body } = await requestRaw(path, "GET", "br, gzip");
      expect([status, headers["content-encoding"], headers["cache-control"]]).toEqual([
        200,
        "br",
        "public, max-age=31536000, immutable",
      ]);
      bytes += body.length;
    }
    expect(bytes).toBeLessThan(10_500);
    expect((await stage.get("/explorer/assets/explorer.000000000000.css")).status).toBe(404);
  });
});

// Last: the names stay.
it("a CSV of long names ends early, and its name and link say so", async () => {
  await stage.database.query(
    "update services set service_id = repeat('x', 200000), metadata_uri = repeat('y', 200000)",
  );
  const response = await stage.get("/explorer/services.csv");
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text.length).toBeLessThan(2.6 * 1024 * 1024);
  const count = text.trimEnd().split("\r\n").length - 1;
  expect(count).toBeGreaterThanOrEqual(5);
  expect(response.headers.get("content-disposition")).toBe(
    `attachment; filename="services-first-${count}.csv"`,
  );
  const [, next = ""] = /^<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "") ?? [];
  type ServicesPage = { readonly services: readonly { readonly service_numeric_id: string }[] };
  const { services } = (await (await stage.get(next)).json()) as ServicesPage;
  const [head = "", ...rows] = text.split("\r\n").map((line) => line.split(","));
  const ids = rows.map((cells) => cells[head.indexOf("service_numeric_id")]);
  expect(services.length).toBeGreaterThan(0);
  expect(ids).not.toContain(services[0]?.service_numeric_id);
});
