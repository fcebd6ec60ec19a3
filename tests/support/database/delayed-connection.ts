// A TCP relay that delays every byte in both directions, like a database in another data centre.
import { createConnection, createServer, type Socket } from "node:net";

type DelayedConnection = { readonly port: number; close(): Promise<void> };

/** Adds `roundTripMs` to every round trip; the order stays the same. */
export async function openDelayedConnection(
  targetPort: number,
  roundTripMs: number,
): Promise<DelayedConnection> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(targetPort, "127.0.0.1");
    delay(near, far, roundTripMs / 2);
    delay(far, near, roundTripMs / 2);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.once("close", () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return {
    port: address.port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function delay(from: Socket, to: Socket, ms: number): void {
  const later = (act: () => void) => void setTimeout(act, ms);
  from.on("data", (chunk) => later(() => to.writable && to.write(chunk)));
  from.on("end", () => later(() => to.end()));
  // A broken half ends the other one.
  from.on("error", () => to.destroy());
  from.on("close", () => later(() => to.destroy()));
}
