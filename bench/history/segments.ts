// Bytes appended piece by piece and read back as runs of pieces, outside of the JavaScript heap.

export type Segments = {
  readonly count: number;
  readonly bytes: number;
  append(text: string): void;
  /** The bytes of pieces `from` up to, but not including, `to`: one after another, without a copy. */
  run(from: number, to: number): Buffer[];
};

const CHUNK_BYTES = 16 * 1024 * 1024;

export function createSegments(): Segments {
  const chunks: Buffer[] = [];
  // The begin of each piece; the last entry is that of the next one.
  const starts: number[] = [0];
  let bytes = 0;
  return {
    get count() {
      return starts.length - 1;
    },
    get bytes() {
      return bytes;
    },
    append(text) {
      let rest = Buffer.from(text, "latin1");
      while (rest.length > 0) {
        const used = bytes % CHUNK_BYTES;
        if (used === 0) chunks.push(Buffer.allocUnsafe(CHUNK_BYTES));
        const copied = rest.copy(chunks.at(-1) as Buffer, used);
        rest = rest.subarray(copied);
        bytes += copied;
      }
      starts.push(bytes);
    },
    run(from, to) {
      const pieces: Buffer[] = [];
      const end = starts[to] ?? bytes;
      for (let at = starts[from] ?? end; at < end; ) {
        const chunk = chunks[Math.floor(at / CHUNK_BYTES)] as Buffer;
        const begin = at % CHUNK_BYTES;
        const piece = chunk.subarray(begin, Math.min(CHUNK_BYTES, begin + end - at));
        pieces.push(piece);
        at += piece.length;
      }
      return pieces;
    },
  };
}
