// A control port of a measured server that reports its processor time.
import { createServer, type Server } from "node:http";
import { closeServer, listenOnLoopback } from "../harness/loopback.ts";
import { sendToParent } from "../harness/progress.ts";

/** A measured server: where it listens, and its control port. */
export type ServerReady = { readonly url: string; readonly control: string };

export async function startCpuTimeServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ cpuMs: (user + system) / 1000 }));
  });
  return { url: await listenOnLoopback(server), close: () => void closeServer(server) };
}

/** Serves until the parent lets go of the standard input. */
export async function serveForParent(server: Server): Promise<void> {
  const control = await startCpuTimeServer();
  const ready: ServerReady = { url: await listenOnLoopback(server), control: control.url };
  sendToParent(ready);
  process.stdin.on("end", () => {
    void closeServer(server);
    control.close();
  });
  process.stdin.resume();
}

export async function readCpuMs(controlUrl: string): Promise<number> {
  const { cpuMs } = (await (await fetch(controlUrl)).json()) as { cpuMs: number };
  return cpuMs;
}
