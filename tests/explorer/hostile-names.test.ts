// Names, links and texts that strangers wrote into records do nothing on any page.
import { afterAll, beforeAll, expect, it } from "vitest";
import { tables } from "../../src/protocol/domains.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, findExamplePaths, openExplorerStage } from "./explorer-stage.ts";
import { parsePage } from "./well-formed.ts";

const HOSTILE = `javascript:alert(1)//"><script>alert('x')</script><img src=x onerror=alert(1)>\u202e\u200b&lt;`;

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

/** Every column in which a stranger can write what they like. */
const COLUMNS = tables.flatMap((table) =>
  Object.keys(table.columns)
    .filter((column) => /^(metadata_uri|service_id|intent_type)$/.test(column))
    .map((column) => ({ table: table.name, column })),
);

it("are harmless on every page", async () => {
  expect(COLUMNS.length).toBeGreaterThan(4);
  for (const { table, column } of COLUMNS) {
    await stage.database.query({ text: `update ${table} set ${column} = $1`, values: [HOSTILE] });
  }
  let shown = 0;
  for (const { path } of await findExamplePaths(stage.url)) {
    const response = await stage.get(path);
    const text = await response.text();
    expect(response.status, path).toBe(200);
    const elements = parsePage(text);
    expect(/[\u202e\u200b]/.test(text), path).toBe(false);
    for (const { name, attributes } of elements) {
      expect(
        Object.keys(attributes).filter((key) => key.startsWith("on")),
        path,
      ).toEqual([]);
      expect(attributes.href ?? "", path).not.toMatch(/^\s*(javascript|data|vbscript):/i);
      if (name === "script" || name === "img") expect(attributes.src, path).toMatch(/^\//);
    }
    if (text.includes("\\u{202e}")) shown += 1;
  }
  expect(shown).toBeGreaterThan(0);
});

it("end a CSV early where they are long, and its name and link say so", async () => {
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
  type Page = { readonly services: readonly { readonly service_numeric_id: string }[] };
  const { services } = (await (await stage.get(next)).json()) as Page;
  const [head = "", ...rows] = text.split("\r\n").map((line) => line.split(","));
  const ids = rows.map((cells) => cells[head.indexOf("service_numeric_id")]);
  expect(services.length).toBeGreaterThan(0);
  expect(ids).not.toContain(services[0]?.service_numeric_id);
});
