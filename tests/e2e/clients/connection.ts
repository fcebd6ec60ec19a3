// One connection to a service, kept open and asked one question after the other.
import { Agent, request } from "node:http";

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

export type Question = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Connection = {
  readonly url: string;
  /** Rejects when the connection is lost; it is of no use then. */
  ask(path: string, question?: Question): Promise<Reply>;
  close(): void;
};

// Longer than any request may take (SEXTANT_REQUEST_MS_MAX), so that a late answer is told from none.
const ANSWER_MS_MAX = 45_000;

export function openConnection(url: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    url,
    ask: (path, { method = "GET", headers = {}, body } = {}) =>
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
                headers: answer.headers as Reply["headers"],
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
