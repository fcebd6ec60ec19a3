// The values of one column in a row group. Text is kept as the bytes that the file gets: strings take several times as much.
import type { ExportRow, ValueType } from "./export-table.ts";

type Value = ExportRow[number];

const NUMBER_BYTES = 8;
const FIRST_BYTES = 16 * 1024;
// A buffer that one row group has made larger is not kept for the next one, in which another column may grow.
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

const NUMBERS: ReadonlySet<ValueType> = new Set(["boolean", "int32", "int64", "timestamp"]);

export class ColumnBuffer {
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
