// Parsing DataRow messages, here and in the driver: `npx vitest bench --run src/store/fast/row-parser`.
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { bench, describe } from "vitest";
import { createRowParser } from "./row-parser.ts";

// The driver's own parser; pg has no types for it.
const { parse } = createRequire(import.meta.url)("pg-protocol") as {
  parse(stream: EventEmitter, onMessage: (message: { fields?: unknown }) => void): Promise<void>;
};

const ROWS = 1_000;
const COLUMNS = 20;

function dataRow(values: readonly string[]): Buffer {
  const parts = values.map((value) => {
    const bytes = Buffer.from(value);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  const header = Buffer.alloc(7);
  header.write("D");
  header.writeUInt32BE(6 + parts.reduce((sum, part) => sum + part.length, 0), 1);
  header.writeUInt16BE(values.length, 5);
  return Buffer.concat([header, ...parts]);
}

function rowsInChunks(value: (column: number) => string, chunkBytes: number): Buffer[] {
  const row = dataRow(Array.from({ length: COLUMNS }, (_, column) => value(column)));
  const bytes = Buffer.concat(Array.from({ length: ROWS }, () => row));
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return chunks;
}

const ascii = (column: number) => `0x${String(column).padStart(40, "0")}`;
const mostlyAscii = (column: number) => (column === 3 ? "Käse" : ascii(column));
const cases: Readonly<Record<string, readonly Buffer[]>> = {
  "ASCII, 64 KiB chunks": rowsInChunks(ascii, 64 * 1024),
  "ASCII, 1,400-byte packets": rowsInChunks(ascii, 1_400),
  "one non-ASCII value per row, 64 KiB chunks": rowsInChunks(mostlyAscii, 64 * 1024),
};

for (const [name, chunks] of Object.entries(cases)) {
  describe(`${ROWS} rows of ${COLUMNS} columns, ${name}`, () => {
    bench("createRowParser", () => {
      let rows = 0;
      const onData = createRowParser(
        () => undefined,
        () => {
          rows += 1;
        },
      );
      for (const chunk of chunks) onData(chunk);
      if (rows !== ROWS) throw new Error("rows are missing");
    });
    bench("pg-protocol", () => {
      let rows = 0;
      const stream = new EventEmitter();
      void parse(stream, () => {
        rows += 1;
      });
      for (const chunk of chunks) stream.emit("data", chunk);
      if (rows !== ROWS) throw new Error("rows are missing");
    });
  });
}
