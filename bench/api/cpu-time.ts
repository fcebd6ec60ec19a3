// A control port of a measured server that reports its processor time.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function startCpuTimeServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => {
    const { user, system } = process.cpuUsage();
    response.end(JSON.stringify({ cpuMs: (user + system) / 1000 }));
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export async function readCpuMs(controlUrl: string): Promise<number> {
  const { cpuMs } = (await (await fetch(controlUrl)).json()) as { cpuMs: number };
  return cpuMs;
}
