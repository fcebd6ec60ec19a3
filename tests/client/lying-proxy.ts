// A proxy in front of a service that changes what it says about payments by channel.
import { startLoopbackServer } from "../support/http/loopback-server.ts";

type LyingResponse = { status: number; readonly headers: Record<string, string>; body: string };
type Fields = Record<string, unknown>;

/** Null: no response at all. */
type Lie = (response: LyingResponse) => undefined | null | Promise<undefined | null>;

/** Only responses to paid requests are changed. */
export async function startLyingProxy(upstream: string) {
  const server = await startLoopbackServer(async (incoming, outgoing) => {
    const signature = incoming.headers["payment-signature"];
    const headers = signature === undefined ? {} : { "payment-signature": String(signature) };
    const received = await fetch(`${upstream}${incoming.url}`, { headers });
    const response: LyingResponse = {
      status: received.status,
      headers: Object.fromEntries(received.headers),
      body: await received.text(),
    };
    for (const name of ["content-encoding", "content-length", "transfer-encoding", "connection"]) {
      delete response.headers[name];
    }
    if (signature !== undefined && (await proxy.lie(response)) === null) return incoming.socket.destroy();
    outgoing.writeHead(response.status, response.headers).end(response.body);
  });
  const honest: Lie = () => undefined;
  const proxy = { url: server.url, lie: honest, honest, stop: server.stop };
  return proxy;
}

/** Changes the object in a header. */
export function edit(
  response: LyingResponse,
  name: "payment-response" | "payment-required",
  change: (value: Fields) => unknown,
): undefined {
  const header = response.headers[name];
  const value = header === undefined ? {} : (JSON.parse(Buffer.from(header, "base64").toString()) as Fields);
  change(value);
  response.headers[name] = Buffer.from(JSON.stringify(value)).toString("base64");
}

/** Turns a response into the 402 of a service that says another sum. */
export function demand(response: LyingResponse, extra: Fields, accepted: Fields): undefined {
  response.status = 402;
  delete response.headers["payment-response"];
  response.headers["x-error-code"] = "PAYMENT_REQUIRED";
  const error = "invalid_batch_settlement_evm_cumulative_amount_mismatch";
  const offer = { ...accepted, extra: { ...(accepted.extra as Fields), ...extra } };
  const required = { x402Version: 2, error, accepts: [offer] };
  response.headers["payment-required"] = Buffer.from(JSON.stringify(required)).toString("base64");
  response.body = JSON.stringify({ error });
}
