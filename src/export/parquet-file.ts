// Writes one Parquet file row group by row group, with bounded memory, and hashes what it writes.
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { ExportColumn, ExportRow, ValueType } from "./export-table.ts";

type WrittenFile = { readonly rows: number; readonly bytes: number; readonly sha256: string };

// Both bound the memory of an export, and depend on nothing but the rows, so that every installation cuts alike.
const GROUP_ROWS_MAX = 50_000;
const GROUP_BYTES_MAX = 32 * 1024 * 1024;
const VALUE_BYTES = 8;

const utf8 = new TextEncoder();

const ELEMENTS: Readonly<Record<ValueType, Omit<SchemaElement, "name">>> = {
  boolean: { type: "BOOLEAN" },
  int32: { type: "INT32" },
  int64: { type: "INT64" },
  timestamp: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  decimal: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  hex: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
};

/** One row group in memory; `offset` counts all bytes of the file. */
class GroupBuffer extends ByteWriter {
  takeBytes(): Uint8Array {
    const bytes = this.getBytes();
    this.index = 0;
    return bytes;
  }
}

export class ParquetFile {
  readonly #handle: FileHandle;
  readonly #columns: readonly ExportColumn[];
  readonly #buffer = new GroupBuffer();
  readonly #writer: ParquetWriter;
  readonly #hash: Hash = createHash("sha256");
  #group: unknown[][];
  #groupRows = 0;
  #groupBytes = 0;
  #rows = 0;

  private constructor(handle: FileHandle, columns: readonly ExportColumn[]) {
    this.#handle = handle;
    this.#columns = columns;
    this.#group = columns.map(() => []);
    const elements = columns.map(
      ({ name, type, nullable }): SchemaElement => ({
        name,
        ...ELEMENTS[type],
        repetition_type: nullable ? "OPTIONAL" : "REQUIRED",
      }),
    );
    // Snappy in JavaScript, because the same bytes must come out of every machine: zlib compresses differently by
    // processor, and Node 20 has no Zstandard.
    this.#writer = new ParquetWriter({
      writer: this.#buffer,
      schema: [{ name: "schema", num_children: columns.length }, ...elements],
      codec: "SNAPPY",
    });
  }

  /** Replaces a file of that name. */
  static async create(path: string, columns: readonly ExportColumn[]): Promise<ParquetFile> {
    return new ParquetFile(await open(path, "w"), columns);
  }

  async append(rows: readonly ExportRow[]): Promise<void> {
    for (const row of rows) {
      this.#addToGroup(row);
      if (this.#groupRows >= GROUP_ROWS_MAX || this.#groupBytes >= GROUP_BYTES_MAX) await this.#writeGroup();
    }
  }

  /** Writes the rest; the file is on disk afterwards. */
  async finish(): Promise<WrittenFile> {
    if (this.#groupRows > 0) await this.#writeGroup();
    this.#writer.finish();
    await this.#flush();
    await this.#handle.sync();
    await this.#handle.close();
    return { rows: this.#rows, bytes: this.#buffer.offset, sha256: this.#hash.digest("hex") };
  }

  /** After a failure, which is the one to report. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }

  #addToGroup(row: ExportRow): void {
    for (const [index, { type }] of this.#columns.entries()) {
      const value = row[index] ?? null;
      this.#group[index]?.push(encodeValue(type, value));
      this.#groupBytes += typeof value === "string" ? value.length : VALUE_BYTES;
    }
    this.#groupRows += 1;
    this.#rows += 1;
  }

  async #writeGroup(): Promise<void> {
    const columnData = this.#columns.map(({ name }, index) => ({ name, data: this.#group[index] ?? [] }));
    this.#writer.write({ columnData, rowGroupSize: this.#groupRows });
    this.#group = this.#columns.map(() => []);
    this.#groupRows = 0;
    this.#groupBytes = 0;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = this.#buffer.takeBytes();
    this.#hash.update(bytes);
    // One call may write only a part, as where the disk is almost full.
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, done);
      done += bytesWritten;
    }
  }
}

// Text as bytes: the smallest and largest value of a column are compared as bytes by readers, and the order of
// JavaScript's strings differs from that of UTF-8.
function encodeValue(type: ValueType, value: ExportRow[number]): unknown {
  return typeof value === "string" && (type === "text" || type === "json") ? utf8.encode(value) : value;
}
