// An address that stays while the process behind it comes and goes, as a service name in production does.
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

export type Relay = { readonly url: string; close(): Promise<void> };

/** `target` is asked for each connection; an empty one refuses it. */
export async function startRelay(target: () => string): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const url = target();
    if (url === "") {
      near.destroy();
      return;
    }
    const far = createConnection(Number(new URL(url).port), "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      // A broken side is told to the other one by ending it.
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
