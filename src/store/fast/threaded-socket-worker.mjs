// The thread behind a ThreadedSocket: connects, negotiates TLS, sends the bytes in the ring, forwards responses.
// Plain JavaScript: a thread that loads TypeScript takes a second to start.
import { createConnection, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";

// Small enough to free ring space early, large enough to make the cost per message negligible.
const CHUNK_BYTES_MAX = 256 * 1024;
// Length 8, then the code that PostgreSQL defines for SSLRequest.
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const { address, tls } = workerData;
const ring = new Uint8Array(workerData.ring);
const tcp = createConnection(address);
/** The TCP socket, or the TLS socket on top of it. */
let socket = tcp;
let position = 0;

parentPort.on("message", ({ bytes, keepAliveMs, end }) => {
  if (bytes) send(bytes);
  if (keepAliveMs) tcp.setKeepAlive(true, keepAliveMs);
  if (end) socket.end();
});

tcp.setNoDelay(true);
tcp.on("error", fail);
tcp.on("close", close);
tcp.once("connect", () => {
  if (!tls) use(tcp);
  else if (tls.negotiation === "direct") upgrade();
  else requestTls();
});

function requestTls() {
  tcp.write(SSL_REQUEST);
  // The driver's own words, which postgres/errors.ts knows.
  tcp.once("data", (response) => {
    if (response.toString("latin1") === "S") upgrade();
    else if (response.toString("latin1") === "N") abort("The server does not support SSL connections");
    else abort("There was an error establishing an SSL connection");
  });
}

function upgrade() {
  const { negotiation, skipIdentityCheck, ...options } = tls;
  const secure = connectTls({
    ...options,
    socket: tcp,
    host: address.host,
    // SNI must not be an IP address (RFC 6066, section 3).
    ...(address.host && isIP(address.host) === 0 ? { servername: address.host } : {}),
    ...(negotiation === "direct" ? { ALPNProtocols: ["postgresql"] } : {}),
    ...(skipIdentityCheck ? { checkServerIdentity: () => undefined } : {}),
  });
  // The TLS socket may still have data when the TCP socket closes.
  tcp.off("close", close);
  secure.on("close", close);
  secure.on("error", fail);
  secure.once("secureConnect", () => use(secure));
}

function use(connected) {
  socket = connected;
  socket.on("data", (data) => {
    // A copy of its own: the socket's buffer is larger than the data, and would be transferred whole.
    const read = new Uint8Array(data);
    parentPort.postMessage({ read }, [read.buffer]);
  });
  socket.on("end", () => parentPort.postMessage({ ended: true }));
  parentPort.postMessage({ connected: true });
}

function send(bytes) {
  socket.cork();
  for (let remaining = bytes; remaining > 0; ) {
    const length = Math.min(remaining, CHUNK_BYTES_MAX, ring.length - position);
    socket.write(ring.subarray(position, position + length), () => parentPort.postMessage({ sent: length }));
    position = (position + length) % ring.length;
    remaining -= length;
  }
  socket.uncork();
}

function abort(message) {
  fail({ message });
  tcp.destroy();
}

function fail({ message, code }) {
  parentPort.postMessage({ failed: { message, code } });
}

function close() {
  parentPort.postMessage({ closed: true });
  // Without its port the thread has nothing left to wait for, and ends.
  parentPort.close();
}
