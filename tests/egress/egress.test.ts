// Whom we ask, and nobody else: no way out follows a redirect, unpacks without end, or tells the key in an address.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { createGzip } from "node:zlib";
import type { PaymentRequirements } from "@x402/core/types";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { rawCall } from "../../src/chain/rpc/types.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { createRemoteEndpoint } from "../../src/lib/remote-endpoint.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLocalFacilitator } from "../../src/payments/facilitator/local.ts";
import { createRemoteFacilitator } from "../../src/payments/facilitator/remote.ts";
import { loadTokenLists } from "../../src/portfolio/tokens/load-token-lists.ts";
import { sendVendorRequest } from "../../src/portfolio/vendor-request.ts";
import { LOCAL_GAS } from "../support/chain/local-gas.ts";
import { startVendorServer, type VendorServer } from "../support/http/vendor-server.ts";
import { createTestRpc } from "../support/nodes/test-rpc.ts";
import { silentLog } from "../support/quiet-log.ts";

const KEY = "s3cr3t-k3y-0123456789";
// Unpacked, this is more than any of them takes; packed, it is a few dozen kilobytes.
const BOMB_MIB = 40;
const TIMEOUT_MS = 10_000;

/** Answers as it is told to; the key is in every address it is asked at. */
let answer: (response: ServerResponse, path: string) => void;
let elsewhere: VendorServer;
let authorizations: (string | undefined)[] = [];
let host = "";

const server = createServer((request, response) => {
  authorizations.push(request.headers.authorization);
  request.resume();
  request.on("end", () => answer(response, request.url ?? ""));
});

beforeAll(async () => {
  // Whoever gets here is believed everything.
  elsewhere = await startVendorServer(() => ({
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1", isValid: true, tokens: [] }),
  }));
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

const WAYS: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
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

describe.each(WAYS)("%s", (_name, ask) => {
  /** All that can be seen of a failure; null where it is none to who asked. */
  const failure = async (): Promise<string | null> => {
    const shown = await ask(`http://user:${KEY}@${host}/v3/${KEY}?token=${KEY}`).then(
      () => null,
      (error: unknown) => inspect(error, { depth: 12 }) + String((error as Error).stack),
    );
    expect(String(shown)).not.toContain(KEY);
    return shown;
  };

  it.each([301, 302, 303, 307, 308])("that redirects with %i is not followed", async (status) => {
    answer = (response) => response.writeHead(status, { location: `${elsewhere.url}/${KEY}` }).end();
    expect(await failure()).not.toBeNull();
    expect(elsewhere.requests).toEqual([]);
  });

  it("whose answer unpacks to more than is taken is cut off", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      const packed = createGzip();
      packed.on("error", () => undefined);
      packed.pipe(response);
      packed.write('{"isValid":true,"result":"0x1","tokens":[],"pad":"');
      for (let each = 0; each < BOMB_MIB; each += 1) packed.write(Buffer.alloc(1_048_576, 0x20));
      packed.end('"}');
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
    ["as all it says", 200, KEY],
    ["as half a line", 200, `{"error":"${KEY}`],
  ])("that tells our key back %s is not quoted with it", async (_how, status, text) => {
    answer = (response) => response.writeHead(status, { "content-type": "text/html" }).end(text);
    // What one takes for a failure is an answer to another; none may show the key.
    await failure();
  });
});

describe("a password in an address", () => {
  it("is sent as the header it stands for", async () => {
    answer = (response) => response.writeHead(503).end();
    await Promise.allSettled(WAYS.map(([, ask]) => ask(`http://user:${KEY}@${host}/`)));
    const basic = `Basic ${Buffer.from(`user:${KEY}`).toString("base64")}`;
    expect(authorizations).toEqual(WAYS.map(() => basic));
  });
});
