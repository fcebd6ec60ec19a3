// A vendor on the loopback whose responses a test decides, and which records its requests.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export type VendorRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type VendorResponse = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
  /** Never responds, like a vendor that hangs. */
  readonly silent?: boolean;
  /** Closes the connection without a response. */
  readonly reset?: boolean;
};

export type VendorServer = {
  readonly url: string;
  readonly requests: readonly VendorRequest[];
  stop(): Promise<void>;
};

export async function startVendorServer(
  respond: (request: VendorRequest) => VendorResponse,
): Promise<VendorServer> {
  const requests: VendorRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, path: url, headers, body: Buffer.concat(chunks).toString("utf8") };
      requests.push(request);
      const { status = 200, headers: extra = {}, text, silent, reset } = respond(request);
      if (reset) return void response.destroy();
      if (silent) return;
      response.writeHead(status, { "content-type": "application/json", ...extra });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: () =>
      new Promise((resolve, reject) => {
        server.closeAllConnections();
        server.close((error) => (error ? reject(error) : resolve()));
      }),
  };
}
