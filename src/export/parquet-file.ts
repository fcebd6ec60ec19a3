// Writes one Parquet file row group by row group, with bounded memory, and hashes what it writes.
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { ExportColumn, ExportRow, ValueType } from "./export-table.ts";

type Value = ExportRow[number];

const NUMBER_BYTES = 8;
const FIRST_BYTES = 16 * 1024;
// A buffer that one row group has made larger is not kept for the next one, in which another column may grow.
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

const NUMBERS: ReadonlySet<ValueType> = new Set(["boolean", "int32", "int64", "timestamp"]);

class ColumnBuffer {
  readonly #isText: boolean;
  #numbers: Value[] = [];
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  /** The end of each row's text; null for a row without a value. */
  #ends: (number | null)[] = [];

  constructor(type: ValueType) {
    this.#isText = !NUMBERS.has(type);
  }

  /** Returns how many bytes it takes, which decides at which row a row group ends. */
  append(value: Value): number {
    if (!this.#isText) {
      this.#numbers.push(value);
      return NUMBER_BYTES;
    }
    if (value === null) {
      this.#ends.push(null);
      return NUMBER_BYTES;
    }
    const text = String(value);
    const size = Buffer.byteLength(text);
    if (this.#length + size > this.#bytes.length) this.#grow(this.#length + size);
    this.#bytes.write(text, this.#length);
    this.#length += size;
    this.#ends.push(this.#length);
    return size;
  }

  /** In the order in which they came. Views of the buffer: they hold until `clear`. */
  read(): unknown[] {
    if (!this.#isText) return this.#numbers;
    const { buffer, byteOffset } = this.#bytes;
    let start = 0;
    return this.#ends.map((end) => {
      if (end === null) return null;
      const view = new Uint8Array(buffer, byteOffset + start, end - start);
      start = end;
      return view;
    });
  }

  clear(): void {
    this.#numbers = [];
    this.#ends = [];
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, least));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

type WrittenFile = { readonly rows: number; readonly bytes: number; readonly sha256: string };

// Both bound the memory of an export, and depend on nothing but the rows, so that every installation cuts alike. Readers
// are slower with smaller row groups, each of which they open by itself.
const GROUP_ROWS_MAX = 50_000;
const GROUP_BYTES_MAX = 32 * 1024 * 1024;
// The file gets the first 16 bytes of a smallest or largest value; the writer recognizes by one more that it was longer.
const STATISTIC_BYTES = 17;
const CHUNK_BYTES = 1024 * 1024;

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

/**
 * The bytes that are not on disk yet, in chunks: one buffer that doubles would be copied, and be three times as large
 * meanwhile.
 */
class ChunkWriter extends ByteWriter {
  #full: Uint8Array[] = [];

  override ensure(size: number): void {
    if (this.index + size <= this.buffer.byteLength) return;
    this.#full.push(this.getBytes());
    this.buffer = new ArrayBuffer(Math.max(CHUNK_BYTES, size));
    this.view = new DataView(this.buffer);
    this.index = 0;
  }

  /** They hold until something is appended. */
  takeChunks(): readonly Uint8Array[] {
    const chunks = [...this.#full, this.getBytes()];
    this.#full = [];
    this.index = 0;
    return chunks;
  }
}

export class ParquetFile {
  readonly #handle: FileHandle;
  readonly #columns: readonly ExportColumn[];
  readonly #unwritten = new ChunkWriter();
  readonly #writer: ParquetWriter;
  readonly #hash: Hash = createHash("sha256");
  readonly #group: readonly ColumnBuffer[];
  #groupRows = 0;
  #groupBytes = 0;
  #rows = 0;

  private constructor(handle: FileHandle, columns: readonly ExportColumn[]) {
    this.#handle = handle;
    this.#columns = columns;
    this.#group = columns.map(({ type }) => new ColumnBuffer(type));
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
      writer: this.#unwritten,
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
    return { rows: this.#rows, bytes: this.#unwritten.offset, sha256: this.#hash.digest("hex") };
  }

  /** After a failure, which is the one to report. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }

  #addToGroup(row: ExportRow): void {
    for (const [index, column] of this.#group.entries())
      this.#groupBytes += column.append(row[index] ?? null);
    this.#groupRows += 1;
    this.#rows += 1;
  }

  async #writeGroup(): Promise<void> {
    // The writer reads `data` when it comes to the column, so that the values of one column at a time are objects.
    const columnData = this.#columns.map(({ name }, index) => {
      const buffer = this.#group[index];
      return {
        name,
        get data() {
          return buffer?.read() ?? [];
        },
      };
    });
    this.#writer.write({ columnData, rowGroupSize: this.#groupRows });
    this.#detachStatistics();
    for (const column of this.#group) column.clear();
    this.#groupRows = 0;
    this.#groupBytes = 0;
    await this.#flush();
  }

  /** The writer keeps the smallest and largest value of each column until the end: as views of buffers used again. */
  #detachStatistics(): void {
    for (const { meta_data } of this.#writer.row_groups.at(-1)?.columns ?? []) {
      const { statistics } = meta_data ?? {};
      if (!statistics) continue;
      const { min_value, max_value } = statistics;
      Object.assign(statistics, { min_value: detach(min_value), max_value: detach(max_value) });
    }
  }

  async #flush(): Promise<void> {
    for (const bytes of this.#unwritten.takeChunks()) {
      this.#hash.update(bytes);
      // One call may write only a part, for example when the disk is almost full.
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#handle.write(bytes, done);
        done += bytesWritten;
      }
    }
  }
}

function detach(value: unknown): unknown {
  return value instanceof Uint8Array ? value.slice(0, STATISTIC_BYTES) : value;
}
