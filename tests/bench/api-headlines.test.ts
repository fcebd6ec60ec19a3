// Headlines about the API: real routes, the median and the last one, and no false match.
import { expect, it } from "vitest";
import { summarizeApi } from "../../bench/api/api-headlines.ts";
import type { RouteReport } from "../../bench/api/load-child.ts";

const DEEP = "/intents, page 4,000 by cursor";

/** So many requests in a second each; a pipelined driver twice as fast as a pooled one. */
function route(title: string, hot: number, cold: number | null, shared = false): RouteReport {
  const cell = (requests: number) => ({ requests, ms: 1_000, cpuMs: 500 });
  const colder = cold === null ? null : cell(cold);
  const driver = colder && cell(100);
  return {
    ...{ title, shared, hot: cell(hot), rawHot: cell(100) },
    ...{ cold: colder, driver, pipelined: driver && cell(200) },
  };
}

const routes = [
  route("/agents/:agentId", 90, 70),
  route("/slow", 40, 30),
  route("/middling", 75, 61),
  route("/analytics/commerce", 80, 69, true),
  route("/intents, page 1", 80, 500, true),
  route(DEEP, 80, 450, true),
  route("/cached only", 70, null),
];

it("compares hot routes with bare HTTP, and cold ones with both drivers if requests differ", () => {
  const lines = summarizeApi(routes, DEEP).map(({ what, ratio, aim }) => [what, ratio, aim?.met ?? null]);
  expect(lines).toEqual([
    ["hot, median of 7 routes: /analytics/commerce", "80 %", true],
    ["hot, lowest of 7 routes: /slow", "40 %", false],
    ["cold, median of 3 routes: /middling", "61 %", true],
    ["cold, lowest of 3 routes: /slow", "30 %", false],
    ["cold, median of 3 routes: /middling", "31 %", null],
    ["cold, lowest of 3 routes: /slow", "15 %", null],
    ["deep page by cursor, cold, all ask the same", "90 %", true],
    ["analytics, cold, all ask the same", "99 %", false],
  ]);
});

it("names what it is held against", () => {
  const [hot, , cold, , pipelined, , deep] = summarizeApi(routes, DEEP);
  expect(hot).toMatchObject({ value: "80 req/s", ceiling: "100 node:http" });
  expect(cold?.ceiling).toBe("100 the driver");
  expect(pipelined?.ceiling).toBe("200 the driver, pipelined");
  expect(deep?.ceiling).toBe("500 /intents, page 1");
});

it("fails if a route that it must mention was not measured", () => {
  expect(() => summarizeApi(routes.slice(1), DEEP)).toThrow("/agents/:agentId was not measured cold");
});
