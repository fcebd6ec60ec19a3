// Apps below /d/:name: each sees its requests as if it were at the root, and all share one limit per client.

import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { silentLog } from "../../tests/support/quiet-log.ts";
import { serializeResponse } from "./response.ts";
import { createHttpServer, type HttpServer } from "./server.ts";

const open: HttpServer[] = [];
const checkReadiness = async () => ({ ready: true }) as const;

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(limits: { readonly requestsPerMinuteMax?: number } = {}): Promise<string> {
  const options = { log: silentLog, bodyBytesMax: 1_024, requestMsMax: 5_000, checkReadiness };
  const server = createHttpServer({ ...NO_LIMITS, ...options, ...limits });
  open.push(server);
  const echo =
    (name: string) =>
    async ({ url }: { readonly url: string }) => ({ name, url });
  server.app.get("/echo", echo("root"));
  server.mount("root");
  const mounted = server.mount("other-1", { log: silentLog, checkReadiness });
  mounted.app.get("/", echo("other"));
  mounted.app.get("/echo", echo("other"));
  const cached = serializeResponse({ route: "/kept", body: { kept: true } });
  mounted.serveFromCache((url) => (url === "/kept?a=1" ? cached : undefined));
  return server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
}

async function get(url: string): Promise<unknown> {
  const response = await fetch(url);
  return { status: response.status, ...((await response.json()) as object) };
}

/** The path as it is: fetch would resolve its dots. */
function requestPath(url: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("an app below /d/:name", () => {
  it("gives a mounted app the requests below its path, as if at the root", async () => {
    const url = await start();
    expect(await get(`${url}/d/other-1/echo?x=1`)).toEqual({ status: 200, name: "other", url: "/echo?x=1" });
    expect(await get(`${url}/d/other-1`)).toEqual({ status: 200, name: "other", url: "/" });
    expect(await get(`${url}/d/other-1?x`)).toEqual({ status: 200, name: "other", url: "/?x" });
    expect(await get(`${url}/d/other-1/kept?a=1`)).toEqual({ status: 200, kept: true });
    expect(await get(`${url}/echo`)).toEqual({ status: 200, name: "root", url: "/echo" });
    expect(await get(`${url}/d/root/echo`)).toEqual({ status: 200, name: "root", url: "/echo" });
  });

  it("mounts an app once, and by its exact name", async () => {
    const url = await start();
    const unknown = {
      status: 404,
      error: "There is no such deployment; this server has root, other-1.",
    };
    for (const path of ["/d/other", "/d/OTHER-1/echo", "/d/", "/d/other%2D1/echo", "/d//other-1/echo"]) {
      expect([path, await get(url + path)]).toEqual([path, unknown]);
    }
    const nothing = { status: 404, error: "There is nothing at this path." };
    expect(await get(`${url}/d/other-1/d/root/echo`)).toEqual(nothing);
    expect(await get(`${url}/kept?a=1`)).toEqual(nothing);
    expect(await get(`${url}/dx`)).toEqual(nothing);
  });

  it("responds 404 to a path that only resembles a mounted app's", async () => {
    const url = await start();
    const paths = [
      "/d/../echo",
      "/d/./other-1/echo",
      "/d/%2e%2e/echo",
      "/d/other-1%2fecho",
      "/d/other-1/../echo",
      "/d/other-1//echo",
      "/d/other-1/%2e%2e/echo",
      "/d/other-1%00/echo",
      "/d/__proto__/echo",
      "/d/constructor/echo",
      `/d/${"x".repeat(12_000)}/echo`,
      `/d${"/".repeat(12_000)}`,
      `${url}/d/other-1/echo`,
    ];
    for (const path of paths) {
      expect([path.slice(0, 40), await requestPath(url, path)]).toEqual([path.slice(0, 40), 404]);
    }
  });

  it("counts requests together with all other apps", async () => {
    const url = await start({ requestsPerMinuteMax: 4 });
    const statuses: unknown[] = [];
    for (const path of [
      "/echo",
      "/d/other-1/echo",
      "/d/other-1/kept?a=1",
      "/d/root/echo",
      "/d/other-1/echo",
    ]) {
      statuses.push((await fetch(url + path)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });
});
