// URLs with several hosts are split at the hosts only, whatever the rest contains.
import { describe, expect, it } from "vitest";
import { splitPostgresUrl } from "./postgres-url.ts";
import { postgresUrl } from "./setting-kinds.ts";

describe("splitPostgresUrl", () => {
  it.each([
    ["postgres://me@one:1,two:2/db", ["postgres://me@one:1/db", "postgres://me@two:2/db"]],
    [
      "postgresql://me:a,b%40c@one,[::1]:5/db?sslmode=a,b",
      ["postgresql://me:a,b%40c@one/db?sslmode=a,b", "postgresql://me:a,b%40c@[::1]:5/db?sslmode=a,b"],
    ],
    ["postgres://one,two", ["postgres://one", "postgres://two"]],
    ["postgres://me:a,b@one/d,b?host=/run/postgresql", ["postgres://me:a,b@one/d,b?host=/run/postgresql"]],
    ["not a url", ["not a url"]],
  ])("splits %j", (url, servers) => {
    expect(splitPostgresUrl(url)).toEqual(servers);
  });
});

describe("the setting", () => {
  it.each(["mysql://one,two/db", "postgres://one:x,two/db", "postgres://me@one:99999,two/db"])(
    "rejects %j",
    (url) => {
      expect(() => postgresUrl.parse(url)).toThrow("value not allowed");
    },
  );
});
