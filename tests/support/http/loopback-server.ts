// An HTTP server of a test on the loopback, on a port that the system chooses.
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCertificate } from "./test-certificate.ts";

type LoopbackServer = {
  /** Without a trailing slash. */
  readonly url: string;
  /** Ends open connections, too. */
  stop(): Promise<void>;
};

/** Over TLS with a certificate. */
export async function startLoopbackServer(
  handle: RequestListener,
  certificate?: TestCertificate,
): Promise<LoopbackServer> {
  const server = certificate ? createTlsServer(certificate, handle) : createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
