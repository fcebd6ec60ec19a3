// A proxy in front of a service that changes what it says about payments by channel.
import { startLoopbackServer } from "../support/http/loopback-server.ts";

type Told = { status: number; readonly headers: Record<string, string>; body: string };
type Fields = Record<string, unknown>;

/** Null: no response at all. */
export type Lie = (told: Told) => undefined | null | Promise<undefined | null>;

/** Only responses to paid requests are changed. */
export async function startLyingProxy(upstream: string) {
  const server = await startLoopbackServer(async (incoming, outgoing) => {
    const signature = incoming.headers["payment-signature"];
    const headers = signature === undefined ? {} : { "payment-signature": String(signature) };
    const response = await fetch(`${upstream}${incoming.url}`, { headers });
    const told: Told = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
    for (const name of ["content-encoding", "content-length", "transfer-encoding", "connection"]) {
      delete told.headers[name];
    }
    if (signature !== undefined && (await proxy.lie(told)) === null) return incoming.socket.destroy();
    outgoing.writeHead(told.status, told.headers).end(told.body);
  });
  const honest: Lie = () => undefined;
  const proxy = { url: server.url, lie: honest, honest, stop: server.stop };
  return proxy;
}

/** Changes the object in a header. */
export function edit(
  told: Told,
  name: "payment-response" | "payment-required",
  change: (value: Fields) => unknown,
): undefined {
  const header = told.headers[name];
  const value = header === undefined ? {} : (JSON.parse(Buffer.from(header, "base64").toString()) as Fields);
  change(value);
  told.headers[name] = Buffer.from(JSON.stringify(value)).toString("base64");
}

/** Turns a response into the 402 of a service that says another sum. */
export function demand(told: Told, extra: Fields, accepted: Fields): undefined {
  told.status = 402;
  delete told.headers["payment-response"];
  told.headers["x-error-code"] = "PAYMENT_REQUIRED";
  const error = "invalid_batch_settlement_evm_cumulative_amount_mismatch";
  const offer = { ...accepted, extra: { ...(accepted.extra as Fields), ...extra } };
  const required = { x402Version: 2, error, accepts: [offer] };
  told.headers["payment-required"] = Buffer.from(JSON.stringify(required)).toString("base64");
  told.body = JSON.stringify({ error });
}
