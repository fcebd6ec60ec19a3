// A vendor on the loopback whose responses a test decides, and which records its requests.
import type { IncomingHttpHeaders } from "node:http";
import { readBody, startLoopbackServer } from "./loopback-server.ts";

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
  const server = await startLoopbackServer(async (incoming, response) => {
    const { method = "", url = "", headers } = incoming;
    const body = (await readBody(incoming)).toString("utf8");
    const request = { method, path: url, headers, body };
    requests.push(request);
    const { status = 200, headers: extra = {}, text, silent, reset } = respond(request);
    if (reset) return void response.destroy();
    if (silent) return;
    response.writeHead(status, { "content-type": "application/json", ...extra });
    response.end(text);
  });
  return { url: server.url, requests, stop: server.stop };
}
