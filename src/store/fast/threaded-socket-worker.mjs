// The thread behind a ThreadedSocket: sends what it finds in the ring, and passes on what the server says.
// Plain JavaScript, because a thread that loads TypeScript takes a second to start, and this one has to do so little.
import { createConnection } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

// Small enough that room is told of early, large enough that a message is nothing beside it.
const PIECE_BYTES_MAX = 256 * 1024;

const ring = new Uint8Array(workerData.ring);
const socket = createConnection(workerData.address);
let at = 0;

parentPort.on("message", ({ bytes, keepAliveMs, end }) => {
  if (bytes) send(bytes);
  if (keepAliveMs) socket.setKeepAlive(true, keepAliveMs);
  if (end) socket.end();
});

socket.setNoDelay(true);
socket.on("connect", () => parentPort.postMessage({ connected: true }));
socket.on("data", (data) => {
  // A copy of its own: the socket's buffer is larger than what was read, and would be sent whole.
  const read = new Uint8Array(data);
  parentPort.postMessage({ read }, [read.buffer]);
});
socket.on("end", () => parentPort.postMessage({ ended: true }));
socket.on("error", ({ message, code }) => parentPort.postMessage({ failed: { message, code } }));
// Without its port the thread has nothing left to wait for.
socket.on("close", () => {
  parentPort.postMessage({ closed: true });
  parentPort.close();
});

function send(bytes) {
  socket.cork();
  for (let left = bytes; left > 0; ) {
    const length = Math.min(left, PIECE_BYTES_MAX, ring.length - at);
    socket.write(ring.subarray(at, at + length), () => parentPort.postMessage({ sent: length }));
    at = (at + length) % ring.length;
    left -= length;
  }
  socket.uncork();
}
