// The statements of the bare driver are those of the API: otherwise the ceiling of cold reads is another one.
import { expect, it } from "vitest";
import { routesOf } from "../../bench/api/api-routes.ts";
import { listStatements } from "../../bench/api/driver.ts";
import { tableSizes } from "../../bench/api/row-generators.ts";
import { openIndexReader } from "../../src/store/index/reader.ts";

const routes = routesOf(tableSizes(0.01), { page: 2, cursor: "" });

it("sends every statement of a route as the index reader sends it", async () => {
  const route = routes.find(({ title }) => title === "/intents/:id");
  const sql = route?.sql;
  if (!route || !sql) throw new Error("there is no such route");
  const sent: unknown[] = [];
  const stop = new Error("recorded");
  const record = {
    async read(statement: unknown) {
      sent.push(statement);
      throw stop;
    },
  };
  const reader = openIndexReader({ quick: record, slow: record });
  for (const number of [0, 1, 2]) {
    await expect(reader.read({ sql: sql(number), cost: "quick" }, () => undefined)).rejects.toBe(stop);
  }
  const [first, second] = listStatements(route, 3);
  expect(listStatements(route, 3)).toEqual(sent);
  expect(first?.values).not.toEqual(second?.values);
});

it("sends nothing for a route that is only measured from the cache", () => {
  const route = routes.find(({ conditional }) => conditional);
  expect(route && listStatements(route, 3)).toEqual([]);
});
