// One connection to a service, kept open and asked one question after the other.
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

export type ServiceConnection = {
  readonly url: string;
  /** Rejects when the connection is lost; it is of no use then. */
  request(path: string, question?: ServiceRequest): Promise<ServiceResponse>;
  close(): void;
};

// Longer than any request may take (SEXTANT_REQUEST_MS_MAX), so that a late answer is told from none.
const ANSWER_MS_MAX = 45_000;

export function openServiceConnection(url: string): ServiceConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    url,
    request: (path, { method = "GET", headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const content = body === undefined ? {} : { "content-type": "application/json" };
        const asked = request(
          url + path,
          { agent, method, headers: { ...content, ...headers } },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on("data", (chunk: Buffer) => chunks.push(chunk));
            answer.on("error", reject);
            answer.on("end", () =>
              resolve({
                status: answer.statusCode ?? 0,
                headers: answer.headers as ServiceResponse["headers"],
                text: Buffer.concat(chunks).toString("utf8"),
              }),
            );
          },
        );
        asked.setTimeout(ANSWER_MS_MAX, () =>
          asked.destroy(new Error(`${path} was not answered within ${ANSWER_MS_MAX / 1_000} s`)),
        );
        asked.on("error", reject);
        asked.end(body);
      }),
    close: () => agent.destroy(),
  };
}
