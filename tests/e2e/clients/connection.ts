// One keep-alive connection to a service, with one request after the other.
import { Agent, request } from "node:http";

export type ServiceResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

export type ServiceRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

type ServiceConnection = {
  readonly url: string;
  /** Rejects when the connection is lost; it is of no use then. */
  request(path: string, options?: ServiceRequest): Promise<ServiceResponse>;
  close(): void;
};

// Longer than any request may take (SEXTANT_REQUEST_MS_MAX), to distinguish a late response from none.
const RESPONSE_MS_MAX = 45_000;

export function openServiceConnection(url: string): ServiceConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    url,
    request: (path, { method = "GET", headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const content = body === undefined ? {} : { "content-type": "application/json" };
        const outgoing = request(
          url + path,
          { agent, method, headers: { ...content, ...headers } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers as ServiceResponse["headers"],
                text: Buffer.concat(chunks).toString("utf8"),
              }),
            );
          },
        );
        outgoing.setTimeout(RESPONSE_MS_MAX, () =>
          outgoing.destroy(new Error(`${path} got no response within ${RESPONSE_MS_MAX / 1_000} s`)),
        );
        outgoing.on("error", reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
