// Bytes on a bare connection, for what no client would send.
import { connect } from "node:net";

/** Sends them as they are and gives back everything the server says until it closes or falls silent. */
export function sendBytes(url: string, bytes: string, silenceMs = 300): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    // The server may close while a flood is still being sent; what it said before is what counts.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
  });
}
