// Requests that cost their sender little and would cost us much: slow ones, padded ones, and ones with many long names.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBytes } from "../support/http/send-bytes.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

const REQUEST_MS_MAX = 250;
// What took seconds each takes milliseconds now; in between there is room for a busy machine.
const WORK_MS_MAX = 2_000;

let place: EmptyIndex;
let api: TestApi;

beforeAll(async () => {
  place = await openEmptyIndex();
  api = await startTestApi(place.database, { requestMsMax: REQUEST_MS_MAX });
});

afterAll(async () => {
  await api?.close();
  await place?.drop();
});

/** Begins a request and goes on with a little at a time, for as long as the server listens; all that it answers. */
function drip(first: string, more: string): Promise<string> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve) => {
    let answer = "";
    let dripping: NodeJS.Timeout | undefined;
    const socket = connect(Number(port), hostname, () => {
      socket.write(first);
      dripping = setInterval(() => socket.write(more), 50);
    });
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    // Writing to whoever has hung up fails; that it did is what is looked for.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(dripping);
      resolve(answer);
    });
  });
}

describe("slow requests", () => {
  const HEAD = "POST /preflight HTTP/1.1\r\nHost: a\r\n";

  it("are given up on in time, whatever they are slow with, and keep nobody else waiting", async () => {
    const slow = [
      drip("", ""),
      drip(HEAD, "X-A: b\r\n"),
      drip(`${HEAD}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n`, "{"),
      drip(`${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`, "1\r\n{\r\n"),
    ];
    const startMs = performance.now();
    expect((await fetch(`${api.url}/health`)).status).toBe(200);
    for (const answer of await Promise.all(slow)) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain("x-error-code: REQUEST_TOO_SLOW");
    }
    // Noticed at the next look, which may come as late again as the limit.
    expect(performance.now() - startMs).toBeLessThan(2 * REQUEST_MS_MAX + WORK_MS_MAX);
  });
});

describe("answers that nobody reads", () => {
  it("are not held for long", async () => {
    const { hostname, port } = new URL(api.url);
    const asked = 300;
    const head = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n";
    let answers = 0;
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(`${`${head}\r\n`.repeat(asked - 1)}${head}Connection: close\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 7 * REQUEST_MS_MAX));
    // Whoever is hung up on with much unsaid sees a broken connection.
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      answers += chunk.toString("latin1").split("HTTP/1.1 200 ").length - 1;
    });
    await new Promise((resolve) => socket.on("close", resolve).resume());
    // What the two sides of the connection had already taken still arrives.
    expect(answers).toBeGreaterThan(0);
    expect(answers).toBeLessThan(asked / 2);
  });
});

describe("padded requests", () => {
  it("are read in time that grows with their length only", async () => {
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
  it("is refused before each part of it is named by all of them", async () => {
    const parts = Array.from({ length: 900 }, () => ({}));
    const json_schema = { properties: { ["k".repeat(180_000)]: { anyOf: parts } } };
    const startMs = performance.now();
    const answer = await fetch(`${api.url}/attestations/schemas`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "long", json_schema }),
    });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: string };
    expect(error).toContain("the path to a subschema must have at most 2048 characters");
    expect(error.length).toBeLessThan(300);
    expect(performance.now() - startMs).toBeLessThan(WORK_MS_MAX);
  });
});
