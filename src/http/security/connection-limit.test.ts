// Connection limits, in total and per client, and the log lines when they or file descriptors run out.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { NO_LIMITS } from "../../../tests/support/http/no-limits.ts";
import { createHttpServer, type HttpServerOptions } from "../server.ts";

type Line = { readonly msg: string } & Readonly<Record<string, unknown>>;

async function start(options: Partial<HttpServerOptions>): Promise<{ port: number; lines: Line[] }> {
  const lines: Line[] = [];
  const log = pino({ level: "warn" }, { write: (text: string) => void lines.push(JSON.parse(text) as Line) });
  const ready = async () => ({ ready: true }) as const;
  const server = createHttpServer({
    ...NO_LIMITS,
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 5_000,
    checkReadiness: ready,
    ...options,
  });
  onTestFinished(() => server.close());
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return { port: Number(new URL(url).port), lines };
}

type Outcome = { readonly socket: Socket; readonly text: string; readonly isOpen: boolean };

/** Opens connections one after another and sends a request on each; returns the responses and which stayed open. */
async function openMany(port: number, count: number): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  for (let each = 0; each < count; each += 1) {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /ready HTTP/1.1\r\nHost: a\r\n\r\n"));
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    outcomes.push(
      new Promise((resolve) => {
        socket.once("data", (data) =>
          resolve({ socket, text: String(data), isOpen: !String(data).includes(" 429 ") }),
        );
        socket.once("close", () => resolve({ socket, text: "", isOpen: false }));
      }),
    );
    await outcomes.at(-1);
  }
  return Promise.all(outcomes);
}

describe("connections", () => {
  it("closes connections beyond the limit with one warning, and accepts again when others end", async () => {
    const { port, lines } = await start({ connectionsMax: 10 });
    const outcomes = await openMany(port, 30);
    expect(outcomes.map(({ isOpen }) => isOpen)).toEqual(Array.from({ length: 30 }, (_, each) => each < 10));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      component: "http",
      event: "connection_limit",
      msg: "Connection limit reached, connection closed",
      connectionsMax: 10,
    });
    const [first] = outcomes;
    first?.socket.end();
    if (first) await once(first.socket, "close");
    await expect.poll(async () => (await openMany(port, 1))[0]?.isOpen).toBe(true);
  });

  it("closes a client's connections beyond its limit, with an error message", async () => {
    const { port, lines } = await start({ connectionsPerClientMax: 5 });
    const outcomes = await openMany(port, 7);
    expect(outcomes.filter(({ isOpen }) => isOpen)).toHaveLength(5);
    expect(outcomes.at(-1)?.text).toMatch(/^HTTP\/1\.1 429 .*At most 5 connections per client\./s);
    expect(outcomes.at(-1)?.text).toContain("retry-after: 1\r\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ client: "127.0.0.1", perClientMax: 5 });
  });

  it("does not count connections per client behind a proxy, which opens all of them", async () => {
    const { port } = await start({ connectionsPerClientMax: 5, trustedProxies: 1 });
    expect((await openMany(port, 7)).every(({ isOpen }) => isOpen)).toBe(true);
  });
});

const CHILD = `
  import { createLog } from "./src/lib/log.ts";
  import { createHttpServer } from "./src/http/server.ts";
  import { NO_LIMITS } from "./tests/support/http/no-limits.ts";
  const log = createLog({ level: "warn", terminal: false, name: "test" });
  const ready = async () => ({ ready: true });
  const server = createHttpServer({ ...NO_LIMITS, log, bodyBytesMax: 1024, requestMsMax: 5000, checkReadiness: ready });
  console.log(await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" }));
`;

function nextLine(child: ChildProcess, stream: "stdout" | "stderr"): Promise<string> {
  return new Promise((resolve, reject) => {
    child[stream]?.once("data", (data) => resolve(String(data)));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

describe.runIf(process.platform === "linux")("descriptors", () => {
  it("keeps file descriptors for other uses, and logs that they run out", async () => {
    const command = `ulimit -n 128; exec "$0" --import tsx --input-type=module -e "$1"`;
    const child = spawn("sh", ["-c", command, process.execPath, CHILD], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const url = await nextLine(child, "stdout");
    const warning = nextLine(child, "stderr");
    const outcomes = await openMany(Number(new URL(url).port), 150);
    expect(JSON.parse(await warning)).toMatchObject({
      msg: "File descriptors run out, connection closed",
      descriptors: 96,
    });
    const open = outcomes.filter(({ isOpen }) => isOpen).length;
    expect(open).toBeGreaterThan(20);
    expect(open).toBeLessThan(96);
  });
});
