// Requests that are cheap to send and expensive to serve: slow, padded, and with many long names.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

const REQUEST_MS_MAX = 250;
// Seconds without the protection, milliseconds with it; the limit leaves room for a busy machine.
const WORK_MS_MAX = 2_000;

let emptyIndex: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  emptyIndex = await openEmptyIndex();
  api = await startTestApi(emptyIndex.database, { requestMsMax: REQUEST_MS_MAX });
});

afterAll(async () => {
  await api?.close();
  await emptyIndex?.drop();
});

/** Sends a request a little at a time until the server closes, and returns its output. */
function drip(first: string, more: string): Promise<string> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve) => {
    let response = "";
    let dripping: NodeJS.Timeout | undefined;
    const socket = connect(Number(port), hostname, () => {
      socket.write(first);
      dripping = setInterval(() => socket.write(more), 50);
    });
    socket.on("data", (chunk) => {
      response += chunk;
    });
    // Writing to a closed connection fails, which is expected.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(dripping);
      resolve(response);
    });
  });
}

describe("slow requests", () => {
  const HEAD = "POST /preflight HTTP/1.1\r\nHost: a\r\n";

  it("times out slow requests without delaying others", async () => {
    const slow = [
      drip("", ""),
      drip(HEAD, "X-A: b\r\n"),
      drip(`${HEAD}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n`, "{"),
      drip(`${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`, "1\r\n{\r\n"),
    ];
    const startMs = performance.now();
    expect((await fetch(`${api.url}/health`)).status).toBe(200);
    for (const response of await Promise.all(slow)) {
      expect(response).toMatch(/^HTTP\/1\.1 408 /);
      expect(response).toContain("x-error-code: REQUEST_TOO_SLOW");
    }
    // The check interval may double the limit.
    expect(performance.now() - startMs).toBeLessThan(2 * REQUEST_MS_MAX + WORK_MS_MAX);
  });
});

describe("unread responses", () => {
  it("drops responses that a client does not read", async () => {
    const { hostname, port } = new URL(api.url);
    const requestCount = 300;
    const head = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n";
    let responses = 0;
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(`${`${head}\r\n`.repeat(requestCount - 1)}${head}Connection: close\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 7 * REQUEST_MS_MAX));
    // A connection that is closed with pending data reports an error.
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      responses += chunk.toString("latin1").split("HTTP/1.1 200 ").length - 1;
    });
    await new Promise((resolve) => socket.on("close", resolve).resume());
    // Data in the socket buffers still arrives.
    expect(responses).toBeGreaterThan(0);
    expect(responses).toBeLessThan(requestCount / 2);
  });
});

describe("padded requests", () => {
  it("reads padded headers in linear time", async () => {
    const pad = " ".repeat(15_000);
    const types = [
      `application/json${pad}x`,
      `application/json;charset=utf-8${pad}x`,
      `application/json;${pad}x`,
    ];
    const startMs = performance.now();
    for (const type of Array.from({ length: 12 }, () => types).flat()) {
      const head = `POST /preflight HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: ${type}\r\n`;
      expect(await sendBytes(api.url, `${head}Content-Length: 2\r\n\r\n{}`, 5_000)).toMatch(
        /^HTTP\/1\.1 415 /,
      );
    }
    expect(performance.now() - startMs).toBeLessThan(WORK_MS_MAX);
  });
});

describe("a schema with long names", () => {
  it("rejects a schema with long names before every path is built", async () => {
    const parts = Array.from({ length: 900 }, () => ({}));
    const json_schema = { properties: { ["k".repeat(180_000)]: { anyOf: parts } } };
    const startMs = performance.now();
    const response = await fetch(`${api.url}/attestations/schemas`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "long", json_schema }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: string };
    expect(error).toContain("the path to a subschema must have at most 2048 characters");
    expect(error.length).toBeLessThan(300);
    expect(performance.now() - startMs).toBeLessThan(WORK_MS_MAX);
  });
});
