// Rows cut out of one text each as they come over the wire: the driver decodes every cell, which is most of a list's cost.
import { EventEmitter } from "node:events";
import type { Client } from "pg";

// What the driver's client has beyond its declared type.
type WiredClient = Client & {
  readonly connection: EventEmitter & { attachListeners(stream: EventEmitter): void };
};

/**
 * To be called before the client connects. What it hears is the same as before; should a later driver listen in another
 * way, reads are as slow as they were, and nothing else changes.
 */
export function installRowParser(client: Client): void {
  const { connection } = client as WiredClient;
  const listen = connection.attachListeners;
  connection.attachListeners = (stream) => {
    const others = new EventEmitter();
    listen.call(connection, others);
    const hear = createRowParser(
      (bytes) => others.emit("data", bytes),
      (cells) => connection.emit("dataRow", { fields: cells }),
    );
    stream.on("data", hear);
  };
}

export type RawRow = (string | null)[];

const DATA_ROW = "D".charCodeAt(0);
// One byte of kind, four of length, which counts itself.
const PREFIX_BYTES = 5;

/** Takes the bytes of a connection as they arrive; gives rows one by one, and everything between them untouched. */
export function createRowParser(
  onOthers: (bytes: Buffer) => void,
  onRow: (cells: RawRow) => void,
): (chunk: Buffer) => void {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let wantedBytes = PREFIX_BYTES;

  function read(bytes: Buffer, from: number): void {
    let at = from;
    let given = from;
    wantedBytes = PREFIX_BYTES;
    while (bytes.length - at >= PREFIX_BYTES) {
      const messageBytes = 1 + bytes.readUInt32BE(at + 1);
      if (bytes.length - at < messageBytes) {
        wantedBytes = messageBytes;
        break;
      }
      const end = at + messageBytes;
      if (bytes[at] === DATA_ROW) {
        if (at > given) onOthers(bytes.subarray(given, at));
        onRow(cellsOf(bytes, at + PREFIX_BYTES, end));
        given = end;
      }
      at = end;
    }
    if (at > given) onOthers(bytes.subarray(given, at));
    begun = at < bytes.length ? [bytes.subarray(at)] : [];
    begunBytes = bytes.length - at;
  }

  return (chunk) => {
    let at = 0;
    // Only what an earlier piece began is put together, and only once it is whole: copies are what this is to save.
    while (begunBytes > 0 && at < chunk.length) {
      const part = chunk.subarray(at, at + wantedBytes - begunBytes);
      at += part.length;
      begun.push(part);
      begunBytes += part.length;
      if (begunBytes >= wantedBytes) read(Buffer.concat(begun), 0);
    }
    if (at < chunk.length) read(chunk, at);
  };
}

function cellsOf(bytes: Buffer, start: number, end: number): RawRow {
  // One character for each byte, so that places in the one are places in the other.
  const text = bytes.toString("latin1", start, end);
  const count = bytes.readUInt16BE(start);
  const cells: RawRow = new Array(count);
  let at = start + 2;
  let high = highBytes(count);
  for (let index = 0; index < count; index += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    high += highBytes(length);
    if (length < 0) {
      cells[index] = null;
      continue;
    }
    cells[index] = text.slice(at - start, at - start + length);
    at += length;
  }
  // In UTF-8 each such character would take one byte more: are there others than in the lengths, some cell is not ASCII.
  return Buffer.byteLength(text) - text.length === high ? cells : decodedCellsOf(bytes, start);
}

function decodedCellsOf(bytes: Buffer, start: number): RawRow {
  let at = start + 2;
  return Array.from({ length: bytes.readUInt16BE(start) }, () => {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return bytes.toString("utf8", at - length, at);
  });
}

/** How many of the four bytes of a number are above 127. */
function highBytes(number: number): number {
  return ((number >>> 7) & 1) + ((number >>> 15) & 1) + ((number >>> 23) & 1) + (number >>> 31);
}
