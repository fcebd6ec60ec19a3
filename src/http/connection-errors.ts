// What never became a request: answered on the bare connection, in the same form as every other fault.
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Fault } from "../lib/fault.ts";
import { DEFAULT_HEADERS } from "./security/headers.ts";

export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // A client that has gone away hears nothing.
  if (error.code === "ECONNRESET") socket.destroy();
  else writeConnectionError(faultOf(error), socket);
}

/** Responds on the bare connection and closes it. */
export function writeConnectionError(
  fault: Fault,
  socket: Socket,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.writable) socket.write(written(fault, headers));
  socket.destroy();
}

function faultOf(error: NodeJS.ErrnoException): Fault {
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new Fault("HEADERS_TOO_LARGE", "The address and headers are larger than allowed.", {
      cause: error,
    });
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Fault("REQUEST_TOO_SLOW", "The request did not arrive within its time limit.", {
      cause: error,
    });
  }
  return new Fault("INPUT_INVALID", "The request is malformed.", { cause: error });
}

function written(fault: Fault, more: Readonly<Record<string, string>>): string {
  const body = JSON.stringify({ error: fault.message });
  const headers = {
    ...more,
    ...DEFAULT_HEADERS,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "x-error-code": fault.code,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join("")}\r\n${body}`;
}
