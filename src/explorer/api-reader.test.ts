// Reading the API for a page: errors belong to a state of the index as records do, and parameters stay in their place.
import { expect, it } from "vitest";
import type { RouteDescription } from "../http/openapi/route-description.ts";
import type { SendRequest } from "../mcp/server.ts";
import { ApiReader } from "./api-reader.ts";

const routes = ["/a/:id", "/b/:id"].map((path) => ({ method: "GET", path, parameters: [] }));

function readerOf(statuses: Readonly<Record<string, number>>, blockOf: (url: string) => string): ApiReader {
  const send = async ({ url }: { url: string }) => ({
    status: statuses[url] ?? 200,
    headers: { "x-indexed-block": blockOf(url), "x-indexed-block-hash": `0x${blockOf(url)}` },
    body: "{}",
  });
  return new ApiReader(
    send as unknown as SendRequest,
    routes as unknown as readonly RouteDescription[],
    null,
  );
}

it.each([
  ["find", 404],
  ["findText", 404],
  ["attempt", 400],
] as const)("%s of another block than the records is not consistent", async (method, status) => {
  for (const [block, isConsistent] of [
    ["7", true],
    ["8", false],
  ] as const) {
    const api = readerOf({ "/b/1": status }, (url) => (url === "/b/1" ? block : "7"));
    await api.get("/a/:id", { params: { id: "1" } });
    // The reader knows 400 by its code.
    await api[method]("/b/:id", { params: { id: "1" } }).catch(() => {});
    expect(api.isConsistent).toBe(isConsistent);
  }
});

it("responses of two forks of one height are not consistent", async () => {
  const send = async ({ url }: { url: string }) => ({
    status: 200,
    headers: { "x-indexed-block": "7", "x-indexed-block-hash": url === "/a/1" ? "0xaa" : "0xbb" },
    body: "{}",
  });
  const api = new ApiReader(
    send as unknown as SendRequest,
    routes as unknown as readonly RouteDescription[],
    null,
  );
  await api.get("/a/:id", { params: { id: "1" } });
  expect(api.isConsistent).toBe(true);
  await api.get("/b/:id", { params: { id: "1" } });
  expect(api.isConsistent).toBe(false);
});

it.each([".", ".."])("the parameter %s is invalid, since it leads to another route", async (id) => {
  const api = readerOf({}, () => "7");
  await expect(api.find("/a/:id", { params: { id } })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    status: 400,
  });
});
