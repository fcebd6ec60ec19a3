// Names of wallets in the client: the redirect may change the address and nothing else, and nothing is signed before.
import { describe, expect, it, onTestFinished } from "vitest";
import { startLoopbackServer } from "../../../tests/support/http/loopback-server.ts";
import { SextantError } from "../errors.ts";
import { locateWallet } from "./named-wallet.ts";
import { createTransport } from "./transport.ts";

const ADDRESS = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";

/** Redirects the name to the URL of the test, and sells everything else. */
async function locate(query: string, target: (origin: string) => string, send: typeof fetch = fetch) {
  let origin = "";
  const requests: string[] = [];
  const server = await startLoopbackServer((incoming, outgoing) => {
    requests.push(incoming.url ?? "");
    if (!incoming.url?.includes("alice.eth")) return outgoing.writeHead(402).end("{}");
    outgoing.writeHead(307, { location: target(origin) }).end("{}");
  });
  onTestFinished(server.stop);
  origin = server.url;
  const context = { transport: createTransport({ fetch: send }), attemptsMax: 1 };
  const located = await locateWallet(context, { method: "GET", url: `${origin}/portfolio?${query}` }).catch(
    (error: unknown) => error,
  );
  return { located, requests, origin };
}

describe("a request by name", () => {
  it("turns a request by name into the same request by address", async () => {
    const query = "address=alice.eth&chains=base%2Cethereum";
    const { located, origin } = await locate(
      query,
      () => `/portfolio?address=${ADDRESS}&chains=base,ethereum`,
    );
    expect(located).toBe(`${origin}/portfolio?address=${ADDRESS}&chains=base%2Cethereum`);
  });

  it.each([
    ["another path", () => `/exposure?address=${ADDRESS}`],
    ["another query", () => `/portfolio?address=${ADDRESS}&detail=full`],
    ["no address", () => "/portfolio?address=bob"],
    [
      "another place",
      (origin: string) => `${origin.replace("127.0.0.1", "localhost")}/portfolio?address=${ADDRESS}`,
    ],
    ["no URL", () => "http://["],
  ])("rejects a name that redirects to %s, and sends no request there", async (_, target) => {
    const { located, requests } = await locate("address=alice.eth", target);
    expect(located).toBeInstanceOf(SextantError);
    expect(located).toMatchObject({ code: "REDIRECTED" });
    expect(requests).toEqual(["/portfolio?address=alice.eth"]);
  });

  it.each([
    ["the same request by address", (origin: string) => `${origin}/portfolio?address=${ADDRESS}`],
    [
      "another place",
      (origin: string) => `${origin.replace("127.0.0.1", "localhost")}/portfolio?address=${ADDRESS}`,
    ],
  ])("does not let a browser, which hides redirects, follow one to %s", async (_, target) => {
    const hidden = Object.defineProperties(new Response(null), {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
    });
    const browser: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return init?.redirect === "manual" && response.status === 307 ? hidden : response;
    };
    const { located, requests } = await locate("address=alice.eth", target, browser);
    expect(located).toMatchObject({
      code: "REDIRECTED",
      message: expect.stringContaining("give the address of the wallet"),
    });
    expect(requests).toEqual(["/portfolio?address=alice.eth"]);
  });

  it("rejects what a fetch has followed although it was asked not to", async () => {
    const follows: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "follow" });
    const { located } = await locate("address=alice.eth", () => `/portfolio?address=${ADDRESS}`, follows);
    expect(located).toMatchObject({ code: "REDIRECTED" });
  });

  it("sends no lookup for a request that has an address", async () => {
    const { located, requests, origin } = await locate(`address=${ADDRESS}`, () => "/");
    expect([located, requests]).toEqual([`${origin}/portfolio?address=${ADDRESS}`, []]);
  });
});
