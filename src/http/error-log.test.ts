// The log of a failing service: a defect with its stack, an outage in one line, repeats only counted.

import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { Fault } from "../lib/fault.ts";
import { createHttpServer, type HttpServer } from "./server.ts";

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
});

type Line = {
  readonly code: string;
  readonly level: number;
  readonly err?: unknown;
  readonly repeated?: number;
};

async function start(fail: (path: string) => Error): Promise<{ url: string; lines: Line[] }> {
  const lines: Line[] = [];
  const log = pino({ level: "warn" }, { write: (text: string) => void lines.push(JSON.parse(text) as Line) });
  const ready = async () => ({ ready: true }) as const;
  const started = createHttpServer({
    ...NO_LIMITS,
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 5_000,
    checkReadiness: ready,
  });
  server = started;
  started.app.get("/:path", async (request) => {
    throw fail((request.params as { path: string }).path);
  });
  return { url: await started.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" }), lines };
}

const WARN = 40;
const ERROR = 50;

describe("failed requests", () => {
  it("logs an outage once, without a stack, and counts the repeats", async () => {
    const cause = new Error("connect ECONNREFUSED");
    const { url, lines } = await start((path) =>
      path === "busy"
        ? new Fault("OVERLOADED", "Too many reads are waiting.")
        : new Fault("DATABASE_UNREACHABLE", "PostgreSQL does not respond.", { cause }),
    );
    for (let each = 0; each < 50; each += 1) expect((await fetch(`${url}/busy`)).status).toBe(503);
    for (let each = 0; each < 50; each += 1) expect((await fetch(`${url}/down`)).status).toBe(503);
    expect(lines.map(({ code, level }) => [code, level])).toEqual([
      ["OVERLOADED", WARN],
      ["DATABASE_UNREACHABLE", WARN],
    ]);
    expect(JSON.stringify(lines)).not.toContain("stack");
    expect(lines[1]).toMatchObject({ reason: "PostgreSQL does not respond. < Error: connect ECONNREFUSED" });
    await server?.close();
    expect(lines.slice(2).map(({ code, repeated }) => [code, repeated])).toEqual([
      ["OVERLOADED", 49],
      ["DATABASE_UNREACHABLE", 49],
    ]);
  });

  it("logs the stack of each defect once", async () => {
    const { url, lines } = await start((path) => new TypeError(`${path} is not a function`));
    for (const path of ["first", "first", "second", "first"]) await fetch(`${url}/${path}`);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatchObject({ code: "INTERNAL", level: ERROR, err: { type: "TypeError" } });
      expect(JSON.stringify(line.err)).toContain("error-log.test.ts");
    }
  });

  it("logs nothing for errors of the client", async () => {
    const { url, lines } = await start(() => new Fault("INPUT_INVALID", "limit must be a whole number."));
    expect((await fetch(`${url}/any`)).status).toBe(400);
    expect(lines).toEqual([]);
  });
});
