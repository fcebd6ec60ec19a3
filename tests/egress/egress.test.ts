// Conformance of every outgoing call: no redirect is followed, decompression is bounded, and no key is shown.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import type { PaymentRequirements } from "@x402/core/types";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { rawCall } from "../../src/chain/rpc/types.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { createRemoteEndpoint } from "../../src/lib/remote-endpoint.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createRemoteFacilitator } from "../../src/payments/facilitator/facilitator.ts";
import { createLocalFacilitator } from "../../src/payments/facilitator/local.ts";
import { loadTokenLists } from "../../src/portfolio/tokens/load-token-lists.ts";
import { sendVendorRequest } from "../../src/portfolio/vendor-request.ts";
import { LOCAL_GAS } from "../support/chain/local-gas.ts";
import { startVendorServer, type VendorServer } from "../support/http/vendor-server.ts";
import { createTestRpc } from "../support/nodes/test-rpc.ts";
import { singleProcessTurns } from "../support/payments/single-process-turns.ts";
import { silentLog } from "../support/quiet-log.ts";

const KEY = "s3cr3t-k3y-0123456789";
// Decompressed, more than any limit: a node may respond with 32 MiB. Compressed, some hundred kilobytes.
const BOMB_MIB = 40;
const TIMEOUT_MS = 10_000;

/** The response of the server; every request has the key in its address. */
let respond: (response: ServerResponse, path: string) => void;
let elsewhere: VendorServer;
let authorizations: (string | undefined)[] = [];
let host = "";
let bomb: Buffer;

const server = createServer((request, response) => {
  authorizations.push(request.headers.authorization);
  request.resume();
  request.on("end", () => respond(response, request.url ?? ""));
});

beforeAll(async () => {
  // Any caller would accept this response.
  elsewhere = await startVendorServer(() => ({
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1", isValid: true, tokens: [] }),
  }));
  const pad = " ".repeat(BOMB_MIB * 1_048_576);
  bomb = gzipSync(`{"isValid":true,"result":"0x1","tokens":[],"pad":"${pad}"}`, { level: 1 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  authorizations = [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await elsewhere?.stop();
});

const terms = {
  scheme: "exact",
  network: "eip155:1",
  amount: "1",
  asset: `0x${"01".repeat(20)}`,
  payTo: `0x${"02".repeat(20)}`,
  maxTimeoutSeconds: 60,
  extra: {},
} as const satisfies PaymentRequirements;

const CALLERS: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  [
    "a node",
    (url) => {
      const limits = { attemptsMax: 1, requestTimeoutMs: TIMEOUT_MS, responseBytesMax: 1_000_000 };
      return createTestRpc([url], { limits }).rpc.request(rawCall("eth_chainId"));
    },
  ],
  [
    "a node of the facilitator",
    (url) => {
      const privateKey = new Secret<Hex>(`0x${"07".repeat(32)}`);
      const urls = [new Secret(url)];
      // A balance is read without any record.
      const store = { run: () => Promise.reject(new Error("there are no records")) };
      const facilitator = createLocalFacilitator({
        ...{ network: "eip155:1", urls, privateKey, store, gas: LOCAL_GAS, log: silentLog, onCall: null },
        turns: singleProcessTurns(store),
      });
      return facilitator.readGasBalance();
    },
  ],
  [
    "a facilitator",
    (url) =>
      createRemoteFacilitator({ url, timeoutMs: TIMEOUT_MS }).verify(
        { x402Version: 2, accepted: terms, payload: {} },
        terms,
      ),
  ],
  [
    "a vendor",
    (url) => {
      const limits = { timeoutMs: TIMEOUT_MS, responseBytesMax: 1_000_000 };
      const endpoint = createRemoteEndpoint(new Secret(url));
      return sendVendorRequest({ endpoint, ...limits }, new AbortController().signal);
    },
  ],
  ["the host of a token list", (url) => loadTokenLists({ sources: [url], chains: [] })],
];

describe.each(CALLERS)("%s", (_name, call) => {
  /** Everything visible of a failure; null if the caller does not see one. */
  const failure = async (): Promise<string | null> => {
    const shown = await call(`http://user:${KEY}@${host}/v3/${KEY}?token=${KEY}`).then(
      () => null,
      (error: unknown) => inspect(error, { depth: 12 }) + String((error as Error).stack),
    );
    expect(String(shown)).not.toContain(KEY);
    return shown;
  };

  it.each([301, 302, 303, 307, 308])("does not follow a redirect with %i", async (status) => {
    respond = (response) => response.writeHead(status, { location: `${elsewhere.url}/${KEY}` }).end();
    expect(await failure()).not.toBeNull();
    expect(elsewhere.requests).toEqual([]);
  });

  it("stops a response that decompresses to more than its limit", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(bomb);
    };
    expect(await failure()).not.toBeNull();
  });

  it.each([
    ["as a page", 404, `<p>Cannot POST /v3/${KEY}</p>`],
    [
      "as a reason",
      200,
      JSON.stringify({ id: 1, error: { code: -32_000, message: `${KEY} is over its limit` } }),
    ],
    [
      "as data",
      200,
      JSON.stringify({ id: 1, error: { code: 3, message: "no", data: `see http://x/${KEY}` } }),
    ],
    [
      "as a verdict",
      500,
      JSON.stringify({ isValid: false, invalidReason: `bad ${KEY}`, invalidMessage: KEY }),
    ],
    ["as the whole body", 200, KEY],
    ["as half a line", 200, `{"error":"${KEY}`],
  ])("does not show a key that the server repeats %s", async (_how, status, text) => {
    respond = (response) => response.writeHead(status, { "content-type": "text/html" }).end(text);
    // A failure to one caller is a response to another; none may show the key.
    await failure();
  });
});

describe("a password in an address", () => {
  it("sends the password of an address as the header it stands for", async () => {
    respond = (response) => response.writeHead(503).end();
    await Promise.allSettled(CALLERS.map(([, call]) => call(`http://user:${KEY}@${host}/`)));
    const basic = `Basic ${Buffer.from(`user:${KEY}`).toString("base64")}`;
    expect(authorizations).toEqual(CALLERS.map(() => basic));
  });
});
