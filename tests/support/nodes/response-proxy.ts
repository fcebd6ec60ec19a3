// A connection to the stage's chain on which a test hides, loses or replaces single responses of the node.
import { readBody, startLoopbackServer } from "../http/loopback-server.ts";

export type ResponseFaults = {
  /** Methods whose request never reaches the node. */
  readonly before?: readonly string[];
  /** Methods whose response is lost on its way back. */
  readonly after?: readonly string[];
  /** The response sent in place of the node's, by method; null lets the request through. */
  readonly instead?: Readonly<
    Record<string, object | ((params: readonly unknown[]) => Promise<object | null>)>
  >;
};

export type ResponseProxy = {
  readonly url: string;
  /** Methods requested so far. */
  readonly methods: readonly string[];
  close(): Promise<void>;
};

export async function openResponseProxy(upstream: string, faults: ResponseFaults): Promise<ResponseProxy> {
  const methods: string[] = [];
  const headers = { "content-type": "application/json" };
  const server = await startLoopbackServer(async (request, response) => {
    const body = (await readBody(request)).toString("utf8");
    const { id, method, params } = JSON.parse(body) as {
      id: number;
      method: string;
      params: readonly unknown[];
    };
    methods.push(method);
    if (faults.before?.includes(method)) return void response.destroy();
    const given = faults.instead?.[method];
    const instead = typeof given === "function" ? await given(params) : given;
    if (instead) {
      return void response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, ...instead }));
    }
    const text = await (await fetch(upstream, { method: "POST", headers, body })).text();
    if (faults.after?.includes(method)) return void response.destroy();
    response.writeHead(200, headers).end(text);
  });
  return { url: server.url, methods, close: server.stop };
}
